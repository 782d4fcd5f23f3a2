"""Where a pattern was read from.

The places are kept beside the trees, by identity and weakly: equal patterns read from two files
have two places, and a place is forgotten with its pattern. A pattern made by an edit has none;
the parts it shares with what was read keep theirs.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from attrs import frozen

from .pattern import Pattern
from .source import Source, Span

if TYPE_CHECKING:
    from .document import Document


@frozen
class Origin:
    """The place a pattern was read from.

    Attributes:
        source: the text and its file name.
        span: the offsets of the pattern in it.
    """

    source: Source
    span: Span

    @property
    def filename(self) -> str | None:
        """The name of the file, or None."""
        return self.source.filename

    @property
    def lineno(self) -> int:
        """The line the pattern begins on, from 1."""
        return self.source.position(self.span.start)[0]

    @property
    def colno(self) -> int:
        """The column the pattern begins in, from 1."""
        return self.source.position(self.span.start)[1]

    @property
    def document(self) -> Document:
        """The document that was read; read again when nobody holds it any more."""
        from .document import document_of

        return document_of(self.source)

    @property
    def path(self) -> tuple[int, ...]:
        """The index of the pattern in the document, then of the element in it, and so on."""
        return self.document.path_at(self.span)

    def part(self, name: str | None) -> Span:
        """Where a part of the pattern stands: ``identity``, ``labels`` or a property's value.

        A part that is not there is looked for where it would be: in the pattern's subject.
        """
        if name is None:
            return self.span
        spans = self.document.spans(self.path)
        if place := spans.part(name):
            return place
        return spans.subject if spans.subject.start < spans.subject.end else self.span

    def __str__(self) -> str:
        return self.source.place(self.span.start)


class _Place(weakref.ref[Pattern]):
    """A weak reference that knows its place and under which key it is kept."""

    __slots__ = ("end", "key", "source", "start")

    key: int
    source: Source
    start: int
    end: int


_places: dict[int, _Place] = {}


def _forget(place: weakref.ref[Pattern]) -> None:
    assert isinstance(place, _Place)
    if _places.get(place.key) is place:
        del _places[place.key]


def remember(pattern: Pattern, source: Source, start: int, end: int) -> None:
    """Note where a pattern was read from."""
    place = _Place(pattern, _forget)
    place.key, place.source, place.start, place.end = id(pattern), source, start, end
    _places[place.key] = place


def carry_origin(pattern: Pattern, old: Pattern) -> Pattern:
    """``pattern``, placed where ``old`` was read: it stands for it, completed from elsewhere."""
    place = _places.get(id(old))
    if place is not None and place() is old:
        remember(pattern, place.source, place.start, place.end)
    return pattern


def origin(pattern: Pattern) -> Origin | None:
    """Where a pattern was read from, or None when it was not read but made.

    >>> from gram import loads_one
    >>> agent = loads_one("[a |\\n  (b)]")
    >>> str(origin(agent.elements[0]))
    '2:3'
    """
    place = _places.get(id(pattern))
    if place is None or place() is not pattern:
        return None
    return Origin(place.source, Span(place.start, place.end))
