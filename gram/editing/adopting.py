"""Tells patterns that were built anew, or read elsewhere, which one of a document they are.

A changed pattern knows where it came from. One that does not is taken for the equal one of the
document, else for the one of the same name in its list, else for the only one that is left in its
place and has no other labels.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

from ..source import Source
from ..trees import WALK, Pattern, ReadFrom, Value, exact, read_from, walk, walk_nodes

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

        Elements in the same place of lists of equal length come first. Of several with one key
        the k-th old is paired with the k-th new, first among those between the same partners.

        Returns:
            The new pairs.
        """
        found: list[tuple[int, int]] = []

        def add(old_index: int, new_index: int) -> None:
            self.pair(old_index, new_index)
            found.append((old_index, new_index))

        for index in range(len(old)) if len(old) == len(new) else ():
            free = self.old_is_free[index] and self.new_is_free[index]
            if free and new[index] is not None and _equal(old[index], new[index]):
                add(index, index)
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
    adopted = _Adoption(old, between, source, known).result()
    return (*new[:first], *adopted, *new[len(new) - last :])


def _origin(pattern: Pattern, source: Source) -> ReadFrom | None:
    """Where in a text a pattern came from, if it is this text."""
    origin = pattern.came_from
    return origin if origin is not None and origin[0] is source else None


class _Node:
    """A pattern at its place.

    Attributes:
        pattern: the pattern.
        parent: the node around it.
        came_from: where in the source it came from, or None.
        partner: the node of the other document that it is.
        is_kept: whether the patterns of both are equal.
    """

    def __init__(self, pattern: Pattern, source: Source, parent: _Node | None = None) -> None:
        self.pattern, self._source, self.parent = pattern, source, parent
        self.came_from = _origin(pattern, source)
        self.partner: _Node | None = None
        self.is_kept = False
        self._elements: list[_Node] | None = None

    @property
    def elements(self) -> list[_Node]:
        """Its elements."""
        if self._elements is None:
            self._elements = [_Node(each, self._source, self) for each in self.pattern.elements]
        return self._elements

    @property
    def is_taken(self) -> bool:
        """Whether it has a partner, or is inside a pattern that is equal to its partner."""
        around = self.parent
        while around is not None and not self.partner:
            if around.is_kept:
                return True
            around = around.parent
        return self.partner is not None

    def loose(self) -> Iterator[_Node]:
        """It and all below it, but for what has a partner."""
        if self.partner is None:
            yield self
            for each in self.elements:
                yield from each.loose()

    def result(self) -> Pattern:
        """The pattern, which knows where it came from, with such elements."""
        pattern = self.pattern
        came_from = self.came_from or (self.partner.came_from if self.partner else None)
        came_from = came_from or pattern.came_from
        if self.partner and self.is_kept:
            elements = self.partner.pattern.elements
        else:
            elements = tuple([each.result() for each in self._elements or ()])
        changed = any(
            one is not other for one, other in zip(elements, pattern.elements, strict=False)
        )
        if not changed and came_from == pattern.came_from:
            return pattern
        elements = elements if changed else pattern.elements
        return Pattern._of_checked(pattern.value, elements, read_from(pattern), came_from)


class _List:
    """The elements of two partners."""

    def __init__(self, old: list[_Node], new: list[_Node]) -> None:
        self.old, self.new = old, new
        self.pairing = Pairing(len(old), len(new))


Key = Callable[[_Node], Hashable]


def _came_from(node: _Node) -> ReadFrom | None:
    return node.came_from


def _pattern(node: _Node) -> Pattern:
    return node.pattern


def _name(node: _Node) -> str | None:
    return node.pattern.value.identity or None


def _labels(node: _Node) -> frozenset[str]:
    """The labels that somebody gave: that of a walk says that it has two or more hops."""
    return node.pattern.value.labels - {WALK}


