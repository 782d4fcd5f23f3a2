"""Reads a long text a piece at a time, for whoever does not keep its trees.

Trees that are let go of one after another cost less than half of trees that are all kept, mostly
because Python looks through everything that is kept again and again for what could be freed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import GramDecodeError, expect
from ..source import Source
from ..trees import Pattern
from .parser import parse_trees

_PIECE = 100_000
"""About how many characters are read at a time."""

_NEXT = re.compile(r"\n(?=[(\[])")
"""A line break before what may be another pattern: no pattern goes on so after its end."""


def read_in_pieces(source: Source, size: int = _PIECE) -> Iterator[Pattern]:
    """The top-level patterns of a text one after another, a header record first.

    Args:
        source: the text.
        size: about how many characters are read at a time.

    Raises:
        GramDecodeError: the text is not gram; the patterns before may have been given.

    >>> [pattern.value.identity for pattern in read_in_pieces(Source("(a)\\n(b)"))]
    ['a', 'b']
    """
    expect(source, Source, "source", by="read_in_pieces")
    expect(size, int, "size", by="read_in_pieces")
    start, length = 0, len(source.text)
    while start < length:
        found = _NEXT.search(source.text, start + max(size, 1))
        end = found.end() if found else length
        try:
            patterns = parse_trees(source, start, end)
        except GramDecodeError:  # the piece ends inside a pattern, or there is an error
            if end == length:
                raise
            patterns, end = parse_trees(source, start), length
        yield from patterns
        start = end
