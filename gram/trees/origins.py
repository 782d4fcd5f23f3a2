"""Where a pattern was read from.

Reading keeps the place with the pattern. It plays no part in equality, hashing and repr, so equal
patterns read from two files have two places. A pattern that was made, copied or unpickled has no
place; after an edit, what was not changed keeps its own.
"""

from __future__ import annotations

from typing import NamedTuple

from ..errors import expect
from ..source import Source, Span
from .pattern import Pattern, ReadFrom


class Origin(NamedTuple):
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

    def __repr__(self) -> str:
        return f"<Origin {self}>"

    def __str__(self) -> str:
        return self.source.place(self.span.start)


def read_from(pattern: Pattern) -> ReadFrom | None:
    """What `origin` tells, for loops over many patterns: the text, the start and the end."""
    return pattern._place


def origin(pattern: Pattern) -> Origin | None:
    """Where a pattern was read from, or None when it was made.

    >>> from gram import loads_one
    >>> agent = loads_one("[a |\\n  (b)]")
    >>> str(origin(agent.elements[0]))
    '2:3'
    """
    expect(pattern, Pattern, "pattern", by="origin")
    place = pattern._place
    if place is None:
        return None
    source, start, end = place
    return Origin(source, Span(start, end))


def carry_origin(pattern: Pattern, old: Pattern) -> Pattern:
    """An equal pattern with the place of ``old``, which it is a changed version of.

    >>> import attrs
    >>> from gram import Subject, loads_one
    >>> old = loads_one("  (a)")
    >>> new = carry_origin(attrs.evolve(old, value=Subject("b")), old)
    >>> new.value.identity, str(origin(new))
    ('b', '1:3')
    """
    came_from = pattern.came_from or old.came_from
    return Pattern._of_checked(pattern.value, pattern.elements, old._place, came_from)
