"""Every pattern of a tree with the path that leads to it.

A path is the index of an element, then of an element in that, and so on; ``()`` is the tree
itself. Of several trees the first index says which, as in `gram.Document.spans`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

import attrs

from ..errors import NoPatternError, expect
from .pattern import Pattern, patterns_of

TreePath: TypeAlias = tuple[int, ...]
"""The way to a pattern in a tree: the place among the elements, counted from 0, at each level."""
_Placed: TypeAlias = tuple[TreePath, Pattern]


def walk(pattern: Pattern | Iterable[Pattern]) -> Iterator[tuple[TreePath, Pattern]]:
    """Depth first, each pattern before its elements.

    >>> from gram import loads, loads_one
    >>> tree = loads_one("[a | [b | c], d]")
    >>> [(path, p.value.identity) for path, p in walk(tree)]
    [((), 'a'), ((0,), 'b'), ((0, 0), 'c'), ((1,), 'd')]
    >>> [path for path, _ in walk(loads("(a) [b | c]"))]
    [(0,), (1,), (1, 0)]
    """
    if isinstance(pattern, Pattern):
        return chain([((), pattern)], _downwards(pattern.elements, ()))
    return _downwards(patterns_of(pattern, by="walk"), ())


def _downwards(patterns: Iterable[Pattern], path: TreePath) -> Iterator[_Placed]:
    for index, each in enumerate(patterns):
        here = (*path, index)
        yield here, each
        if each.elements:
            yield from _downwards(each.elements, here)


def walk_up(pattern: Pattern | Iterable[Pattern]) -> Iterator[tuple[TreePath, Pattern]]:
    """Depth first, each pattern after its elements.

    >>> from gram import loads_one
    >>> [p.value.identity for _, p in walk_up(loads_one("[a | [b | c], d]"))]
    ['c', 'b', 'd', 'a']
    """
    if isinstance(pattern, Pattern):
        return chain(_upwards(pattern.elements, ()), [((), pattern)])
    return _upwards(patterns_of(pattern, by="walk_up"), ())


def _upwards(patterns: Iterable[Pattern], path: TreePath) -> Iterator[_Placed]:
    for index, each in enumerate(patterns):
        here = (*path, index)
        yield from _upwards(each.elements, here)
        yield here, each


def pattern_at(patterns: Sequence[Pattern], path: TreePath) -> Pattern:
    """The pattern that a path leads to, of several trees.

    Raises:
        NoPatternError: there is no pattern at the path.
    """
    expect(patterns, Sequence, "patterns", by="pattern_at")
    expect(path, tuple, "path", by="pattern_at")
    if not path:
        raise NoPatternError("a path has at least one step")
    below: Sequence[Pattern] = patterns
    for index in path:
        expect(index, int, "each step of path", by="pattern_at")
        if not 0 <= index < len(below):
            raise NoPatternError(f"no pattern is at the path {path}")
        pattern = below[index]
        expect(pattern, Pattern, "each of patterns", by="pattern_at")
        below = pattern.elements
    return pattern


def replace_at(
    patterns: Sequence[Pattern], path: TreePath, new: Iterable[Pattern]
) -> tuple[Pattern, ...]:
    """The trees with any number of other patterns at a path.

    The parts that are not on the way there are shared.

    Raises:
        NoPatternError: there is no pattern at the path.

    >>> from gram import dumps, loads
    >>> print(dumps(replace_at(loads("[a | b, c]"), (0, 1), loads("(x) (y)"))))
    [a | b, x, y]
    """
    expect(patterns, Sequence, "patterns", by="replace_at")
    replaced = patterns_of(new, "new", by="replace_at")
    pattern_at(patterns, path)
    for depth in range(len(path) - 1, -1, -1):
        siblings = pattern_at(patterns, path[:depth]).elements if depth else tuple(patterns)
        siblings = (*siblings[: path[depth]], *replaced, *siblings[path[depth] + 1 :])
        if not depth:
            return siblings
        replaced = (attrs.evolve(pattern_at(patterns, path[:depth]), elements=siblings),)
    raise AssertionError("a path has at least one step")
