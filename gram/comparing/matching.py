"""Which elements of an old list are which of a new one.

They are matched by identity, then by what they are. Their order is kept apart: an element that
moved has its partner all the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence

from attrs import frozen

from ..editing import Pairing, align, longest_increasing
from ..trees import Pattern, Value, exact, walk
from ..writing import write_value

_ALIKE = 0.6
_RARE = 4


@frozen
class Matching:
    """The partners of two lists.

    Attributes:
        pairs: the old and the new index of each element that is in both, by new index.
        removed: the old indices of what is in the old list alone.
        added: the new indices of what is in the new list alone.
        moved: those of ``pairs`` that have not kept their order with the others, as few as
            possible.
    """

    pairs: tuple[tuple[int, int], ...]
    removed: tuple[int, ...]
    added: tuple[int, ...]
    moved: frozenset[tuple[int, int]]


def match(old: Sequence[Pattern], new: Sequence[Pattern]) -> Matching:
    """Match the elements of two lists, one with one.

    Elements are partners when they are equal, else when they have one identity (with the same
    labels first). Of those that are left, by what they are: those that differ in their identity
    alone, then the most alike, judged by the words in them, then anonymous ones and atoms that
    are the only ones with their labels between the same partners. Of several that are the same
    the k-th is the k-th. The cost is O(n log n).

    >>> from gram import loads
    >>> match(loads("(a) (b {k: 1})"), loads("(b {k: 2}) (a) (c)"))
    Matching(pairs=((1, 0), (0, 1)), removed=(), added=(2,), moved=frozenset({(1, 0)}))
    """
    pairing = Pairing(len(old), len(new))
    for key in (_itself, _name_and_labels, _name, _all_but_name):
        if any(pairing.old_is_free) and any(pairing.new_is_free):
            old_keys, new_keys = (
                [key(each) if is_free else None for each, is_free in zip(*side, strict=True)]
                for side in ((old, pairing.old_is_free), (new, pairing.new_is_free))
            )
            pairing.pair_by(old_keys, new_keys)
    _pair_alike(pairing, old, new)
    _pair_only_ones(pairing, old, new)
    return matching_of(pairing.partners, len(old))


def match_values(old: Sequence[Value], new: Sequence[Value]) -> Matching:
    """Match the items of two lists of values, one with one.

    Equal items are partners; what is left between the same partners is paired in order.

    >>> match_values([1, 2, 3], [1, 20, 3, 4]).added
    (3,)
    """
    return matching_of(align(old, new), len(old))


def matching_of(partners: Sequence[int | None], old_size: int) -> Matching:
    """The matching that the old index of each new element makes, None of one that was added."""
    pairs = tuple((old, new) for new, old in enumerate(partners) if old is not None)
    found = {old for old, _ in pairs}
    staying = {pairs[index] for index in longest_increasing([old for old, _ in pairs])}
    return Matching(
        pairs,
        tuple(index for index in range(old_size) if index not in found),
        tuple(index for index, old in enumerate(partners) if old is None),
        frozenset(pairs) - staying,
    )


# --- keys: elements with the same key are partners, None is no key


def _itself(element: Pattern) -> Hashable:
    return element


def _name_and_labels(element: Pattern) -> Hashable:
    return (element.value.identity, element.value.labels) if element.value.identity else None


def _name(element: Pattern) -> Hashable:
    return element.value.identity or None


def _all_but_name(element: Pattern) -> Hashable:
    subject = element.value
    if not subject.properties and not element.elements:
        return None
    return subject.labels, exact(subject.properties), element.elements


def _role(element: Pattern) -> Hashable:
    """What an element without a name, or an atom that has labels, is in its list."""
    subject = element.value
    if subject.identity and (element.elements or not subject.labels):
        return None
    return subject.labels, bool(subject.identity), len(element.elements) > 0


# --- what is left


def _pair_alike(pairing: Pairing, old: Sequence[Pattern], new: Sequence[Pattern]) -> None:
    """Pair the elements that have most of their words in common, the most alike first.

    Only elements that share a rare word are compared, so that the cost stays linear.
    """
    old_words, new_words = (
        {at: _words(each[at]) for at, is_free in enumerate(free) if is_free}
        for each, free in ((old, pairing.old_is_free), (new, pairing.new_is_free))
    )
    old_with, new_with = (
        _groups((word, at) for at in words for word in words[at])
        for words in (old_words, new_words)
    )
    together = {
        (one, other)
        for word, places in new_with.items()
        if len(places) <= _RARE and len(old_with.get(word, ())) <= _RARE
        for one in old_with.get(word, ())
        for other in places
    }
    likeness = {pair: _likeness(old_words[pair[0]], new_words[pair[1]]) for pair in together}
    for one, other in sorted(likeness, key=lambda pair: (-likeness[pair], pair)):
        is_free = pairing.old_is_free[one] and pairing.new_is_free[other]
        if is_free and likeness[one, other] >= _ALIKE:
            pairing.pair(one, other)


def _pair_only_ones(pairing: Pairing, old: Sequence[Pattern], new: Sequence[Pattern]) -> None:
    """Pair what is the only one in its role between two partners."""
    for old_gap, new_gap in list(pairing.gaps()):
        old_by, new_by = (
            _groups((_role(each[at]), at) for at in gap)
            for each, gap in ((old, old_gap), (new, new_gap))
        )
        for role, places in old_by.items():
            if role and len(places) == len(new_by.get(role, ())) == 1:
                pairing.pair(places[0], new_by[role][0])


def _groups(keys: Iterable[tuple[Hashable, int]]) -> dict[Hashable, list[int]]:
    groups: defaultdict[Hashable, list[int]] = defaultdict(list)
    for key, index in keys:
        groups[key].append(index)
    return groups


def _likeness(one: frozenset[Hashable], other: frozenset[Hashable]) -> float:
    return 2 * len(one & other) / (len(one) + len(other))


def _words(element: Pattern) -> frozenset[Hashable]:
    """The words of an element and all below it, without its own name and labels."""
    inside = [each for _, each in walk(element)]
    words = {
        (key, word)
        for each in inside
        for key, value in each.value.properties.items()
        for word in write_value(value).split()
    }
    names = {name for each in inside[1:] for name in (each.value.identity, *each.value.labels)}
    return frozenset(words | names - {""})
