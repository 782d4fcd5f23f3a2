"""Rewrites the text of a document so that it says other trees: the top level.

Only a window around the changes is looked at; what stands before and after it is copied whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from attrs import frozen

from .. import syntax
from ..errors import GramDecodeError
from ..parser import parse_items
from ..pattern import Pattern
from ..serializer import Style, is_header, write_pattern, write_record
from ..source import Source, Span
from ..spans import span_of
from ..trivia import line_break, text_start
from .alignment import PATTERNS, align, common_ends
from .comma_list import CellList, Place, bare_list
from .donors import Donors
from .pieces import Piece, text_of
from .rewrite import Rewriter, Role, can_stand
from .writer import Writer


@frozen
class Replacement:
    """A rewritten text.

    Attributes:
        pieces: what it is made of.
        rescued: the indices of the patterns whose rewritten text did not read back as them, so
            that they were written canonically. There should never be one.
    """

    pieces: tuple[Piece, ...]
    rescued: tuple[int, ...]


def replace(
    text: str, items: Sequence[syntax.Item], trees: Sequence[Pattern], style: Style | None
) -> Replacement:
    """Rewrite a text so that it says ``trees``.

    Args:
        text: the source.
        items: its top-level constructs.
        trees: what it shall say.
        style: the spelling of what is new.
    """
    return _Replacing(text, items, trees, style).run()


class _Replacing:
    def __init__(
        self, text: str, items: Sequence[syntax.Item], trees: Sequence[Pattern], style: Style | None
    ) -> None:
        self.text, self.style = text, style
        self.writer = Writer(text, line_break(text))
        self.rescued: list[int] = []
        same_before, same_after = common_ends([item.pattern for item in items], trees)
        # The neighbours of what changed stand in the window too: one may come to stand first.
        self.first = max(same_before - 1, 0)
        after = max(same_after - 1, 0)
        self.window = items[self.first : len(items) - after]
        self.wanted = trees[self.first : len(trees) - after]
        self.start = items[self.first - 1].end if self.first else text_start(text)
        self.end = items[len(items) - after].start if after else len(text)

    def run(self) -> Replacement:
        partners = align([item.pattern for item in self.window], self.wanted, PATTERNS)
        items = [None if index is None else self.window[index] for index in partners]
        unchanged = [self._stays(place, item) for place, item in enumerate(items)]
        kept = {index for index, stays in zip(partners, unchanged, strict=True) if stays}
        self.donors = Donors(item for index, item in enumerate(self.window) if index not in kept)
        joined = _joined(partners, unchanged)
        cores, cell_of = self._cores(joined)
        places: list[Place] = []
        for place, index in enumerate(partners):
            if index is None or not unchanged[place]:
                cell = None if index is None else cell_of[index]
                places.append((cell, partial(self._write_item, place, items[place])))
            elif index not in joined:
                cell = cell_of[index]
                places.append((cell, partial(self.writer.copy, *cores[cell])))
        self.writer.copy(0, self.start)
        self._cells(cores).write(self.writer, places)
        if not self.window and self.text.endswith("\n"):
            self.writer.put_gap(self.writer.line_break)
        self.writer.copy(self.end, len(self.text))
        return Replacement(tuple(self.writer.pieces), tuple(self.rescued))

    def _cores(self, joined: set[int]) -> tuple[list[Span], list[int]]:
        """The spans of items, joined ones as one, and for each item the index of its span."""
        cores: list[Span] = []
        cell_of: list[int] = []
        for index, item in enumerate(self.window):
            if index in joined:
                cores[-1] = Span(cores[-1].start, item.end)
            else:
                cores.append(span_of(item))
            cell_of.append(len(cores) - 1)
        return cores, cell_of

    def _cells(self, cores: Sequence[Span]) -> CellList:
        """The items of the window. All that stands before the first item of the file stays."""
        head = None
        if not self.first:
            head = cores[0].start if cores else self.end
        new_lead = self.writer.line_break
        return bare_list(self.text, self.start, cores, self.end, new_lead=new_lead, head=head)

    def _role(self, place: int) -> Role:
        return "first" if self.first + place == 0 else "top"

    def _stays(self, place: int, item: syntax.Item | None) -> bool:
        if item is None or not can_stand(item, self._role(place)):
            return False
        return item.pattern is self.wanted[place] or item.pattern == self.wanted[place]

    def _write_item(self, place: int, item: syntax.Item | None) -> None:
        """Write an item that changed or is new, and read it back."""
        tree, role = self.wanted[place], self._role(place)
        writer = Writer(self.text, self.writer.line_break)
        rewriter = Rewriter(writer, self.style, self.donors)
        if item is None:
            rewriter.write_new(tree, role)
        else:
            rewriter.rewrite(item, tree, role)
        if not _reads_as(text_of(writer.pieces, self.text), tree):
            self.rescued.append(self.first + place)
            writer = Writer(self.text, self.writer.line_break)
            writer.put(_canonical(tree, role, self.style))
        self.writer.append(writer)


def _joined(partners: Sequence[int | None], unchanged: Sequence[bool]) -> set[int]:
    """The items that follow the one before them as they did: they are copied together with it."""
    return {
        old
        for place, old in enumerate(partners)
        if place
        and old
        and unchanged[place]
        and unchanged[place - 1]
        and partners[place - 1] == old - 1
    }


def _reads_as(text: str, tree: Pattern) -> bool:
    try:
        items = parse_items(Source(text))
    except GramDecodeError:
        return False
    return len(items) == 1 and items[0].pattern == tree


def _canonical(tree: Pattern, role: Role, style: Style | None) -> str:
    if role == "first" and is_header(tree):
        return write_record(tree.value.properties)
    return write_pattern(tree, style=style)
