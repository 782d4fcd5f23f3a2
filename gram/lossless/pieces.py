"""A rewritten text as it is kept: what it copies of the old text, and what is new."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, Union

from ..source import Span

Piece: TypeAlias = Union[Span, str]
"""A part of a rewritten text: bytes copied from the old text, or new ones."""


def text_of(pieces: Iterable[Piece], old: str) -> str:
    """The text that pieces of an old text make."""
    return "".join(
        piece if isinstance(piece, str) else old[piece.start : piece.end] for piece in pieces
    )
