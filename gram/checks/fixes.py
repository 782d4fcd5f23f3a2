"""Applying the fixes of faults to a text."""

from __future__ import annotations

from collections.abc import Iterable

from ..diagnostics import Diagnostic, Edit
from ..documents import Document
from ..errors import expect, expect_all


def apply_fixes(document: Document | str, faults: Iterable[Diagnostic]) -> str:
    """The text of a document after the fixes of these faults.

    Those of the checks of the notation keep its trees.

    Faults without a fix are left. Where two fixes overlap, the one that begins first is applied:
    check the result again to find the other.

    Args:
        document: the document; a text that is not gram, for the faults of `syntax_fault`.
        faults: what was found in it; faults of other texts are left.

    >>> from gram import check, parse
    >>> document = parse("(a {k: 1, j: 2, k: 3})")
    >>> apply_fixes(document, check(document))
    '(a {j: 2, k: 3})'
    """
    expect(document, (Document, str), "document", by="apply_fixes")
    text = document if isinstance(document, str) else document.text

    def is_about_it(fault: Diagnostic) -> bool:
        if isinstance(document, Document):
            return fault.source is document.source
        return fault.source is not None and fault.source.text == text

    fixes = [
        fault.fix
        for fault in expect_all(faults, Diagnostic, "faults", by="apply_fixes")
        if fault.fix and is_about_it(fault)
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
        parts += [text[end : edit.span.start], edit.text]
        end = edit.span.end
    return "".join(parts) + text[end:]
