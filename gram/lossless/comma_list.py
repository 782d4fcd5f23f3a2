"""A list in the text, and how to write it with elements added, removed or moved.

The list is cut into cells. The comments around an element belong to it: those on the lines above
and the one that follows on its line, before or after the comma. So they move and go with it. A
comment on the line of the opening bracket belongs to the bracket.

Records, arrays, maps and elements have commas between their cells; top-level patterns, labels
and annotations have nothing, and are lists all the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from attrs import frozen

from ..source import Span
from ..trivia import has_comment, last_line, same_line_comment, trivia_end, without_block_above
from .writer import Writer


@frozen
class Cell:
    """An element with what belongs to it.

    Attributes:
        lead: the trivia before it.
        core: the element.
        trail: the trivia between it and its comma.
        comma: whether a comma follows.
        post: the comment on its line, after the comma when there is one.
    """

    lead: Span
    core: Span
    trail: Span
    comma: bool
    post: Span


Place: TypeAlias = tuple["int | None", Callable[[], None]]
"""What stands at a place of the new list: the index of its old cell, and what writes the core."""


@frozen
class CellList:
    """The inside of a list.

    Attributes:
        text: the source.
        head: the comment that belongs to what opens the list.
        cells: the elements with what belongs to each.
        tail: the trivia after the last.
        commas: whether commas stand between the cells.
        new_lead: the blanks before a new element; None to follow the cells.
    """

    text: str
    head: Span
    cells: tuple[Cell, ...]
    tail: Span
    commas: bool = True
    new_lead: str | None = None

    def write(self, writer: Writer, places: Sequence[Place]) -> None:
        """Write the list with the cells and new elements that ``places`` names, in that order."""
        cut_off = self._cut_off({index for index, _ in places})
        writer.gap(*self.head)
        previous: int | None = -1
        for place, (index, write_core) in enumerate(places):
            if index is not None and index - 1 == previous and index not in cut_off:
                writer.gap(*self.cells[index].lead)
            else:
                self._write_lead(writer, place, index, cut_off)
            write_core()
            self._write_after(writer, index, last=place == len(places) - 1)
            previous = index
        for trivia in cut_off.get(None, ()):
            writer.put_gap(trivia)
        writer.gap(*self.tail)

    def comments_left_without(self) -> bool:
        """Whether a comment stays when all cells are removed."""
        cut_off = any(self._cut_off(set()).values())
        return cut_off or self._commented(self.head) or self._commented(self.tail)

    def _cut_off(self, staying: set[int | None]) -> dict[int | None, list[str]]:
        """The comments above removed cells that stay, by the next cell that stays."""
        found: dict[int | None, list[str]] = {}
        pending: list[str] = []
        for index, cell in enumerate(self.cells):
            if index not in staying:
                if rest := without_block_above(self.text[slice(*cell.lead)]):
                    pending.append(rest)
            elif pending:
                found[index], pending = pending, []
        if pending:
            found[None] = pending
        return found

    def _write_lead(
        self,
        writer: Writer,
        place: int,
        index: int | None,
        cut_off: dict[int | None, list[str]],
    ) -> None:
        """The trivia before an element that is new or has another neighbour on its left."""
        lead = self.cells[index].lead if index is not None else Span(0, 0)
        first = self.text[slice(*self.cells[0].lead)] if self.cells else ""
        if index in cut_off and index is not None:
            for trivia in cut_off[index]:
                writer.put_gap(trivia)
            if "\n" in self.text[slice(*lead)]:
                writer.gap(*lead)
            else:
                writer.put_gap(writer.line_break)
        elif self._commented(lead):
            writer.gap(*lead)
        elif place == 0:
            writer.put_gap(last_line(first) if has_comment(first) else first)
        elif index is None or index == 0:
            writer.put_gap(self._new_lead(writer))
        else:
            writer.gap(*lead)

    def _write_after(self, writer: Writer, index: int | None, *, last: bool) -> None:
        if index is None:
            if not last and self.commas:
                writer.put(",")
            return
        cell = self.cells[index]
        if not cell.comma:
            if not last and self.commas:
                writer.put(",")
        elif not last:
            writer.gap(*cell.trail)
            writer.copy(cell.trail.end, cell.trail.end + 1)
        elif self._commented(cell.trail):
            writer.gap(*cell.trail)
        writer.gap(*cell.post)

    def _new_lead(self, writer: Writer) -> str:
        """On a line of its own where the first cell is, or the last that follows no comment."""
        if self.new_lead is not None:
            return self.new_lead
        for cell in [self.cells[0], *self._following_no_comment()] if self.cells else []:
            if line := last_line(self.text[slice(*cell.lead)]):
                return writer.line_break + line.lstrip("\r\n")
        return " "

    def _following_no_comment(self) -> list[Cell]:
        """The last cell with no comment between it and the one before, if any."""
        for index in range(len(self.cells) - 1, 0, -1):
            before, cell = self.cells[index - 1], self.cells[index]
            if not any(map(self._commented, (before.trail, before.post, cell.lead))):
                return [cell]
        return []

    def _commented(self, trivia: Span) -> bool:
        return has_comment(self.text[slice(*trivia)])


def comma_list(text: str, start: int, cores: Iterable[Span], end: int) -> CellList:
    """The list between two brackets that end at ``start`` and begin at ``end``."""
    spans = tuple(cores)
    cells: list[Cell] = []
    head = Span(start, same_line_comment(text, start, spans[0].start if spans else end))
    after = head.end
    for index, core in enumerate(spans):
        comma = index < len(spans) - 1
        trail = Span(core.end, trivia_end(text, core.end) if comma else core.end)
        post = Span(trail.end + comma, same_line_comment(text, trail.end + comma, end))
        cells.append(Cell(Span(after, core.start), core, trail, comma, post))
        after = post.end
    return CellList(text, head, tuple(cells), Span(after, end))


def bare_list(
    text: str,
    start: int,
    cores: Iterable[Span],
    end: int,
    *,
    new_lead: str | None = None,
    head: int | None = None,
) -> CellList:
    """A list without brackets and commas.

    Args:
        text: the source.
        start: where the list begins, trivia included.
        cores: the elements.
        end: where it ends.
        new_lead: the blanks before a new element that is not the first; None to follow the old.
        head: up to where the trivia belongs to what is before the list; by default this is
            the rest of the line when it holds a comment.
    """
    spans = tuple(cores)
    first = spans[0].start if spans else end
    opener = Span(start, same_line_comment(text, start, first) if head is None else head)
    cells: list[Cell] = []
    after = opener.end
    for core in spans:
        post = Span(core.end, same_line_comment(text, core.end, end))
        cells.append(Cell(Span(after, core.start), core, Span(core.end, core.end), False, post))
        after = post.end
    return CellList(text, opener, tuple(cells), Span(after, end), False, new_lead)


Named: TypeAlias = tuple[str, Place]


def with_additions(kept: Sequence[Named], added: Iterable[Named]) -> list[Place]:
    """The places of a list by name: what is kept in its order, what is added where it sorts.

    An addition goes to its sorted place inside the longest sorted run at the end of the list, so
    a sorted list stays sorted and the order in which things are added does not matter.
    """
    first = len(kept)
    while first > 0 and (first == len(kept) or kept[first - 1][0] <= kept[first][0]):
        first -= 1
    run = list(kept[first:])
    for entry in sorted(added, key=lambda named: named[0]):
        run.insert(bisect_right(run, entry[0], key=lambda named: named[0]), entry)
    return [place for _, place in [*kept[:first], *run]]
