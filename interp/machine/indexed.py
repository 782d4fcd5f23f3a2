"""What there is for some of the calls of a reply, by their indices."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from operator import itemgetter
from typing import Final, TypeAlias, TypeVar

T = TypeVar("T")

Indexed: TypeAlias = tuple[tuple[int, T], ...]
"""Parts with the indices of their calls, in their order.

A reply has few calls, so this takes less time than a map that shares what has not changed.
"""

_index: Final = itemgetter(0)


def indexed(parts: Mapping[int, T]) -> Indexed[T]:
    """A mapping in this form."""
    return tuple(sorted(parts.items(), key=_index))


def at_index(parts: Indexed[T], index: int) -> T | None:
    """What there is for a call, or None."""
    place = bisect_left(parts, index, key=_index)
    has_it = place < len(parts) and parts[place][0] == index
    return parts[place][1] if has_it else None


def with_index(parts: Indexed[T], index: int, part: T) -> Indexed[T]:
    """The same with something for a call, in place of what there is.

    >>> with_index(((0, "a"), (2, "c")), 1, "b")
    ((0, 'a'), (1, 'b'), (2, 'c'))
    """
    others = without_index(parts, index)
    place = bisect_left(others, index, key=_index)
    return (*others[:place], (index, part), *others[place:])


def without_index(parts: Indexed[T], index: int) -> Indexed[T]:
    """The same with nothing for a call."""
    place = bisect_left(parts, index, key=_index)
    has_it = place < len(parts) and parts[place][0] == index
    return (*parts[:place], *parts[place + 1 :]) if has_it else parts
