"""Places as editors count them: lines and columns from 0, columns in units of an encoding."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

from lsprotocol.types import Position, PositionEncodingKind, Range

from gram import Span

_LINE_ENDS = re.compile(r"\r\n|\n|\r")

_UNITS: dict[str, Callable[[str], int]] = {
    PositionEncodingKind.Utf8: lambda text: len(text.encode("utf-8", "surrogatepass")),
    PositionEncodingKind.Utf16: lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
    PositionEncodingKind.Utf32: len,
}


class Positions:
    """Turns offsets of a text into an editor's positions, and back.

    Args:
        text: the text.
        encoding: what the editor and the server have agreed to count columns in.
    """

    def __init__(self, text: str, encoding: str = PositionEncodingKind.Utf16) -> None:
        self.text = text
        self._units = len if text.isascii() else _UNITS[encoding]
        self._starts = [0, *(found.end() for found in _LINE_ENDS.finditer(text))]

    def position(self, offset: int) -> Position:
        """The position of an offset."""
        line = bisect_right(self._starts, offset) - 1
        return Position(line, self._units(self.text[self._starts[line] : offset]))

    def range(self, span: Span) -> Range:
        """The range of a span."""
        return Range(self.position(span.start), self.position(span.end))

    def offset(self, position: Position) -> int:
        """The offset of a position; of one behind the end of its line, that end."""
        if position.line >= len(self._starts):
            return len(self.text)
        start = self._starts[position.line]
        ends = (*self._starts[position.line + 1 :][:1], len(self.text))
        line = self.text[start : ends[0]].rstrip("\r\n")
        at = min(position.character, len(line))
        while self._units(line[:at]) > position.character:
            at -= 1
        return start + at

    def span(self, range_: Range) -> Span:
        """The span of a range."""
        return Span(self.offset(range_.start), self.offset(range_.end))
