"""Pairs the elements of two lists: which element of the new list was which of the old one."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Hashable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

from ..trees import Value, exact

T = TypeVar("T")
S = TypeVar("S")


def align(old: Sequence[Value], new: Sequence[Value]) -> list[int | None]:
    """For each of some values the index of the old value whose text it takes, or None.

    Equal values are partners, and no two have the same one. What is left between the same partners
    is paired in order if nothing was added or removed there, else by type. The cost is O(n log n).
    """
    pairing = Pairing(len(old), len(new))
    pairing.pair_by(list(map(exact, old)), list(map(exact, new)))
    old_types, new_types = list(map(type, old)), list(map(type, new))
    for gap in list(pairing.gaps()):
        in_order = zip(*gap, strict=True) if len(gap[0]) == len(gap[1]) else None
        for pair in in_order or _in_turn(old_types, new_types, *gap):
            pairing.pair(*pair)
    return pairing.partners


class Pairing:
    """A pairing of two lists that grows step by step.

    Attributes:
        partners: for each new element the index of its old one, or None.
        old_is_free: for each old element whether it can still be paired.
        new_is_free: the same for each new element.
    """

    def __init__(self, old_size: int, new_size: int) -> None:
        self.partners: list[int | None] = [None] * new_size
        self.old_is_free = [True] * old_size
        self.new_is_free = [True] * new_size

    def pair(self, old: int, new: int) -> None:
        """Make an old and a new element partners."""
        self.partners[new] = old
        self.old_is_free[old] = self.new_is_free[new] = False

    def pair_by(self, old: Sequence[Hashable], new: Sequence[Hashable]) -> list[tuple[int, int]]:
        """Pair elements with equal keys; an element whose key is None is left out.

        Elements at the ends of the lists, or in the same place of lists of equal length, come
        first. Of several with one key the k-th old is paired with the k-th new, first among
        those between the same partners.

        Returns:
            The new pairs.
        """
        found: list[tuple[int, int]] = []

        def add(old_index: int, new_index: int) -> None:
            self.pair(old_index, new_index)
            found.append((old_index, new_index))

        first, last = common_ends(old, new)
        same_place = [(index, index) for index in range(first)]
        same_place += [(len(old) - index, len(new) - index) for index in range(last, 0, -1)]
        if len(old) == len(new):
            same_place = [(index, index) for index in range(len(old))]
        for one, other in same_place:
            free = self.old_is_free[one] and self.new_is_free[other]
            if free and new[other] is not None and _equal(old[one], new[other]):
                add(one, other)
        for gap in chain(self.gaps(), self._whole()):
            for pair in _in_turn(old, new, *gap):
                add(*pair)
        return found

    def gaps(self) -> Iterator[tuple[list[int], list[int]]]:
        """The free old and new elements between two partners that kept their order."""
        pairs = [(old, new) for new, old in enumerate(self.partners) if old is not None]
        staying = [pairs[index] for index in longest_increasing([old for old, _ in pairs])]
        after_old = after_new = 0
        for old, new in [*staying, (len(self.old_is_free), len(self.new_is_free))]:
            yield (
                _true_at(self.old_is_free, after_old, old),
                _true_at(self.new_is_free, after_new, new),
            )
            after_old, after_new = old + 1, new + 1

    def _whole(self) -> Iterator[tuple[list[int], list[int]]]:
        """All free elements, as one gap."""
        yield _true_at(self.old_is_free), _true_at(self.new_is_free)


def common_ends(old: Sequence[T], new: Sequence[S]) -> tuple[int, int]:
    """How many elements two lists share at the beginning, and how many of the rest at the end."""
    shorter = min(len(old), len(new))
    pairs = zip(old, new, strict=False)
    first = next((at for at, pair in enumerate(pairs) if not _equal(*pair)), shorter)
    pairs = zip(reversed(old), reversed(new), strict=False)
    last = next((at for at, pair in enumerate(pairs) if not _equal(*pair)), shorter)
    return first, min(last, shorter - first)


def longest_increasing(numbers: Sequence[int]) -> list[int]:
    """The indices of a longest strictly increasing subsequence.

    >>> longest_increasing([4, 0, 1, 3, 2])
    [1, 2, 4]
    """
    ends: list[int] = []  # the least number that a run of each length ends in
    at: list[int] = []
    before: list[int] = []
    for index, number in enumerate(numbers):
        length = bisect_left(ends, number)
        before.append(at[length - 1] if length else -1)
        if length == len(ends):
            ends.append(number)
            at.append(index)
        else:
            ends[length], at[length] = number, index
    chosen: list[int] = []
    index = at[-1] if at else -1
    while index >= 0:
        chosen.append(index)
        index = before[index]
    return chosen[::-1]


def _equal(one: object, other: object) -> bool:
    return one is other or one == other


def _true_at(flags: list[bool], start: int = 0, end: int | None = None) -> list[int]:
    return [index for index in range(start, len(flags) if end is None else end) if flags[index]]


def _in_turn(
    old: Sequence[Hashable], new: Sequence[Hashable], old_indices: list[int], new_indices: list[int]
) -> Iterator[tuple[int, int]]:
    """The k-th old element of each key with the k-th new one; those of key None stay alone."""
    waiting: defaultdict[Hashable, deque[int]] = defaultdict(deque)
    for index in old_indices:
        if old[index] is not None:
            waiting[old[index]].append(index)
    for index in new_indices:
        if waiting.get(new[index]):
            yield waiting[new[index]].popleft(), index
