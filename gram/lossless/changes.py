"""Where a rewritten text differs from the one it was made from."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from ..source import Span
from .alignment import longest_increasing
from .pieces import Piece


@frozen
class Change:
    """One place where a rewritten text differs from the text it was rewritten from.

    Attributes:
        before: the offsets in the old text.
        after: the offsets in the new text.
        old: what stood there.
        new: what stands there.
    """

    before: Span
    after: Span
    old: str
    new: str


def changes_of(pieces: Iterable[Piece], old: str) -> tuple[Change, ...]:
    """Where the text that pieces make differs from the old text, in order.

    Old bytes that were copied out of their order count as new ones at their new place.
    """
    edits: list[Change] = []
    new, before, after = "", 0, 0  # what was written since old and new text were last the same
    for piece in [*_with_moves_as_text(list(pieces), old), Span(len(old), len(old))]:
        if isinstance(piece, str):
            new += piece
            continue
        if new != old[before : piece.start]:
            replaced = Span(before, piece.start), Span(after, after + len(new))
            edits.append(Change(*replaced, old[before : piece.start], new))
        after += len(new) + piece.end - piece.start
        new, before = "", piece.end
    return tuple(edits)


def _with_moves_as_text(pieces: list[Piece], old: str) -> list[Piece]:
    copies = [index for index, piece in enumerate(pieces) if isinstance(piece, Span)]
    staying = longest_increasing([span.start for span in pieces if isinstance(span, Span)])
    in_order = {copies[index] for index in staying}
    end = 0
    told: list[Piece] = []
    for index, piece in enumerate(pieces):
        if isinstance(piece, str):
            told.append(piece)
        elif index in in_order and piece.start >= end:
            told.append(piece)
            end = piece.end
        else:
            told.append(old[piece.start : piece.end])
    return told
