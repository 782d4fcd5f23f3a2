"""The layout of what an edit has put into a text: as ``gram fmt`` has it, and no other changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ..errors import expect
from ..reading import Construct, Item, line_break, syntax
from ..source import Span
from .document import Document, parse
from .formatting import WIDTH, Formatter
from .layout import INDENT

_BLANKS: Final = " \t"


def format_changes(document: Document) -> str:
    """The text of an edited document, where new patterns that are too long have more lines.

    Every pattern that `Document.replace` put in, and that does not fit on its line, is written as
    `format_text` would write it there. No other byte differs from ``document.text``.

    Args:
        document: what `Document.replace` gave; the text of any other stays as it is.

    >>> from gram import Pattern, loads_one, parse
    >>> document = parse("[a |   x ]")
    >>> (old,) = document.patterns
    >>> new = loads_one(f"[tool {{text: '{'x' * 75}'}} | (a)-->(b)]")
    >>> print(format_changes(document.replace([Pattern(old.value, (*old.elements, new))])))
    [a |   x,
      [tool {text: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"} |
        (a)-->(b)] ]
    """
    expect(document, Document, "document", by="format_changes")
    text = document.text
    places = [each.after for each in document.changes if _may_be_too_long(text, each.after)]
    if not places:
        return text
    read = parse(text, document.filename)
    written: list[str] = []
    end = 0
    for place in places:
        for piece in _pieces(text, place, read.items):
            written += text[end : piece.start], piece.text
            end = piece.end
    new = "".join([*written, text[end:]])
    return new if parse(new).patterns == read.patterns else text


class _Piece(NamedTuple):
    """What is between two offsets of a text, as it is written anew."""

    start: int
    end: int
    text: str


class _New(NamedTuple):
    """New patterns, one after the other, and the one in brackets that they are elements of."""

    around: syntax.Bracket | None
    patterns: list[Construct]


def _may_be_too_long(text: str, place: Span) -> bool:
    """Whether there may be a pattern at a place that does not fit on its line."""
    start = text.rfind("\n", 0, place.start) + 1
    lines = text[start : place.end].split("\n")
    return len(lines) > 2 or any(len(line) > WIDTH for line in lines)


def _pieces(text: str, place: Span, items: Sequence[Item]) -> Iterator[_Piece]:
    """The new patterns at a place, each with the blanks before it where it begins a line."""
    breaks = line_break(text)
    for around, new in _new_patterns(place, None, items):
        if all(_fits(text, each) for each in new):
            continue
        outside = _indent(text, around.start) if around else 0
        for each in new:
            before = len(text[: each.start].rstrip(_BLANKS))
            if before == 0 or text[before - 1] == "\n":
                start, indent, lead = each.start, each.start - before, ""
            else:
                indent = outside + INDENT if around else 0
                start, lead = max(before, place.start), breaks + " " * indent
            laid_out = text[each.start : each.end]
            if not isinstance(each, syntax.Reference):
                laid_out = Formatter(parse(laid_out), indent, breaks).formatted().strip()
            yield _Piece(start, each.end, lead + laid_out)
        is_all = around is not None and place.start <= around.elements[0].start
        if is_all and new[-1].end == place.end and (len(new) > 1 or "\n" in laid_out):
            yield _Piece(place.end, place.end, breaks + " " * outside)


def _new_patterns(
    place: Span, around: syntax.Bracket | None, constructs: Sequence[Construct | Item]
) -> Iterator[_New]:
    """The outermost new patterns at a place."""
    found = [each for each in constructs if isinstance(each, Construct)]
    new = [each for each in found if place.start <= each.start and each.end <= place.end]
    if new:
        yield _New(around, new)
        return
    for each in found:
        if isinstance(each, syntax.Bracket) and each.start < place.end and place.start < each.end:
            yield from _new_patterns(place, each, each.elements)


def _indent(text: str, offset: int) -> int:
    """The indentation of the line that an offset is on."""
    start = text.rfind("\n", 0, offset) + 1
    return len(text[start:]) - len(text[start:].lstrip(_BLANKS))


def _fits(text: str, construct: Construct) -> bool:
    """Whether a construct is on one line, and that is not too long."""
    start = text.rfind("\n", 0, construct.start) + 1
    line = text[start : construct.end]
    return "\n" not in line and len(line) <= WIDTH
