"""A source text and its places: offsets, lines, columns.

Offsets count code points from 0. Lines and columns count from 1, columns in code points.
A line ends at ``\\n`` (a ``\\r`` before it belongs to the line break); a leading byte order
mark takes no column.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from typing import NamedTuple

BOM = "\ufeff"


class Span(NamedTuple):
    """A half-open range of offsets, ``text[start:end]``."""

    start: int
    end: int


class Source:
    """A text with the name it was read under.

    Line starts are found once, when a position is first asked for.
    """

    __slots__ = ("__weakref__", "_line_starts", "filename", "text")

    def __init__(self, text: str, filename: str | None = None) -> None:
        self.text = text
        self.filename = filename
        self._line_starts: list[int] | None = None

    def position(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset, both from 1.

        >>> Source("a\\nbc").position(3)
        (2, 2)
        """
        starts = self._starts()
        lineno = bisect_right(starts, offset)
        return lineno, max(offset - starts[lineno - 1], 0) + 1

    def line(self, lineno: int) -> str:
        """The text of a line without its line break."""
        starts = self._starts()
        end = starts[lineno] - 1 if lineno < len(starts) else len(self.text)
        return self.text[starts[lineno - 1] : end].removesuffix("\r")

    def place(self, offset: int) -> str:
        """``file:line:col`` of an offset; ``line:col`` for a text without a name."""
        lineno, colno = self.position(offset)
        prefix = f"{self.filename}:" if self.filename is not None else ""
        return f"{prefix}{lineno}:{colno}"

    def excerpt(self, offset: int, width: int = 100) -> str:
        """The line of an offset over a caret, cut to about ``width`` columns around it."""
        lineno, colno = self.position(offset)
        line, at = self.line(lineno), colno - 1
        first = 0
        if len(line) > width:
            first = max(0, min(at - width // 2, len(line) - width))
        shown = line[first : first + width]
        head, tail = "…" if first else "", "…" if first + width < len(line) else ""
        blanks = "".join(map(_blank, head + shown[: at - first]))
        return f"  {head}{_printable(shown)}{tail}\n  {blanks}^"

    def _starts(self) -> list[int]:
        if self._line_starts is None:
            first = 1 if self.text.startswith(BOM) else 0
            starts, at = [first], self.text.find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = self.text.find("\n", at + 1)
            self._line_starts = starts
        return self._line_starts


def _blank(char: str) -> str:
    """A blank as wide as ``char``, so that a caret below a line stands under its column."""
    if char == "\t":
        return char
    if unicodedata.combining(char):
        return ""
    return "\u3000" if unicodedata.east_asian_width(char) in "WF" else " "


def _printable(text: str) -> str:
    """``text`` with control characters shown as one visible character each."""
    return "".join(c if c == "\t" or c.isprintable() else "\ufffd" for c in text)
