"""Puts a new text together of bytes copied from the old one and of new bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, Union

from ..grammar import terminal
from ..reading import comments_in, leaves_comment_open
from ..source import Span

Piece: TypeAlias = Union[Span, str]
"""A part of a rewritten text: bytes copied from the old text, or new ones."""


def text_of(pieces: Iterable[Piece], old: str) -> str:
    """The text that pieces of an old text make."""
    return "".join(piece if isinstance(piece, str) else old[slice(*piece)] for piece in pieces)


class Writer:
    """Puts a text together of pieces.

    It owns the two lexical guards: a blank between two symbols that were not neighbours before,
    and a line break after a comment that lost its own.
    """

    def __init__(self, old: str, line_break: str) -> None:
        self.old = old
        self.line_break = line_break
        self.pieces: list[Piece] = []
        self._last = ""
        self._comment_is_open = False

    def copy(self, start: int, end: int) -> None:
        """Write the old bytes from ``start`` to ``end``, which begin and end with a token."""
        if start < end:
            if not self._goes_on_at(start):
                self._guard(self.old[start])
            self._add_copy(start, end)
            self._comment_is_open = False

    def copy_trivia(self, start: int, end: int) -> None:
        """Write the old blanks and comments from ``start`` to ``end``."""
        if start < end:
            trivia = self.old[start:end]
            if not self._goes_on_at(start):
                self._guard_trivia(trivia)
            self._add_copy(start, end)
            self._note(trivia)

    def put(self, text: str) -> None:
        """Write new bytes that begin and end with a token; blanks may come before the first."""
        if text:
            self._guard(text[0])
            self.pieces.append(text)
            self._last = text[-1]
            self._comment_is_open = False

    def put_trivia(self, trivia: str) -> None:
        """Write new blanks and comments."""
        if trivia:
            self._guard_trivia(trivia)
            self.pieces.append(trivia)
            self._last = trivia[-1]
            self._note(trivia)

    def append(self, other: Writer) -> None:
        """Write what another writer wrote of the same old text; it begins and ends with a token."""
        if other.pieces:
            first = other.pieces[0]
            self._guard(first[0] if isinstance(first, str) else self.old[first.start])
            self.pieces.extend(other.pieces)
            self._last = other._last

    def _goes_on_at(self, start: int) -> bool:
        last = self.pieces[-1] if self.pieces else None
        return isinstance(last, Span) and last.end == start

    def _add_copy(self, start: int, end: int) -> None:
        last = self.pieces[-1] if self.pieces else None
        if isinstance(last, Span) and last.end == start:
            self.pieces[-1] = Span(last.start, end)
        else:
            self.pieces.append(Span(start, end))
        self._last = self.old[end - 1]

    def _note(self, trivia: str) -> None:
        open_before = self._comment_is_open and "\n" not in trivia
        self._comment_is_open = open_before or leaves_comment_open(trivia)

    def _guard(self, first: str) -> None:
        if self._comment_is_open:
            if first not in "\r\n":
                self.pieces.append(self.line_break)
                self._comment_is_open = False
        elif self._last and _is_one_symbol(self._last, first):
            self.pieces.append(" ")

    def _guard_trivia(self, trivia: str) -> None:
        if self._comment_is_open:
            first = next(comments_in(trivia), None)
            if "\n" not in trivia[: first.start if first else None]:
                self.pieces.append(self.line_break)
                self._comment_is_open = False


def _is_one_symbol(last: str, first: str) -> bool:
    """Whether a symbol that ends with one character goes on with another, which begins a token."""
    is_mark = first in ".-"  # an arrow or dots; a symbol begins with neither
    return not is_mark and terminal("SYMBOL").fullmatch(f"_{last}{first}") is not None
