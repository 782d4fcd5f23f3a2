"""Which element of a new list was which of an old one.

Equal elements are partners first, then those of the same name; what is left between two partners
that kept their order is paired by place, or by kind where the counts differ.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

from attrs import frozen

from ..pattern import Pattern
from ..values import Value, exact

T = TypeVar("T")


@frozen
class Likeness(Generic[T]):
    """What makes two elements of a list equal, the same, or alike.

    Attributes:
        key: equal for equal elements.
        name: what an element is called; ``""`` when it has no name.
        kind: equal for elements that may well be one, edited.
    """

    key: Callable[[T], Hashable]
    name: Callable[[T], str]
    kind: Callable[[T], Hashable]


PATTERNS = Likeness[Pattern](
    key=lambda pattern: pattern,
    name=lambda pattern: pattern.value.identity,
    kind=lambda pattern: (pattern.value.labels, len(pattern.elements)),
)
VALUES = Likeness[Value](key=exact, name=lambda value: "", kind=type)


def align(old: Sequence[T], new: Sequence[T], likeness: Likeness[T]) -> list[int | None]:
    """For each element of ``new`` the index of its partner in ``old``, or None.

    No two elements have the same partner. The cost is O(n log n).
    """
    old_keys, new_keys = list(map(likeness.key, old)), list(map(likeness.key, new))
    pairing = _Pairing(len(old), len(new))
    _pair_ends(pairing, old_keys, new_keys)
    _pair_in_place(pairing, lambda index: _equal(old_keys[index], new_keys[index]))
    _pair_by(pairing, old_keys.__getitem__, new_keys.__getitem__)
    _pair_in_place(
        pairing,
        lambda index: likeness.name(old[index]) == likeness.name(new[index]) != "",
    )
    _pair_by(
        pairing,
        lambda index: likeness.name(old[index]) or None,
        lambda index: likeness.name(new[index]) or None,
    )
    _pair_rest(
        pairing,
        lambda index: likeness.kind(old[index]),
        lambda index: likeness.kind(new[index]),
    )
    return pairing.partners


def common_ends(old: Sequence[T], new: Sequence[T]) -> tuple[int, int]:
    """How many elements two lists share at the beginning, and how many of the rest at the end."""
    shorter = min(len(old), len(new))
    pairs = zip(old, new, strict=False)
    first = next((at for at, pair in enumerate(pairs) if not _equal(*pair)), shorter)
    pairs = zip(reversed(old), reversed(new), strict=False)
    last = next((at for at, pair in enumerate(pairs) if not _equal(*pair)), shorter)
    return first, min(last, shorter - first)


def _equal(one: object, other: object) -> bool:
    return one is other or one == other


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


class _Pairing:
    def __init__(self, old_size: int, new_size: int) -> None:
        self.partners: list[int | None] = [None] * new_size
        self.taken = [False] * old_size

    def pair(self, old: int, new: int) -> None:
        self.partners[new] = old
        self.taken[old] = True

    def single_old(self, start: int = 0, end: int | None = None) -> list[int]:
        indices = range(start, len(self.taken) if end is None else end)
        return [index for index in indices if not self.taken[index]]

    def single_new(self, start: int = 0, end: int | None = None) -> list[int]:
        indices = range(start, len(self.partners) if end is None else end)
        return [index for index in indices if self.partners[index] is None]


def _pair_ends(pairing: _Pairing, old: Sequence[Hashable], new: Sequence[Hashable]) -> None:
    first, last = common_ends(old, new)
    for index in range(first):
        pairing.pair(index, index)
    for index in range(1, last + 1):
        pairing.pair(len(old) - index, len(new) - index)


def _pair_in_place(pairing: _Pairing, fits: Callable[[int], bool]) -> None:
    """Pair what fits at equal places of lists of equal length."""
    if len(pairing.partners) == len(pairing.taken):
        for index in pairing.single_new():
            if not pairing.taken[index] and fits(index):
                pairing.pair(index, index)


def _pair_by(
    pairing: _Pairing, old_key: Callable[[int], Hashable], new_key: Callable[[int], Hashable]
) -> None:
    """Pair the k-th old element of a key with the k-th new one; those of key None stay single."""
    waiting: defaultdict[Hashable, deque[int]] = defaultdict(deque)
    for index in pairing.single_old():
        waiting[old_key(index)].append(index)
    for index in pairing.single_new():
        key = new_key(index)
        if key is not None and waiting.get(key):
            pairing.pair(waiting[key].popleft(), index)


def _pair_rest(
    pairing: _Pairing, old_kind: Callable[[int], Hashable], new_kind: Callable[[int], Hashable]
) -> None:
    """Pair what is left between partners that kept their order, itself keeping order."""
    paired = [(new, old) for new, old in enumerate(pairing.partners) if old is not None]
    anchors = [paired[index] for index in longest_increasing([old for _, old in paired])]
    after_new = after_old = 0
    for new_end, old_end in [*anchors, (len(pairing.partners), len(pairing.taken))]:
        old = pairing.single_old(after_old, old_end)
        new = pairing.single_new(after_new, new_end)
        pairs: Iterable[tuple[int, int]] = zip(old, new, strict=False)
        for old_index, new_index in (
            pairs if len(old) == len(new) else _in_order_by_kind(old, new, old_kind, new_kind)
        ):
            pairing.pair(old_index, new_index)
        after_new, after_old = new_end + 1, old_end + 1


def _in_order_by_kind(
    old: list[int],
    new: list[int],
    old_kind: Callable[[int], Hashable],
    new_kind: Callable[[int], Hashable],
) -> list[tuple[int, int]]:
    """Greedy pairs of equal kind; neither list is gone back in."""
    places: defaultdict[Hashable, deque[int]] = defaultdict(deque)
    for index in old:
        places[old_kind(index)].append(index)
    pairs: list[tuple[int, int]] = []
    last = -1
    for index in new:
        waiting = places[new_kind(index)]
        while waiting and waiting[0] < last:
            waiting.popleft()
        if waiting:
            last = waiting.popleft()
            pairs.append((last, index))
    return pairs
