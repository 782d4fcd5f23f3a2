"""What there is for some of the calls of a reply, by their indices."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

T = TypeVar("T")

Indexed: TypeAlias = tuple[tuple[int, T], ...]
"""Parts with the indices of their calls, in their order."""


def with_index(parts: Indexed[T], index: int, part: T) -> Indexed[T]:
    """The same with something for a call, in place of what there is.

    >>> with_index(((0, "a"), (2, "c")), 1, "b")
    ((0, 'a'), (1, 'b'), (2, 'c'))
    """
    found = {**dict(parts), index: part}
    return tuple((each, found[each]) for each in sorted(found))


def without_index(parts: Indexed[T], index: int) -> Indexed[T]:
    """The same with nothing for a call."""
    return tuple(each for each in parts if each[0] != index)
