"""Tells patterns that were built anew, or read elsewhere, which one of a document they are.

A changed pattern knows where it came from. One that does not is taken for the equal one of the
document, else for the one of the same name in its list, else for the only one that is left in its
place and has no other labels.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from itertools import chain, islice
from operator import attrgetter
from typing import TypeAlias, TypeVar

from ..source import Source
from ..trees import WALK, Pattern, ReadFrom, Value, exact, read_from, walk
from .pairing import Part

T = TypeVar("T")
S = TypeVar("S")
IndexPair: TypeAlias = tuple[int, int]
"""The places of an old and a new element."""


def align(old: Sequence[Value], new: Sequence[Value]) -> list[int | None]:
    """For each new value the index of the old value whose text it takes, or None.

    Equal values are partners, and no two have the same one. What is left between the same partners
    is paired in order if nothing was added or removed there, else by type. The cost is O(n log n).
    """
    pairing = Pairing(len(old), len(new))
    pairing.pair_by(list(map(exact, old)), list(map(exact, new)))
    old_types, new_types = list(map(type, old)), list(map(type, new))
    for gap in list(pairing.gaps()):
        in_order = zip(*gap, strict=True) if len(gap[0]) == len(gap[1]) else None
        for pair in in_order or in_turn(old_types, new_types, *gap):
            pairing.pair(*pair)
    return pairing.partners


class Pairing:
    """A pairing of two lists that grows step by step.

    Attributes:
        partners: for each new element the index of its old one, or None.
        is_free: for each old element whether it has no partner.
    """

    def __init__(self, old_size: int, new_size: int) -> None:
        self.partners: list[int | None] = [None] * new_size
        self.is_free = [True] * old_size

    def pair(self, old: int, new: int) -> None:
        """Make an old and a new element partners."""
        self.partners[new] = old
        self.is_free[old] = False

    def pair_by(self, old: Sequence[Hashable], new: Sequence[Hashable]) -> list[IndexPair]:
        """Pair elements with equal keys; an element whose key is None is left out.

        Elements in the same place of lists of equal length come first. Of several with one key
        the k-th old is paired with the k-th new, first among those between the same partners.

        Returns:
            The new pairs.
        """
        same_places = range(len(old) if len(old) == len(new) else 0)
        places = (self._free(range(at, at + 1), range(at, at + 1)) for at in same_places)
        everywhere = (self.free() for _ in range(1))
        pairs = (in_turn(old, new, *gap) for gap in chain(places, self.gaps(), everywhere))
        return self._paired(chain.from_iterable(pairs))

    def pair_only_ones(self, old: Sequence[Hashable], new: Sequence[Hashable]) -> list[IndexPair]:
        """Pair elements of one key, where only one old and one new element in their gap has it.

        Returns:
            The new pairs.
        """
        found: list[IndexPair] = []
        for gap in list(self.gaps()):
            counts = Counter(old[at] for at in gap[0]), Counter(new[at] for at in gap[1])
            pairs = in_turn(old, new, *gap)
            found += [pair for pair in pairs if all(count[old[pair[0]]] == 1 for count in counts)]
        return self._paired(found)

    def _paired(self, pairs: Iterable[IndexPair]) -> list[IndexPair]:
        found: list[IndexPair] = []
        for pair in pairs:
            self.pair(*pair)
            found.append(pair)
        return found

    def gaps(self) -> Iterator[tuple[list[int], list[int]]]:
        """The free old and new elements between two partners that kept their order."""
        pairs = [(old, new) for new, old in enumerate(self.partners) if old is not None]
        staying = [pairs[index] for index in longest_increasing([old for old, _ in pairs])]
        after_old = after_new = 0
        for old, new in [*staying, (len(self.is_free), len(self.partners))]:
            yield self._free(range(after_old, old), range(after_new, new))
            after_old, after_new = old + 1, new + 1

    def free(self) -> tuple[list[int], list[int]]:
        """The old and new elements without a partner."""
        return self._free(range(len(self.is_free)), range(len(self.partners)))

    def _free(self, old: range, new: range) -> tuple[list[int], list[int]]:
        free_old = [index for index in old if self.is_free[index]]
        return free_old, [index for index in new if self.partners[index] is None]


def in_turn(
    old: Sequence[Hashable], new: Sequence[Hashable], old_at: Iterable[int], new_at: Iterable[int]
) -> Iterator[IndexPair]:
    """Pairs of each key: the k-th old element with the k-th new one; None is no key."""
    waiting: defaultdict[Hashable, deque[int]] = defaultdict(deque)
    for index in old_at:
        if old[index] is not None:
            waiting[old[index]].append(index)
    for index in new_at:
        if waiting.get(new[index]):
            yield waiting[new[index]].popleft(), index


def common_ends(old: Sequence[T], new: Sequence[S]) -> tuple[int, int]:
    """How many elements two lists share at the beginning, and how many of the rest at the end."""
    shorter = min(len(old), len(new))
    pairs = zip(old, new, strict=False)
    first = next((at for at, (one, other) in enumerate(pairs) if one != other), shorter)
    pairs = zip(reversed(old), reversed(new), strict=False)
    last = next((at for at, (one, other) in enumerate(pairs) if one != other), shorter)
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


def adopt(old: Sequence[Pattern], new: Sequence[Pattern], source: Source) -> tuple[Pattern, ...]:
    """The new patterns, each knowing where it came from if it is one of the old ones.

    Args:
        old: the patterns of the document that is edited.
        new: the patterns that are to take their place.
        source: the text that the document was read from, before all edits.
    """
    first, last = common_ends([*map(id, old)], [*map(id, new)])
    old, between = old[first : len(old) - last], new[first : len(new) - last]
    known = {_origin(each, source) for _, each in walk(between)}
    if None not in known:
        return tuple(new)
    old_parts, parts = ([Part(each, at) for at, each in enumerate(side)] for side in (old, between))
    _Adoption(source, known - {None}).adopt(old_parts, parts)
    return (*new[:first], *(_result(each, source) for each in parts), *new[len(new) - last :])


def _origin(pattern: Pattern, source: Source) -> ReadFrom | None:
    """Where in a text a pattern came from, if it is this text."""
    origin = pattern.came_from
    return origin if origin is not None and origin[0] is source else None


def _result(part: Part, source: Source) -> Pattern:
    """The pattern, which knows where it came from, as its elements do."""
    pattern, partner = part.pattern, part.partner
    came_from = _origin(pattern, source) or (partner and _origin(partner.pattern, source))
    came_from = came_from or pattern.came_from
    if partner and part.is_whole:
        elements = partner.pattern.elements
    else:
        elements = tuple([_result(each, source) for each in part.parts])
    is_same = all(one is other for one, other in zip(elements, pattern.elements, strict=True))
    if is_same and came_from == pattern.came_from:
        return pattern
    return Pattern._of_checked(pattern.value, elements, read_from(pattern), came_from)


def _is_taken(part: Part) -> bool:
    """Whether it has a partner, or is inside a pattern that is equal to its partner."""
    return part.partner is not None or any(each.is_whole for each in part.around)


def _loose(parts: Iterable[Part]) -> Iterator[Part]:
    """These and all below them, without what has a partner."""
    for part in parts:
        if part.partner is None:
            yield part
            yield from _loose(part.parts)


def _is_in_walk(part: Part) -> bool:
    """Whether it is a node of a walk."""
    return any(each.is_walk for each in islice(part.around, 1, 2))


_pattern = attrgetter("pattern")


def _name(part: Part) -> str | None:
    return part.pattern.value.identity or None


def _labels(part: Part) -> frozenset[str]:
    """Its labels, without that of a walk, which only says that there are several hops."""
    return part.pattern.value.labels - {WALK}


class _Adoption:
    """Pairs new patterns that do not know where they came from with old ones.

    Args:
        source: the text that the old patterns came from.
        known: where in it the new patterns came from that know it.
    """

    def __init__(self, source: Source, known: Collection[ReadFrom | None]) -> None:
        self._source, self._known = source, known
        self._lists: list[tuple[list[Part], list[Part], Pairing]] = []

    def adopt(self, old: list[Part], new: list[Part]) -> None:
        """Make partners of the patterns of two documents, and of those below them."""
        self._open(old, new)
        alike = self._pair_alike
        while alike(self._came_from) or alike(_pattern) or self._pair_in_place():
            pass

    def _came_from(self, part: Part) -> ReadFrom | None:
        return _origin(part.pattern, self._source)

    def _open(self, old: list[Part], new: list[Part]) -> None:
        """Pair the elements of two partners: by where they came from, equality, then name."""
        pairing = Pairing(len(old), len(new))
        self._lists.append((old, new, pairing))
        for key in self._came_from, _pattern, _name:
            keys = self._keys(old, new, key)
            for one, other in pairing.pair_by(*keys) if any(keys[1]) else ():
                self._pair(old[one], new[other])

    def _pair(self, old: Part, new: Part) -> None:
        old.partner, new.partner = new, old
        old.is_whole = new.is_whole = old.pattern == new.pattern
        if not new.is_whole:
            self._open(old.parts, new.parts)

    def _keys(
        self, old: Iterable[Part], new: Iterable[Part], key: Callable[[Part], Hashable]
    ) -> tuple[list[Hashable], list[Hashable]]:
        """The keys of old and new patterns; None for a pattern that may not be paired by this key.

        A new pattern that knows where it came from is never another old one.
        """
        known = set() if key == self._came_from else self._known

        def key_of(each: Part, may_not: object) -> Hashable:
            return None if _is_taken(each) or may_not else key(each)

        return (
            [key_of(each, self._came_from(each) in known) for each in old],
            [key_of(each, known and self._came_from(each)) for each in new],
        )

    # --- the steps: each returns whether it found a pair

    def _pair_alike(self, key: Callable[[Part], Hashable]) -> bool:
        """Patterns with one key in any lists, the k-th with the k-th."""
        old = [part for roots, _, _ in self._lists for part in _loose(roots)]
        new = [part for _, roots, _ in self._lists for part in _loose(roots)]
        new = [part for part in new if not _is_in_walk(part)]  # its old text would break the walk
        pairs = in_turn(*self._keys(old, new, key), range(len(old)), range(len(new)))
        found = [(old[one], new[other]) for one, other in pairs]
        return self._pair_all(sorted(found, key=lambda pair: -pair[0].pattern.levels))

    def _pair_in_place(self) -> bool:
        """The only patterns with their labels between the same partners.

        Where one old and one new pattern are left there, one may have more labels than the other.
        """
        found: list[tuple[Part, Part]] = []
        for old, new, pairing in self._lists:
            old_keys, new_keys = self._keys(old, new, _labels)
            pairs = pairing.pair_only_ones(old_keys, new_keys)
            for old_gap, new_gap in pairing.gaps():
                olds = [at for at in old_gap if old_keys[at] is not None]
                news = [at for at in new_gap if new_keys[at] is not None]
                if len(olds) == len(news) == 1:
                    one, other = _labels(old[olds[0]]), _labels(new[news[0]])
                    pairs += [(olds[0], news[0])] if one <= other or other <= one else []
            found += [(old[one], new[other]) for one, other in pairs]
        return self._pair_all(found)

    def _pair_all(self, pairs: Iterable[tuple[Part, Part]]) -> bool:
        found = False
        for old, new in pairs:
            if not _is_taken(old) and not _is_taken(new):
                self._pair(old, new)
                found = True
        return found