class _Adoption:
    """Pairs what does not know where it came from.

    Args:
        old: the patterns of the document that is edited.
        new: the patterns that are to take their place.
        source: the text that the document was read from, before all edits.
        known: where the new patterns came from that know it.
    """

    def __init__(
        self,
        old: Sequence[Pattern],
        new: Sequence[Pattern],
        source: Source,
        known: set[ReadFrom | None],
    ) -> None:
        self._known = known - {None}
        self._lists: list[_List] = []
        self._new = [_Node(each, source) for each in new]
        self._open([_Node(each, source) for each in old], self._new)
        steps = (self._pair_known, self._pair_equal, self._pair_in_place)
        while any(step() for step in steps):
            pass

    def result(self) -> tuple[Pattern, ...]:
        """The new patterns, as `adopt` gives them."""
        return tuple([each.result() for each in self._new])

    def _open(self, old: list[_Node], new: list[_Node]) -> None:
        """Pair the elements of two partners: those that know it, equal ones, those of a name."""
        lists = _List(old, new)
        self._lists.append(lists)
        for key in _came_from, _pattern, _name:
            old_keys = [key(node) if self._is_free(node, key) else None for node in old]
            new_keys = [key(node) if self._is_loose(node, key) else None for node in new]
            if any(each is not None for each in new_keys):
                for one, other in lists.pairing.pair_by(old_keys, new_keys):
                    self._pair(old[one], new[other])

    def _pair(self, old: _Node, new: _Node) -> None:
        old.partner, new.partner = new, old
        old.is_kept = new.is_kept = old.pattern == new.pattern
        if not new.is_kept:
            self._open(old.elements, new.elements)

    def _is_free(self, old: _Node, key: Key | None = None) -> bool:
        """Whether an old pattern may be one that does not know where it came from."""
        return not old.is_taken and (key is _came_from or old.came_from not in self._known)

    def _is_loose(self, new: _Node, key: Key | None = None) -> bool:
        """Whether a new pattern does not know where it came from, and has no partner yet."""
        return not new.is_taken and (key is _came_from or new.came_from is None)

    # --- the steps: each returns whether it found a pair

    def _pair_known(self) -> bool:
        """What knows where it came from, and is in another list now."""
        old = {node.came_from: node for node in self._loose_old() if node.came_from}
        found = [(old.get(node.came_from), node) for node in self._loose_new() if node.came_from]
        return self._pair_all((one, other) for one, other in found if one is not None)

    def _pair_equal(self) -> bool:
        """Equal patterns in two lists, the k-th with the k-th."""
        equal = _alike(*self._loose(), _pattern)
        pairs = (pair for old, new in equal for pair in zip(old, new, strict=False))
        return self._pair_all(sorted(pairs, key=lambda pair: -pair[0].pattern.levels))

    def _pair_in_place(self) -> bool:
        """Patterns of the same labels, where these are left alone between the same partners.

        What is the only one left there may have labels more or less.
        """
        found: list[tuple[_Node, _Node]] = []
        for lists in self._lists:
            for old_gap, new_gap in lists.pairing.gaps():
                old = [lists.old[index] for index in old_gap if self._is_free(lists.old[index])]
                new = [lists.new[index] for index in new_gap if self._is_loose(lists.new[index])]
                pairs = list(_only_ones(old, new, _labels))
                found += pairs
                paired = {node for pair in pairs for node in pair}
                old = [node for node in old if node not in paired]
                new = [node for node in new if node not in paired]
                if len(old) == len(new) == 1:
                    one, other = _labels(old[0]), _labels(new[0])
                    if one <= other or other <= one:
                        found.append((old[0], new[0]))
        return self._pair_all(found)

    def _pair_all(self, pairs: Iterable[tuple[_Node, _Node]]) -> bool:
        found = False
        for old, new in pairs:
            if not old.is_taken and not new.is_taken:
                self._pair(old, new)
                found = True
        return found

    # --- where they look

    def _loose_old(self) -> Iterator[_Node]:
        return (node for lists in self._lists for root in lists.old for node in root.loose())

    def _loose_new(self) -> Iterator[_Node]:
        """All but the nodes of a new walk: their old text would break it."""
        for root in (root for lists in self._lists for root in lists.new):
            for node in root.loose():
                hop = node.parent
                if hop is None or hop.parent is None or walk_nodes(hop.parent.pattern) is None:
                    yield node

    def _loose(self) -> tuple[list[_Node], list[_Node]]:
        """The old and the new patterns that may be one, wherever they are."""
        old = [node for node in self._loose_old() if self._is_free(node)]
        new = [node for node in self._loose_new() if self._is_loose(node)]
        return old, new


def _alike(
    old: Iterable[_Node], new: Iterable[_Node], key: Key
) -> Iterator[tuple[list[_Node], list[_Node]]]:
    """The old and the new nodes of each key that both have, in the order of the new ones."""
    by_key: defaultdict[Hashable, list[_Node]] = defaultdict(list)
    for node in old:
        by_key[key(node)].append(node)
    wanted: dict[Hashable, list[_Node]] = {}
    for node in new:
        wanted.setdefault(key(node), []).append(node)
    return ((by_key[each], nodes) for each, nodes in wanted.items() if each in by_key)


def _only_ones(
    old: Iterable[_Node], new: Iterable[_Node], key: Key
) -> Iterator[tuple[_Node, _Node]]:
    """The old and the new node of each key that one of both has."""
    return (
        (one[0], other[0]) for one, other in _alike(old, new, key) if len(one) == len(other) == 1
    )
