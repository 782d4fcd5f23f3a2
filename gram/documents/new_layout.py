"""The layout of what an edit has put into a text: as ``gram fmt`` has it, and no other changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from ..reading import Construct, Item, line_break, syntax
from ..trees import TreePath
from .document import Document, parse
from .formatting import WIDTH, Formatter
from .layout import INDENT

_BLANKS: Final = " \t"


def format_changes(document: Document) -> str:
    """The text of an edited document, where new patterns that are too long have more lines.

    Every pattern that `Document.replace` put in, and that does not fit on its line, is written as
    `format_text` would write it there. No other byte differs from ``document.text``, but for blanks
    before such a pattern.

    Args:
        document: what `Document.replace` gave; the text of any other stays as it is.

    >>> from gram import Pattern, loads_one, parse
    >>> document = parse("[a |   x ]")
    >>> (old,) = document.patterns
    >>> new = loads_one(f"[tool {{text: '{'x' * 75}'}} | (a)-->(b)]")
    >>> print(format_changes(document.replace([Pattern(old.value, (*old.elements, new))])))
    [a |   x,
      [tool {text: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'} |
        (a)-->(b)] ]
    """
    text = document.text
    added = [each.path for each in document.changed_since() if each.old is None]
    if not added:
        return text
    read = parse(text, document.filename)
    written: list[str] = []
    end = 0
    for _, paths in groupby(enumerate(added), lambda each: (each[1][:-1], each[1][-1] - each[0])):
        for piece in _pieces(text, read.items, [path for _, path in paths]):
            written += text[end : piece.start], piece.text
            end = piece.end
    new = "".join([*written, text[end:]])
    return new if parse(new).patterns == read.patterns else text


class _Piece(NamedTuple):
    """What is between two offsets of a text, as it is written anew."""

    start: int
    end: int
    text: str


def _pieces(text: str, items: Sequence[Item], paths: Sequence[TreePath]) -> Iterator[_Piece]:
    """New patterns beside each other, each with the blanks before it where it begins a line."""
    breaks = line_break(text)
    around: Construct | None = None
    beside: Sequence[Construct] = items
    for index in paths[0][:-1]:
        around = beside[index]
        beside = around.elements
        if not isinstance(around, syntax.Bracket):
            return  # a path is not broken here
    new = beside[paths[0][-1] : paths[-1][-1] + 1]
    if all(_fits(text, each) for each in new):
        return
    outside = _indent(text, around.start) if around else 0
    for each in new:
        before = len(text[: each.start].rstrip(_BLANKS))
        if before == 0 or text[before - 1] == "\n":
            start, indent, lead = each.start, each.start - before, ""
        else:
            indent = outside + INDENT if around else 0
            start, lead = before, breaks + " " * indent
        laid_out = text[each.start : each.end]
        if not isinstance(each, syntax.Reference):
            laid_out = Formatter(parse(laid_out), indent, breaks).formatted().strip()
        yield _Piece(start, each.end, lead + laid_out)
    is_all = around is not None and len(new) == len(around.elements)
    if is_all and text.startswith("]", new[-1].end) and (len(new) > 1 or "\n" in laid_out):
        yield _Piece(new[-1].end, new[-1].end, breaks + " " * outside)


def _indent(text: str, offset: int) -> int:
    """The indentation of the line that an offset is on."""
    start = text.rfind("\n", 0, offset) + 1
    return len(text[start:]) - len(text[start:].lstrip(_BLANKS))


def _fits(text: str, construct: Construct) -> bool:
    """Whether a construct is on one line, and that is not too long."""
    start = text.rfind("\n", 0, construct.start) + 1
    line = text[start : construct.end]
    return "\n" not in line and len(line) <= WIDTH
