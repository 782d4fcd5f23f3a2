"""The errors of the notation."""

from __future__ import annotations

from collections.abc import Iterable

from .arguments import (
    ArgumentError as ArgumentError,
    GramError as GramError,
    expect as expect,
    expect_all as expect_all,
    name_of as name_of,
)
from .source import Source, Span

MAX_LEVELS = 100
"""How deep a tree may nest: an atom is level 1, each element below it adds 1, and so does each
array or map inside a value. The limit keeps equality, hashing, repr and pickling safe."""


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
        self.msg = msg
        self.doc = doc
        self.pos = pos
        self.filename = filename
        self.expected = tuple(expected)
        self.hint = hint
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


class GramEncodeError(GramError, TypeError):
    """A value has no notation.

    Attributes:
        msg: what is wrong, without the path.
        path: where in the tree, such as ``properties.k[2]``; empty for the root.
    """

    def __init__(self, msg: str, path: str = "") -> None:
        super().__init__(msg, path)
        self.msg = msg
        self.path = path

    def _text(self) -> str:
        return f"{self.path}: {self.msg}" if self.path else self.msg


class TooDeepError(GramEncodeError):
    """A tree nests deeper than 100 levels."""

    def __init__(self, path: str = "") -> None:
        super().__init__(f"nests deeper than {MAX_LEVELS} levels", path)

    def __reduce__(self) -> tuple[object, ...]:
        return TooDeepError, (self.path,)


class NoPatternError(GramError, LookupError):
    """No pattern is at the path or the span, or has the name, that a function was given."""
