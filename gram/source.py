"""A source text and its places, offsets, lines, columns; the error of one that is not gram.

Offsets count code points from 0. Lines and columns count from 1, columns in code points.
A line ends at ``\\n`` (a ``\\r`` before it belongs to the line break); a leading byte order
mark takes no column.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Any, NamedTuple

from .errors import GramError, expect

BOM = "\ufeff"


_CARETS = {"": "", "\u3000": "^^"}
"""What is below a character by the blank that is as wide; one caret for all others."""


class Span(NamedTuple):
    """A half-open range of offsets, ``text[start:end]``."""

    start: int
    end: int


class Source:
    """A text with the name it was read under.

    Attributes:
        text: the text.
        filename: its name, or None.
        repeats: where entries or annotations begin that give a key again, in order. Trees keep
            only the last value, so reading notes the places here.
        spans: the places of the parts of patterns that were asked for, by where a pattern is.
    """

    __slots__ = ("__weakref__", "filename", "repeats", "spans", "text")

    def __init__(self, text: str, filename: str | None = None) -> None:
        expect(text, str, "text", by="Source")
        expect(filename, (str, type(None)), "filename", by="Source")
        self.text = text
        self.filename = filename
        self.repeats: list[int] = []
        self.spans: dict[Span, Any] = {}

    def position(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset, both from 1.

        >>> Source("a\\nbc").position(3)
        (2, 2)
        """
        expect(offset, int, "offset", by="position")
        lineno = self.text.count("\n", 0, offset) + 1
        return lineno, max(offset - self._line_start(offset), 0) + 1

    def line_and_column(self, offset: int) -> str:
        """``line:col`` of an offset, for a message that is about this text anyway."""
        return "{}:{}".format(*self.position(offset))

    def line_at(self, offset: int) -> str:
        """The line that holds an offset, without its line break."""
        expect(offset, int, "offset", by="line_at")
        end = self.text.find("\n", offset)
        line = self.text[self._line_start(offset) : end if end >= 0 else len(self.text)]
        return line.removesuffix("\r")

    def place(self, offset: int) -> str:
        """``file:line:col`` of an offset; ``line:col`` for a text without a name."""
        prefix = f"{self.filename}:" if self.filename is not None else ""
        return prefix + self.line_and_column(offset)

    def excerpt(self, offset: int, end: int | None = None, *, width: int = 100) -> str:
        """The line of an offset over a caret, cut to about ``width`` columns around it.

        Args:
            offset: where the caret is.
            end: where the underlined part ends; on a later line, the rest of this one is.
            width: how much of the line is shown.

        >>> print(Source("(ann {age: old})").excerpt(11, 14))
          (ann {age: old})
                     ^^^
        """
        expect(end, (int, type(None)), "end", by="excerpt")
        expect(width, int, "width", by="excerpt")
        line, at = self.line_at(offset), self.position(offset)[1] - 1
        first = 0
        if len(line) > width:
            first = max(0, min(at - width // 2, len(line) - width))
        shown = line[first : first + width]
        head, tail = "…" if first else "", "…" if first + width < len(line) else ""
        blanks = "".join(map(_blank, head + shown[: at - first]))
        underlined = shown[at - first :][: (end or offset) - offset].rstrip()
        carets = "".join(_CARETS.get(_blank(char), "^") for char in underlined)
        visible = "".join(c if c == "\t" or c.isprintable() else "\ufffd" for c in shown)
        return f"  {head}{visible}{tail}\n  {blanks}{carets or '^'}"

    def _line_start(self, offset: int) -> int:
        start = self.text.rfind("\n", 0, offset) + 1
        return 1 if start == 0 and self.text.startswith(BOM) else start


def _blank(char: str) -> str:
    """A blank as wide as ``char``, so that a caret below a line is under its column."""
    if char == "\t":
        return char
    if unicodedata.combining(char):
        return ""
    return "\u3000" if unicodedata.east_asian_width(char) in "WF" else " "


class GramDecodeError(GramError, ValueError):
    """A text is not gram, or JSON is not the canonical form.

    Attributes:
        msg: what is wrong, without the place.
        doc: the text that was read.
        pos: the offset of the fault in ``doc``.
        lineno, colno: its line and column, from 1.
        filename: the name of the text, or None.
        expected: what the text could have there instead, in the words of the language.
        hint: how to mend it, or None.
        unwanted: the comma before a closing bracket that mends the text when it is left out, or
            None.
    """

    def __init__(
        self,
        msg: str,
        doc: str = "",
        pos: int = 0,
        *,
        filename: str | None = None,
        expected: Iterable[str] = (),
        hint: str | None = None,
    ) -> None:
        super().__init__(msg)
        self.msg, self.doc, self.pos = msg, doc, pos
        self.filename, self.expected, self.hint = filename, tuple(expected), hint
        self.unwanted: Span | None = None
        self.lineno, self.colno = Source(doc).position(pos)

    def _text(self) -> str:
        source = Source(self.doc, self.filename)
        place = source.place(self.pos) if self.doc else self.filename
        text = f"{place}: {self.msg}" if place else self.msg
        if self.doc:
            text += f"\n{source.excerpt(self.pos)}"
        return text + (f"\nhint: {self.hint}" if self.hint else "")

    def __reduce__(self) -> tuple[object, ...]:
        return GramDecodeError, (self.msg, self.doc, self.pos), self.__dict__
