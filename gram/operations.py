"""Operations on trees: building, measuring, searching, folding.

The names are those of the other implementations of the notation; several are Python's own too,
so import the module: ``from gram import operations``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from .errors import MAX_LEVELS, TooDeepError
from .pattern import Pattern, Subject
from .walk import walk, walk_up

T = TypeVar("T")
S = TypeVar("S")

# --- building


def point(value: Subject) -> Pattern:
    """An atom.

    >>> point(Subject("a")).elements
    ()
    """
    return Pattern(value)


def pattern(value: Subject, elements: Iterable[Pattern]) -> Pattern:
    """A subject with elements."""
    return Pattern(value, elements)


def from_list(value: Subject, subjects: Iterable[Subject]) -> Pattern:
    """A subject whose elements are atoms.

    >>> from gram import dumps
    >>> dumps(from_list(Subject("team", {"Crew"}), [Subject("a"), Subject("b"), Subject("c")]))
    '[team:Crew | a, b, c]'
    """
    return Pattern(value, [Pattern(each) for each in subjects])


def unfold(step: Callable[[S], tuple[Subject, Iterable[S]]], seed: S) -> Pattern:
    """Grow a tree: ``step`` gives the subject at a seed and the seeds of its elements.

    Raises:
        TooDeepError: the tree nests deeper than 100 levels. A step that never ends a branch
            is stopped there.

    >>> halves = unfold(lambda n: (Subject(str(n)), [n // 2] * 2 if n > 1 else []), 4)
    >>> values(halves)[1].identity, size(halves), depth(halves)
    ('2', 7, 2)
    """

    def grow(here: S, level: int) -> Pattern:
        if level > MAX_LEVELS:
            raise TooDeepError
        subject, below = step(here)
        return Pattern(subject, [grow(each, level + 1) for each in below])

    return grow(seed, 1)


def combine(left: Pattern, right: Pattern, join: Callable[[Subject, Subject], Subject]) -> Pattern:
    """One pattern of two: their subjects joined, the elements of the left, then of the right.

    It is associative when ``join`` is.

    >>> from gram import dumps, loads
    >>> left, right = loads("[a:Team | b] [c | d]")
    >>> dumps(combine(left, right, lambda one, other: one))
    '[a:Team | b, d]'
    """
    return Pattern(join(left.value, right.value), (*left.elements, *right.elements))


# --- measuring


def length(tree: Pattern) -> int:
    """How many elements it has."""
    return len(tree.elements)


def size(tree: Pattern) -> int:
    """How many patterns it holds, itself among them."""
    return sum(1 for _ in walk(tree))


def depth(tree: Pattern) -> int:
    """How many steps lead down to its deepest element: 0 for an atom."""
    return max(len(path) for path, _ in walk(tree))


def values(tree: Pattern) -> tuple[Subject, ...]:
    """Its subjects, each before those of its elements."""
    return tuple(each.value for _, each in walk(tree))


# --- searching


def any_value(holds: Callable[[Subject], bool], tree: Pattern) -> bool:
    """Whether something holds for one of its subjects."""
    return any(holds(each.value) for _, each in walk(tree))


def all_values(holds: Callable[[Subject], bool], tree: Pattern) -> bool:
    """Whether something holds for all of its subjects."""
    return all(holds(each.value) for _, each in walk(tree))


def filter(holds: Callable[[Pattern], bool], tree: Pattern) -> tuple[Pattern, ...]:
    """The patterns in it, itself among them, for which something holds, from the top down.

    >>> from gram import loads_one
    >>> found = filter(lambda p: "P" in p.value.labels, loads_one("[a | (b:P), [c:P | (d:P)]]"))
    >>> [p.value.identity for p in found]
    ['b', 'c', 'd']
    """
    return tuple(each for _, each in walk(tree) if holds(each))


def find_first(holds: Callable[[Pattern], bool], tree: Pattern) -> Pattern | None:
    """The first pattern in it for which something holds, or None."""
    return next((each for _, each in walk(tree) if holds(each)), None)


def matches(one: Pattern, other: Pattern) -> bool:
    """Whether two trees are equal: the same subjects in the same places."""
    return one == other


def contains(tree: Pattern, part: Pattern) -> bool:
    """Whether a tree equal to ``part`` stands anywhere in it, as the whole of it too."""
    return any(each == part for _, each in walk(tree))


# --- folding


def map(change: Callable[[Subject], Subject], tree: Pattern) -> Pattern:
    """The tree of the same shape whose subjects are changed.

    What did not change is shared: the same object when nothing did.

    >>> from attrs import evolve
    >>> from gram import dumps, loads_one
    >>> dumps(map(lambda s: evolve(s, identity=s.identity.upper()), loads_one("[a | [b | c]]")))
    '[A | [B | C]]'
    """

    def rebuilt(here: Pattern, elements: tuple[Pattern, ...]) -> Pattern:
        value = change(here.value)
        same = value == here.value and all(
            new is old for new, old in zip(elements, here.elements, strict=True)
        )
        return here if same else Pattern(value, elements)

    return para(rebuilt, tree)


def fold(step: Callable[[T, Subject], T], start: T, tree: Pattern) -> T:
    """Gather its subjects into one result, each before those of its elements.

    >>> from gram import loads_one
    >>> fold(lambda names, subject: names + subject.identity, "", loads_one("[a | [b | c], d]"))
    'abcd'
    """
    result = start
    for _, each in walk(tree):
        result = step(result, each.value)
    return result


def para(step: Callable[[Pattern, tuple[T, ...]], T], tree: Pattern) -> T:
    """Compute from the bottom up: of a pattern and the results of its elements.

    >>> from gram import loads_one
    >>> para(lambda _, below: 1 + max(below, default=0), loads_one("[a | [b | c], d]"))
    3
    """
    results: list[T] = []
    for _, here in walk_up(tree):
        first = len(results) - len(here.elements)
        below = tuple(results[first:])
        del results[first:]
        results.append(step(here, below))
    return results[0]
