"""Trees of any values, and what can be computed of each place from all that is below it.

A `Pattern` holds subjects and nothing else. ``duplicate`` puts at every place the pattern that
stands there, ``extend`` whatever a function makes of it, so their results are a `Tree`, which
holds any values. ``tree_of`` and ``pattern_of`` go between the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from attrs import frozen

from .pattern import Pattern, Subject
from .walk import TreePath

A = TypeVar("A")
B = TypeVar("B")


@frozen
class Tree(Generic[A]):
    """A value with elements, themselves trees, in order.

    The operations below do not recurse; equality and repr do, and are safe for as many levels as
    a pattern has.
    """

    value: A
    elements: tuple[Tree[A], ...] = ()


def tree_of(pattern: Pattern) -> Tree[Subject]:
    """The tree of a pattern's subjects."""
    pairs: Tree[Pattern] = _grown(pattern, lambda here: here.elements)
    return extend(lambda tree: tree.value.value, pairs)


def pattern_of(tree: Tree[Subject]) -> Pattern:
    """The pattern whose subjects a tree holds: the inverse of `tree_of`."""
    return _gathered(tree, lambda here, elements: Pattern(here.value, elements))


def extract(tree: Tree[A]) -> A:
    """The value at the top."""
    return tree.value


def map(change: Callable[[A], B], tree: Tree[A]) -> Tree[B]:
    """The tree of the same shape whose values are changed.

    >>> list(values(map(len, Tree("ab", (Tree("c"),)))))
    [2, 1]
    """
    return extend(lambda here: change(here.value), tree)


def duplicate(tree: Tree[A]) -> Tree[Tree[A]]:
    """At every place, the tree that stands there.

    >>> [extract(here) for here in values(duplicate(Tree(1, (Tree(2), Tree(3)))))]
    [1, 2, 3]
    """
    return extend(lambda here: here, tree)


def extend(compute: Callable[[Tree[A]], B], tree: Tree[A]) -> Tree[B]:
    """At every place, what a function makes of the tree that stands there.

    >>> sums = extend(lambda here: sum(values(here)), Tree(1, (Tree(2, (Tree(3),)), Tree(4))))
    >>> list(values(sums))
    [10, 5, 3, 4]
    """
    return _gathered(tree, lambda here, elements: Tree(compute(here), elements))


def values(tree: Tree[A]) -> Iterator[A]:
    """The values of a tree, each before those of its elements."""
    pending = [tree]
    while pending:
        here = pending.pop()
        yield here.value
        pending.extend(reversed(here.elements))


# --- of patterns


def depth_at(pattern: Pattern) -> Tree[int]:
    """At every place, how many steps lead down to the deepest element.

    >>> from gram import loads_one
    >>> list(values(depth_at(loads_one("[a | [b | c], d]"))))
    [2, 1, 0, 0]
    """
    return _gathered(
        tree_of(pattern),
        lambda _, below: Tree(max((each.value + 1 for each in below), default=0), below),
    )


def size_at(pattern: Pattern) -> Tree[int]:
    """At every place, how many patterns stand there, the top one among them.

    >>> from gram import loads_one
    >>> list(values(size_at(loads_one("[a | [b | c], d]"))))
    [4, 2, 1, 1]
    """
    return _gathered(
        tree_of(pattern), lambda _, below: Tree(1 + sum(each.value for each in below), below)
    )


def indices_at(pattern: Pattern) -> Tree[TreePath]:
    """At every place, the path that leads to it from the top.

    >>> from gram import loads_one
    >>> list(values(indices_at(loads_one("[a | [b | c], d]"))))
    [(), (0,), (0, 0), (1,)]
    """
    start: tuple[TreePath, Pattern] = ((), pattern)
    placed = _grown(
        start,
        lambda here: tuple(
            ((*here[0], index), element) for index, element in enumerate(here[1].elements)
        ),
    )
    return map(lambda here: here[0], placed)


# --- without recursion


def _grown(seed: A, below: Callable[[A], tuple[A, ...]]) -> Tree[A]:
    """The tree that holds a seed and, below it, the trees of the seeds it leads to."""
    pending: list[tuple[A, bool]] = [(seed, False)]
    done: list[Tree[A]] = []
    while pending:
        here, entered = pending.pop()
        seeds = below(here)
        if entered or not seeds:
            first = len(done) - len(seeds)
            done[first:] = [Tree(here, tuple(done[first:]))]
            continue
        pending.append((here, True))
        pending.extend((each, False) for each in reversed(seeds))
    return done[0]


def _gathered(tree: Tree[A], step: Callable[[Tree[A], tuple[B, ...]], B]) -> B:
    """Compute from the bottom up: of a tree and the results of its elements."""
    pending: list[tuple[Tree[A], bool]] = [(tree, False)]
    done: list[B] = []
    while pending:
        here, entered = pending.pop()
        if entered or not here.elements:
            first = len(done) - len(here.elements)
            done[first:] = [step(here, tuple(done[first:]))]
            continue
        pending.append((here, True))
        pending.extend((each, False) for each in reversed(here.elements))
    return done[0]
