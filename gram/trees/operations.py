"""Walks through trees, and operations on them: build, measure, search, fold, compute at each place.

The names are those of the other implementations of the notation. Several are also Python's own,
so import the module:

>>> from gram import loads_one, operations
>>> operations.size(loads_one("[a | [b | c], d]"))
4

The laws, for all patterns ``p``:

- ``map(lambda s: s, p) is p``, and ``map(g, map(f, p)) == map(lambda s: g(f(s)), p)``.
- ``para(lambda here, below: Pattern(here.value, below), p) == p``: `para` sees all of a pattern.
- ``unfold(lambda here: (here.value, here.elements), p) == p``: `unfold` undoes taking apart.
- ``combine`` is associative when its ``join`` is.
- ``extend(lambda here: here.value, p)`` is ``p`` as a `Tree`, and ``extend(f, p).value == f(p)``.
- ``extend(g, extend(f, p)) == extend(lambda here: g(extend(f, here)), p)``.

The functions recurse: a pattern has 100 levels at the most, see `gram.MAX_LEVELS`.

A path is the index of an element, then of an element in that, and so on; ``()`` is the tree
itself. Of several trees the first index says which, as in `gram.Document.spans`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Generic, TypeAlias, TypeVar

import attrs
from attrs import frozen

from ..errors import MAX_LEVELS, ArgumentError, NoPatternError, TooDeepError, expect
from .pattern import Pattern, Subject, patterns_of

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

    def with_new(siblings: Sequence[Pattern], path: TreePath) -> tuple[Pattern, ...]:
        here, below = siblings[path[0]], path[1:]
        changed = (
            [attrs.evolve(here, elements=with_new(here.elements, below))] if below else replaced
        )
        return (*siblings[: path[0]], *changed, *siblings[path[0] + 1 :])

    return with_new(patterns, path)


A = TypeVar("A")
B = TypeVar("B")


N = TypeVar("N", Pattern, "Tree[Any]")


# --- building


def from_list(value: Subject, subjects: Iterable[Subject]) -> Pattern:
    """A subject whose elements are atoms.

    >>> from gram import dumps
    >>> dumps(from_list(Subject("team", {"Crew"}), [Subject("a"), Subject("b"), Subject("c")]))
    '[team:Crew | a, b, c]'
    """
    expect(subjects, Iterable, "subjects", by="from_list")
    return Pattern(value, [Pattern(each) for each in subjects])


def unfold(step: Callable[[A], tuple[Subject, Iterable[A]]], seed: A) -> Pattern:
    """Grow a tree: ``step`` gives the subject at a seed and the seeds of its elements.

    Raises:
        GramEncodeError: the tree nests deeper than 100 levels; a step that never ends a branch
            is stopped there.

    >>> halves = unfold(lambda n: (Subject(str(n)), [n // 2] * 2 if n > 1 else []), 4)
    >>> values(halves)[1].identity, size(halves), depth(halves)
    ('2', 7, 2)
    """

    def grow(here: A, level: int) -> Pattern:
        if level > MAX_LEVELS:
            raise TooDeepError
        grown = step(here)
        expect(grown, tuple, "what step returns", by="unfold")
        if len(grown) != 2:
            raise ArgumentError("unfold: step must return a subject and the seeds of its elements")
        subject, below = grown
        expect(below, Iterable, "the seeds that step returns", by="unfold")
        return Pattern(subject, [grow(each, level + 1) for each in below])

    expect(step, Callable, "step", by="unfold")
    return grow(seed, 1)


def combine(left: Pattern, right: Pattern, join: Callable[[Subject, Subject], Subject]) -> Pattern:
    """One pattern of two: their subjects joined, the elements of the left, then of the right.

    >>> from gram import dumps, loads
    >>> left, right = loads("[a:Team | b] [c | d]")
    >>> dumps(combine(left, right, lambda one, other: one))
    '[a:Team | b, d]'
    """
    expect(left, Pattern, "left", by="combine")
    expect(right, Pattern, "right", by="combine")
    expect(join, Callable, "join", by="combine")
    return Pattern(join(left.value, right.value), (*left.elements, *right.elements))


# --- measuring and searching


def size(pattern: Pattern) -> int:
    """How many patterns it holds, with itself."""
    return sum(1 for _ in _all(pattern, "size"))


def depth(pattern: Pattern) -> int:
    """How many steps lead down to its deepest element: 0 for an atom."""
    return depth_at(pattern).value


def values(pattern: Pattern) -> tuple[Subject, ...]:
    """Its subjects, each before those of its elements."""
    return tuple(each.value for each in _all(pattern, "values"))


def any_value(holds: Callable[[Subject], bool], pattern: Pattern) -> bool:
    """Whether something holds for one of its subjects."""
    expect(holds, Callable, "holds", by="any_value")
    return any(holds(each.value) for each in _all(pattern, "any_value"))


def all_values(holds: Callable[[Subject], bool], pattern: Pattern) -> bool:
    """Whether something holds for all of its subjects."""
    expect(holds, Callable, "holds", by="all_values")
    return all(holds(each.value) for each in _all(pattern, "all_values"))


def filter(holds: Callable[[Pattern], bool], pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns in it, with itself, for which something holds, from the top down.

    >>> from gram import loads_one
    >>> found = filter(lambda p: "P" in p.value.labels, loads_one("[a | (b:P), [c:P | (d:P)]]"))
    >>> [p.value.identity for p in found]
    ['b', 'c', 'd']
    """
    expect(holds, Callable, "holds", by="filter")
    return tuple(each for each in _all(pattern, "filter") if holds(each))


def find_first(holds: Callable[[Pattern], bool], pattern: Pattern) -> Pattern | None:
    """The first pattern in it, from the top down, for which something holds, or None."""
    expect(holds, Callable, "holds", by="find_first")
    return next((each for each in _all(pattern, "find_first") if holds(each)), None)


def contains(pattern: Pattern, part: Pattern) -> bool:
    """Whether a pattern equal to ``part`` is anywhere in it; it contains itself."""
    return any(each == part for each in _all(pattern, "contains"))


def _all(pattern: Pattern, by: str) -> Iterable[Pattern]:
    """The patterns in a pattern, each before its elements."""
    expect(pattern, Pattern, "pattern", by=by)
    return (each for _, each in walk(pattern))


# --- folding


def map(change: Callable[[Subject], Subject], pattern: Pattern) -> Pattern:
    """The pattern of the same shape whose subjects are changed.

    What did not change is shared: the result is the same object when nothing did.

    >>> from attrs import evolve
    >>> from gram import dumps, loads_one
    >>> dumps(map(lambda s: evolve(s, identity=s.identity.upper()), loads_one("[a | [b | c]]")))
    '[A | [B | C]]'
    """
    expect(change, Callable, "change", by="map")
    expect(pattern, Pattern, "pattern", by="map")

    def rebuilt(here: Pattern, elements: tuple[Pattern, ...]) -> Pattern:
        value = change(here.value)
        same = value == here.value and all(
            new is old for new, old in zip(elements, here.elements, strict=True)
        )
        return here if same else attrs.evolve(here, value=value, elements=elements)

    return para(rebuilt, pattern)


def fold(step: Callable[[A, Subject], A], start: A, pattern: Pattern) -> A:
    """Gather its subjects into one result, each before those of its elements.

    >>> from gram import loads_one
    >>> fold(lambda names, subject: names + subject.identity, "", loads_one("[a | [b | c], d]"))
    'abcd'
    """
    expect(step, Callable, "step", by="fold")
    result = start
    for each in _all(pattern, "fold"):
        result = step(result, each.value)
    return result


def para(step: Callable[[N, tuple[B, ...]], B], tree: N) -> B:
    """Compute from the bottom up: from a pattern or `Tree` and the results of its elements.

    >>> from gram import loads_one
    >>> para(lambda _, below: 1 + max(below, default=0), loads_one("[a | [b | c], d]"))
    3
    """
    expect(step, Callable, "step", by="para")
    expect(tree, (Pattern, Tree), "tree", by="para")

    def upwards(here: N) -> B:
        return step(here, tuple([upwards(element) for element in here.elements]))

    return upwards(tree)


# --- computing at every place


@frozen
class Tree(Generic[A]):
    """A value of any kind with elements, themselves trees, in order.

    A `Pattern` holds subjects and nothing else. What a function gives at every place of a
    pattern is a `Tree` of the same shape.
    """

    value: A
    elements: tuple[Tree[A], ...] = ()

    def values(self) -> tuple[A, ...]:
        """Its values, each before those of its elements."""
        return (self.value, *(value for element in self.elements for value in element.values()))


def pattern_of(tree: Tree[Subject]) -> Pattern:
    """The pattern whose subjects a tree holds.

    >>> from gram import loads_one
    >>> pattern = loads_one("[a | [b | c], d]")
    >>> pattern_of(extend(lambda here: here.value, pattern)) == pattern
    True
    """
    return para(lambda here, elements: Pattern(here.value, elements), tree)


def extend(compute: Callable[[N], B], tree: N) -> Tree[B]:
    """At every place, what a function gives for the pattern or `Tree` there.

    >>> from gram import loads_one
    >>> extend(lambda here: len(here.elements), loads_one("[a | [b | c], d]")).values()
    (2, 1, 0, 0)
    """
    expect(compute, Callable, "compute", by="extend")
    return para(lambda here, elements: Tree(compute(here), elements), tree)


def duplicate(tree: N) -> Tree[N]:
    """At every place, the pattern or `Tree` that is there."""
    return extend(lambda here: here, tree)


def depth_at(pattern: Pattern) -> Tree[int]:
    """At every place, how many steps lead down to the deepest element.

    >>> from gram import loads_one
    >>> depth_at(loads_one("[a | [b | c], d]")).values()
    (2, 1, 0, 0)
    """
    return para(
        lambda _, below: Tree(max((each.value + 1 for each in below), default=0), below), pattern
    )


def size_at(pattern: Pattern) -> Tree[int]:
    """At every place, how many patterns there are, with the one there.

    >>> from gram import loads_one
    >>> size_at(loads_one("[a | [b | c], d]")).values()
    (4, 2, 1, 1)
    """
    return para(lambda _, below: Tree(1 + sum(each.value for each in below), below), pattern)


def indices_at(pattern: Pattern) -> Tree[TreePath]:
    """At every place, the path that leads to it from the top.

    >>> from gram import loads_one
    >>> indices_at(loads_one("[a | [b | c], d]")).values()
    ((), (0,), (0, 0), (1,))
    """
    expect(pattern, Pattern, "pattern", by="indices_at")

    def placed(here: Pattern, path: TreePath) -> Tree[TreePath]:
        below = [placed(element, (*path, index)) for index, element in enumerate(here.elements)]
        return Tree(path, tuple(below))

    return placed(pattern, ())
