"""A list in the text, and how a new text with elements added, removed or moved is put together.

The comments around an element belong to it: those on the lines above it, and the one at the end of
its line, before or after the comma. They move with it and are removed with it. A comment on the
line of the opening bracket belongs to the bracket.

Records, arrays, maps and the elements of patterns are lists with commas. Top-level patterns, labels
and annotations are lists without.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias, Union

from ..grammar import terminal
from ..reading import lexer, syntax
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
        self._write(Span(start, end), self.old[start:end])

    def copy_trivia(self, start: int, end: int) -> None:
        """Write the old blanks and comments from ``start`` to ``end``."""
        self._write(Span(start, end), self.old[start:end], is_trivia=True)

    def put(self, text: str) -> None:
        """Write new bytes that begin and end with a token; blanks may come before the first."""
        self._write(text, text)

    def put_trivia(self, trivia: str) -> None:
        """Write new blanks and comments."""
        self._write(trivia, trivia, is_trivia=True)

    def copy_comments(self, comments: Iterable[Span]) -> None:
        """Write old comments, with a blank before each."""
        for comment in comments:
            self.put_trivia(" ")
            self.copy_trivia(*comment)

    def append(self, other: Writer) -> None:
        """Write what another writer wrote of the same old text; it begins and ends with a token."""
        for piece in other.pieces:
            self._write(piece, text_of([piece], self.old))

    def _write(self, piece: Piece, text: str, *, is_trivia: bool = False) -> None:
        if not text:
            return
        last = self.pieces[-1] if self.pieces else None
        if isinstance(piece, Span) and isinstance(last, Span) and last.end == piece.start:
            self.pieces[-1] = Span(last.start, piece.end)
        else:
            self._guard(text, is_trivia)
            self.pieces.append(piece)
        self._last = text[-1]
        stays_open = self._comment_is_open and "\n" not in text
        self._comment_is_open = is_trivia and (stays_open or lexer.leaves_comment_open(text))

    def _guard(self, text: str, is_trivia: bool) -> None:
        if self._comment_is_open:
            if "\n" not in text[: len(text) - len(text.lstrip())]:
                self.pieces.append(self.line_break)
                self._comment_is_open = False
        elif not is_trivia and self._last and _is_one_symbol(self._last, text[0]):
            self.pieces.append(" ")


def _is_one_symbol(last: str, first: str) -> bool:
    """Whether a symbol that ends with one character goes on with another, which begins a token."""
    is_mark = first in ".-"  # an arrow or dots; a symbol begins with neither
    return not is_mark and terminal("SYMBOL").fullmatch(f"_{last}{first}") is not None


NOTHING = Span(0, 0)


class ListElement(NamedTuple):
    """An element with its comma and the trivia around it.

    Attributes:
        before: the trivia before it.
        span: the element.
        before_comma: the trivia between it and its comma.
        comma: whether a comma follows.
        after: the comment on its line, after the comma when there is one.
    """

    before: Span
    span: Span
    before_comma: Span
    comma: bool
    after: Span


class Place(NamedTuple):
    """A place in the new list and what comes there.

    Attributes:
        old: the index of the old element whose place it is, or None for a new place.
        write: writes the element.
        above: comments that it brings with it from another list, for the lines above it.
        after: comments that it brings for the end of its line.
    """

    old: int | None
    write: Callable[[], None]
    above: Sequence[Span] = ()
    after: Sequence[Span] = ()


class ElementList(NamedTuple):
    """The inside of a list.

    Attributes:
        text: the source.
        head: the comment that belongs to what opens the list.
        elements: the elements, each with the trivia around it.
        tail: the trivia after the last.
        commas: whether commas separate the elements.
        new_lead: the blanks before a new element; None to follow the elements.
        first_lead: the blanks before the first element of a list that had none.
        opens_file: whether it begins where the file does; then the comments above the first
            element stay when it is taken out, for they may be about the file.
    """

    text: str
    head: Span = NOTHING
    elements: tuple[ListElement, ...] = ()
    tail: Span = NOTHING
    commas: bool = True
    new_lead: str | None = None
    first_lead: str = ""
    opens_file: bool = False

    def write(self, writer: Writer, places: Sequence[Place]) -> None:
        """Write the list with the old and new elements of ``places``, in that order.

        Args:
            writer: receives the text.
            places: what the new list consists of.
        """
        staying = {place.old for place in places}
        cut_off = self._cut_off(staying)
        writer.copy_trivia(*self.head)
        if self.opens_file and self.elements and 0 not in staying:
            writer.copy_trivia(*self.elements[0].before)
        previous: int | None = -1
        for at, place in enumerate(places):
            cut = cut_off.get(place.old, ()) if place.old is not None else ()
            for trivia in cut:
                writer.copy_trivia(*trivia)
            follows = place.old is not None and place.old - 1 == previous
            self._write_lead(writer, place, at, cut_off=bool(cut), follows=follows)
            place.write()
            self._write_after(writer, place, last=at == len(places) - 1)
            previous = place.old
        for trivia in cut_off.get(None, ()):
            writer.copy_trivia(*trivia)
        writer.copy_trivia(*self.tail)

    def comments_around(self, index: int) -> tuple[list[Span], list[Span]]:
        """The comments of an element: those above it, and those at the end of its line."""
        element = self.elements[index]
        after = (element.before_comma, element.after)
        found = [comment for span in after for comment in lexer.comments_in(self.text, *span)]
        if self.opens_file and index == 0:
            return [], found
        start, end = element.before
        start += len(lexer.without_block_above(self.text[start:end]))
        return [*lexer.comments_in(self.text, start, end)], found

    def comments_left_without(self) -> bool:
        """Whether a comment stays when all elements are removed."""
        cut_off = any(self._cut_off(set()).values())
        return cut_off or self._commented(self.head) or self._commented(self.tail)

    def _cut_off(self, staying: set[int | None]) -> dict[int | None, list[Span]]:
        """The comments of removed elements that stay, by the next element that stays."""
        found: dict[int | None, list[Span]] = {}
        pending: list[Span] = []
        for index, element in enumerate(self.elements):
            if index not in staying:
                if index == 0 and self.opens_file:
                    continue
                if rest := lexer.without_block_above(self.text[slice(*element.before)]):
                    start = element.before.start
                    pending.append(Span(start, start + len(rest)))
            elif pending:
                found[index], pending = pending, []
        if pending:
            found[None] = pending
        return found

    def _write_lead(
        self, writer: Writer, place: Place, at: int, *, cut_off: bool, follows: bool
    ) -> None:
        """The trivia before an element, with the comments that it brings for the lines above it."""
        index = place.old
        old = before = "" if index is None else self.text[slice(*self.elements[index].before)]
        if cut_off:
            before = old if "\n" in old else writer.line_break
        elif follows:
            before = old
        elif lexer.has_comment(old):
            before = self._displaced(writer, old, at)
        elif at == 0:
            first = self.text[slice(*self.elements[0].before)] if self.elements else self.first_lead
            before = lexer.last_line(first) if lexer.has_comment(first) else first
            before = "" if self.opens_file else before
        elif not index:
            before = self._new_lead(writer)
        if place.above and "\n" not in before:
            before = lexer.last_line(self._new_lead(writer)) or writer.line_break
        if index is not None and before == old:
            writer.copy_trivia(*self.elements[index].before)
        else:
            writer.put_trivia(before)
        for comment in place.above:
            writer.copy_trivia(*comment)
            writer.put_trivia(lexer.last_line(before))

    def _displaced(self, writer: Writer, lead: str, at: int) -> str:
        """The comments above an element that comes elsewhere; a file begins with no blank line."""
        if self.opens_file and at == 0:
            return re.sub(r"^[^\S\n]*\n", "", lead)
        blanks = lead[: next(lexer.comments_in(lead)).start]
        return lead if "\n" in blanks or at == 0 else writer.line_break + lead

    def _write_after(self, writer: Writer, place: Place, *, last: bool) -> None:
        element = None if place.old is None else self.elements[place.old]
        if element is None or not element.comma:
            if not last and self.commas:
                writer.put(",")
        elif not last:
            writer.copy_trivia(*element.before_comma)
            writer.copy(element.before_comma.end, element.before_comma.end + 1)
        elif self._commented(element.before_comma):
            writer.copy_trivia(*element.before_comma)
        writer.copy_comments(place.after)
        if element is not None:
            writer.copy_trivia(*element.after)

    def _new_lead(self, writer: Writer) -> str:
        """The blanks before a new element.

        It has a line of its own where the first element has, or the last that follows no comment.
        """
        if self.new_lead is not None:
            return self.new_lead
        for element in [self.elements[0], *self._following_no_comment()] if self.elements else []:
            if line := lexer.last_line(self.text[slice(*element.before)]):
                return writer.line_break + line.lstrip("\r\n")
        return " "

    def _following_no_comment(self) -> list[ListElement]:
        """The last element with no comment between it and the one before, if any."""
        for index in range(len(self.elements) - 1, 0, -1):
            left, element = self.elements[index - 1], self.elements[index]
            if not any(map(self._commented, (left.before_comma, left.after, element.before))):
                return [element]
        return []

    def _commented(self, trivia: Span) -> bool:
        return lexer.has_comment(self.text[slice(*trivia)])


NO_ELEMENTS = ElementList("", first_lead=" ")
"""The elements of a bracket that had none."""


def list_of(
    text: str,
    start: int,
    parts: Sequence[syntax.Extent | Span],
    end: int,
    *,
    commas: bool = True,
    new_lead: str | None = None,
    head: int | None = None,
) -> ElementList:
    """The list in ``text[start:end]``.

    Args:
        text: the source.
        start: where the list begins, after its opening bracket if it has one.
        parts: the elements.
        end: where the list ends, before its closing bracket.
        commas: whether commas separate the elements.
        new_lead: the blanks before a new element that is not the first; None to follow the old.
        head: where the trivia ends that belongs to what is before the list; by default this is
            the rest of the line when it holds a comment.
    """
    if head is None:
        head = lexer.same_line_comment(text, start, parts[0].start if parts else end)
    elements: list[ListElement] = []
    at = head
    for index, part in enumerate(parts):
        span = Span(part.start, part.end)
        comma = commas and index < len(parts) - 1
        before_comma = Span(span.end, lexer.trivia_end(text, span.end) if comma else span.end)
        past_comma = before_comma.end + comma
        after = Span(past_comma, lexer.same_line_comment(text, past_comma, end))
        elements.append(ListElement(Span(at, span.start), span, before_comma, comma, after))
        at = after.end
    return ElementList(text, Span(start, head), tuple(elements), Span(at, end), commas, new_lead)


Named: TypeAlias = tuple[str, Place]


def with_additions(writer: Writer, kept: Sequence[Named], added: Mapping[str, str]) -> list[Place]:
    """The places of a list by name: what is kept in its order, what is added where it sorts.

    An addition goes to its sorted place inside the longest sorted run at the end of the list, so
    a sorted list stays sorted and the order in which things are added does not matter.

    Args:
        writer: receives the text.
        kept: what stays, each with its name.
        added: the texts of what is new, by name.
    """
    first = len(kept)
    while first > 0 and (first == len(kept) or kept[first - 1][0] <= kept[first][0]):
        first -= 1
    run = list(kept[first:])
    for name, text in sorted(added.items()):
        at = bisect_right(run, name, key=lambda named: named[0])
        run.insert(at, (name, Place(None, partial(writer.put, text))))
    return [place for _, place in [*kept[:first], *run]]
