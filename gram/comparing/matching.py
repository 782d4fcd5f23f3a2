"""Which elements of an old list are which of a new one.

They are matched by identity, then by what they are. Their order is kept apart: an element that
moved has its partner all the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence

from attrs import frozen
from pyrsistent import PMap, PVector

from ..editing import Pairing, align, longest_increasing
from ..trees import Pattern, Value, exact

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
        if not any(pairing.old_is_free) or not any(pairing.new_is_free):
            break
        pairing.pair_by(
            [key(each) if free else None for each, free in _with(old, pairing.old_is_free)],
            [key(each) if free else None for each, free in _with(new, pairing.new_is_free)],
        )
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


def _with(elements: Sequence[Pattern], flags: Sequence[bool]) -> Iterator[tuple[Pattern, bool]]:
    return zip(elements, flags, strict=True)


# --- what is left


def _pair_alike(pairing: Pairing, old: Sequence[Pattern], new: Sequence[Pattern]) -> None:
    """Pair the elements that have most of their words in common, the most alike first.

    Only elements that share a rare word are compared, so that the cost stays linear.
    """
    old_words = {at: _words(old[at]) for at in _free(pairing.old_is_free)}
    new_words = {at: _words(new[at]) for at in _free(pairing.new_is_free)}
    old_with, new_with = _places(old_words), _places(new_words)
    together = Counter(
        (one, other)
        for word, places in new_with.items()
        if len(places) <= _RARE and len(old_with.get(word, ())) <= _RARE
        for one in old_with.get(word, ())
        for other in places
    )
    likeness = {pair: _likeness(old_words[pair[0]], new_words[pair[1]]) for pair in together}
    for one, other in sorted(likeness, key=lambda pair: (-likeness[pair], pair)):
        is_free = pairing.old_is_free[one] and pairing.new_is_free[other]
        if is_free and likeness[one, other] >= _ALIKE:
            pairing.pair(one, other)


def _pair_only_ones(pairing: Pairing, old: Sequence[Pattern], new: Sequence[Pattern]) -> None:
    """Pair what is the only one in its role between two partners."""
    for old_gap, new_gap in list(pairing.gaps()):
        old_by, new_by = _by(_role, old, old_gap), _by(_role, new, new_gap)
        for role, places in old_by.items():
            if len(places) == len(new_by.get(role, ())) == 1:
                pairing.pair(places[0], new_by[role][0])


def _by(
    key: Callable[[Pattern], Hashable], elements: Sequence[Pattern], indices: Sequence[int]
) -> dict[Hashable, list[int]]:
    groups: defaultdict[Hashable, list[int]] = defaultdict(list)
    for index in indices:
        if (of := key(elements[index])) is not None:
            groups[of].append(index)
    return groups


def _free(flags: Sequence[bool]) -> Iterator[int]:
    return (index for index, free in enumerate(flags) if free)


def _places(words: dict[int, frozenset[Hashable]]) -> dict[Hashable, list[int]]:
    places: defaultdict[Hashable, list[int]] = defaultdict(list)
    for index, of in words.items():
        for word in of:
            places[word].append(index)
    return places


def _likeness(one: frozenset[Hashable], other: frozenset[Hashable]) -> float:
    return 2 * len(one & other) / (len(one) + len(other))


def _words(element: Pattern) -> frozenset[Hashable]:
    """The words of an element and all below it, without its own name and labels."""
    found: set[Hashable] = set()
    inside = [element]
    for each in inside:
        for key, value in each.value.properties.items():
            found.update((key, word) for word in _words_of(value))
        inside += each.elements
    found.update(*(({each.value.identity} - {""}) | each.value.labels for each in inside[1:]))
    return frozenset(found)


def _words_of(value: Value) -> Iterator[Hashable]:
    if isinstance(value, str):
        yield from value.split()
    elif isinstance(value, PVector):
        for item in value:
            yield from _words_of(item)
    elif isinstance(value, PMap):
        for key, item in value.items():
            yield from ((key, word) for word in _words_of(item))
    else:
        yield exact(value)
