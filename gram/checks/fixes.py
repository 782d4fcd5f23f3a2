"""Applying the fixes of faults to a text."""

from __future__ import annotations

from collections.abc import Iterable

from ..documents import Document
from ..errors import expect
from ..reading import comments, has_comment, trivia_end
from ..source import Span
from .faults import Edit, Fault, faults_of


def apply_fixes(document: Document, faults: Iterable[Fault]) -> str:
    """The text of a document after the fixes of these faults; its trees stay the same.

    Faults without a fix are left. Where two fixes overlap, the one that begins first is applied:
    check the result again to find the other.

    >>> from gram import check, parse
    >>> document = parse("(a {k: 1, j: 2, k: 3})")
    >>> apply_fixes(document, check(document))
    '(a {j: 2, k: 3})'
    """
    expect(document, Document, "document", by="apply_fixes")
    fixes = [
        fault.fix
        for fault in faults_of(faults, "apply_fixes")
        if fault.fix and fault.source is document.source
    ]
    taken: list[Edit] = []
    end = 0
    for fix in sorted(fixes, key=lambda fix: (fix[0].span.start, -fix[-1].span.end)):
        if fix[0].span.start >= end:
            taken.extend(fix)
            end = fix[-1].span.end
    parts: list[str] = []
    end = 0
    for edit in taken:
        parts += [document.text[end : edit.span.start], edit.text]
        end = edit.span.end
    return "".join(parts) + document.text[end:]


def removal(text: str, part: Span) -> tuple[Edit, ...]:
    """The edit that removes a part and the blanks after it, or its lines when it is alone on them.

    A part that holds a comment is not removed: there is no edit.
    """
    start, end = part
    if comments(text, start, end):
        return ()
    while end < len(text) and text[end] in " \t":
        end += 1
    line = text.rfind("\n", 0, start) + 1
    for line_break in ("\n", "\r\n"):
        if text.startswith(line_break, end) and not text[line:start].strip(" \t"):
            return (Edit(Span(line, end + len(line_break))),)
    return (Edit(Span(start, end)),)


def removal_of_entry(text: str, entry: Span) -> tuple[Edit, ...]:
    """The edits that remove an entry and the comma after it."""
    if comments(text, entry.start, entry.end):
        return ()
    comma = trivia_end(text, entry.end)
    if has_comment(text[entry.end : comma]):
        return Edit(entry), Edit(Span(comma, comma + 1))
    return removal(text, Span(entry.start, comma + 1))
