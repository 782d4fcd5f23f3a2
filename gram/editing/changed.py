"""Which patterns an edit has changed: itself each, not only something below it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from ..trees import Pattern, TreePath


class ChangedPattern(NamedTuple):
    """A pattern that an edit has changed or put in.

    Attributes:
        path: where it is now.
        old: what it was in the same list; None for one that was put in there.
        keeps_elements: whether its elements are those that it had, however changed.
    """

    path: TreePath
    old: Pattern | None
    keeps_elements: bool


def changed_patterns(
    old: Sequence[Pattern], new: Sequence[Pattern], path: TreePath = ()
) -> Iterator[ChangedPattern]:
    """The patterns of a list that are not as they were, and those below them.

    Of one that was put in, nothing below is given.

    Args:
        old: the list as it was.
        new: the list as it is, made of these by an edit.
        path: where the list is.
    """
    known: dict[Hashable, list[Pattern]] = {}
    for each in reversed(old):
        known.setdefault(_key(each), []).append(each)
    for index, each in enumerate(new):
        here = (*path, index)
        same = known.get(_key(each))
        was = same.pop() if same else None
        if was is each:
            continue
        if was is None:
            yield ChangedPattern(here, None, keeps_elements=False)
            continue
        keeps = [*map(_key, was.elements)] == [*map(_key, each.elements)]
        if not keeps or was.value != each.value:
            yield ChangedPattern(here, was, keeps)
        yield from changed_patterns(was.elements, each.elements, here)


def _key(pattern: Pattern) -> Hashable:
    """What a pattern and what became of it have in common."""
    return pattern.came_from or id(pattern)
