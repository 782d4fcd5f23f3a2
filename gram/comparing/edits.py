"""Edits of trees: elements are matched, and edits are found, applied and inverted.

An edit has the form of what it changes. A pattern is edited as a map of its identity, labels,
properties and elements.

Elements of two lists are matched by identity, then by what they are. Their order does not matter
for that: an element that moved has its partner, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from hashlib import sha256
from itertools import product
from typing import Any, TypeAlias, Union

import attrs
from attrs import field, frozen
from pyrsistent import PMap, PVector, pmap, pvector

from ..editing import Pairing, align, longest_increasing
from ..errors import GramError
from ..trees import Pattern, Subject, Value, exact, origin, walk
from ..words import dotted
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
    for key in _KEYS:
        pairing.pair_by([*map(key, old)], [*map(key, new)])
    _pair_alike(pairing, old, new)
    pairing.pair_only_ones([*map(_role, old)], [*map(_role, new)])
    return matching_of(pairing.partners, len(old))


def match_values(old: Sequence[Value], new: Sequence[Value]) -> Matching:
    """Match the items of two lists of values, one with one.

    Equal items are partners; what is left between the same partners is paired in order.

    >>> match_values([1, 2, 3], [1, 20, 3, 4]).added
    (3,)
    """
    return matching_of(align(old, new), len(old))


def matching_of(partners: Sequence[int | None], old_size: int) -> Matching:
    """The matching, from the old index of each new element; None for an element that was added."""
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


def _all_but_name(element: Pattern) -> Hashable:
    subject = element.value
    if not subject.properties and not element.elements:
        return None
    return subject.labels, exact(subject.properties), element.elements


_KEYS: tuple[Callable[[Pattern], Hashable], ...] = (
    lambda element: element,
    lambda element: (
        (element.value.identity, element.value.labels) if element.value.identity else None
    ),
    lambda element: element.value.identity or None,
    _all_but_name,
)


def _role(element: Pattern) -> Hashable:
    """What is compared of an element without a name, and of an atom with labels."""
    subject = element.value
    if subject.identity and (element.elements or not subject.labels):
        return None
    return subject.labels, bool(subject.identity), len(element.elements) > 0


# --- what is left


def _pair_alike(pairing: Pairing, old: Sequence[Pattern], new: Sequence[Pattern]) -> None:
    """Pair the elements that have most of their words in common, the most alike first.

    Only elements that share a rare word are compared, so that the cost stays linear.
    """
    words = [
        {at: _words(each[at]) for at in free}
        for each, free in zip((old, new), pairing.free(), strict=True)
    ]
    with_word: defaultdict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, found in enumerate(words):
        for at, inside in found.items():
            for word in inside:
                with_word[word][side].append(at)
    likeness: dict[tuple[int, int], float] = {}
    for ones, others in with_word.values():
        if len(ones) <= _RARE and len(others) <= _RARE:
            for one, other in product(ones, others):
                both = words[0][one], words[1][other]
                likeness[one, other] = 2 * len(both[0] & both[1]) / sum(map(len, both))
    for one, other in sorted(likeness, key=lambda pair: (-likeness[pair], pair)):
        is_free = pairing.is_free[one] and pairing.partners[other] is None
        if is_free and likeness[one, other] >= _ALIKE:
            pairing.pair(one, other)


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


Item: TypeAlias = Union[Pattern, Value]
"""What a list holds: the elements of a pattern, or values."""
EditPath: TypeAlias = tuple[Union[int, str], ...]
"""The way to a part: the place in a list, a key of a map, a part of a pattern."""


class DiffError(GramError, ValueError):
    """A diff does not fit what it is applied to, or a pattern is not a diff.

    Attributes:
        msg: what does not fit, without the place.
        path: the way to it, such as ``(0, "properties", "model")``.
        near: the innermost pattern around it, if there is one.
    """

    def __init__(self, msg: str, path: EditPath = (), near: Pattern | None = None) -> None:
        super().__init__(msg, path, near)
        self.msg, self.path, self.near = msg, path, near

    def _text(self) -> str:
        place = origin(self.near) if self.near else None
        name = self.near.value.identity if self.near else ""
        parts = [str(place) if place else "", dotted(self.path), f"`{name}`" if name else ""]
        return ": ".join([part for part in parts if part] + [self.msg])


def _frozen(entries: Mapping[Any, Any]) -> PMap[Any, Any]:
    return pmap(entries)


@frozen
class Replaced:
    """A value that became another one; None is a value that is not there."""

    old: Item | None = field(eq=exact)
    new: Item | None = field(eq=exact)


@frozen
class Items:
    """The changes of a list.

    Attributes:
        old, new: the number of items before and after, and a digest of their names.
        removed: the items that were removed, by their old index.
        added: the items that were added, by their new index.
        moved: the new index of each item that did not keep its order with the others, by its old
            index.
        inside: what changed in the items that are in both, by old index.
    """

    old: str
    new: str
    removed: PMap[int, Item] = field(converter=_frozen, eq=exact)
    added: PMap[int, Item] = field(converter=_frozen, eq=exact)
    moved: PMap[int, int] = field(converter=_frozen)
    inside: PMap[int, Edit] = field(converter=_frozen)

    def partners(self) -> list[int | None]:
        """For each new item its old index, or None for one that was added."""
        came_from = {new: old for old, new in self.moved.items()}
        gone = self.removed.keys() | self.moved.keys()
        staying = (index for index in range(size_of(self.old)) if index not in gone)
        return [
            None
            if index in self.added
            else came_from[index]
            if index in came_from
            else next(staying)
            for index in range(size_of(self.new))
        ]


Edit: TypeAlias = Union[Replaced, Items, "PMap[str, Edit]"]
"""A change; those of the entries of a map, or of the parts of a pattern, by their keys."""


def between(old: Any, new: Any) -> Edit | None:
    """What makes ``new`` of ``old``, two trees, values or lists; None when they are equal."""
    if exact(old) == exact(new):
        return None
    if isinstance(old, Pattern) and isinstance(new, Pattern):
        return between(_parts(old), _parts(new))
    if isinstance(old, PMap) and isinstance(new, PMap):
        keys = old.keys() | new.keys()
        return _some({key: between(old.get(key), new.get(key)) for key in keys})
    for kind, pair in ((tuple, match), (PVector, match_values)):
        if isinstance(old, kind) and isinstance(new, kind):
            found = pair(old, new)
            return Items(
                _outline(old),
                _outline(new),
                {index: old[index] for index in found.removed},
                {index: new[index] for index in found.added},
                dict(found.moved),
                _some({one: between(old[one], new[other]) for one, other in found.pairs}),
            )
    return Replaced(old, new)


def applied(edit: Edit | None, old: Any, path: EditPath = (), near: Pattern | None = None) -> Any:
    """What an edit makes of ``old``.

    Args:
        edit: the edit; None changes nothing.
        old: a tree, a value or a list.
        path: the way to it, for the message.
        near: the pattern around it, for the message.

    Raises:
        DiffError: the edit was made of something else.
    """
    if edit is None:
        return old
    if isinstance(edit, Replaced):
        _expect(edit.old, old, path, near)
        return edit.new
    if isinstance(old, Pattern):
        near = old
    if isinstance(edit, PMap):
        if isinstance(old, Pattern):
            made = applied(edit, _parts(old), path, near)
            subject = Subject(made.get("identity", ""), made["labels"], made["properties"])
            return attrs.evolve(old, value=subject, elements=made["elements"])
        if not isinstance(old, PMap):
            raise DiffError(f"expected a map, found {_shown(old)}", path, near)
        for key, inner in edit.items():
            new = applied(inner, old.get(key), (*path, key), near)
            old = old.discard(key) if new is None else old.set(key, new)
        return old
    if not isinstance(old, tuple | PVector):
        raise DiffError(f"expected a list, found {_shown(old)}", path, near)
    for index, item in edit.removed.items():
        _expect(item, old[index] if index < len(old) else None, (*path, index), near)
    if _outline(old) != edit.old:
        raise DiffError("its items are not those that the diff was made of", path, near)
    items = [
        edit.added[new]
        if index is None
        else applied(edit.inside.get(index), old[index], (*path, index), near)
        for new, index in enumerate(edit.partners())
    ]
    return tuple(items) if isinstance(old, tuple) else pvector(items)


def inverted(edit: Edit) -> Edit:
    """The edit that makes the old of the new again."""
    if isinstance(edit, Replaced):
        return Replaced(edit.new, edit.old)
    if isinstance(edit, PMap):
        return _some({key: inverted(inner) for key, inner in edit.items()})
    place = {old: new for new, old in enumerate(edit.partners()) if old is not None}
    moved = {new: old for old, new in edit.moved.items()}
    inside = {place[index]: inverted(inner) for index, inner in edit.inside.items()}
    return Items(edit.new, edit.old, edit.added, edit.removed, moved, inside)


# --- parts, outlines, messages


def _parts(pattern: Pattern) -> PMap[str, Any]:
    subject = pattern.value
    return _frozen(
        {
            "identity": subject.identity,
            "labels": _frozen(dict.fromkeys(subject.labels, True)),
            "properties": subject.properties,
            "elements": pattern.elements,
        }
    )


def _some(steps: Mapping[Any, Edit | None]) -> PMap[Any, Edit]:
    return _frozen({key: step for key, step in steps.items() if step is not None})


def _outline(items: tuple[Pattern, ...] | PVector[Value]) -> str:
    """The number of items, and a digest of the names of patterns, or of the values."""
    names = [
        repr((item.value.identity, sorted(item.value.labels)))
        if isinstance(item, Pattern)
        else write_value(item)
        for item in items
    ]
    return f"{len(names)}:{sha256(repr(names).encode()).hexdigest()[:16]}"


def size_of(outline: str) -> int:
    """How many items a list has, by its outline."""
    return int(outline.partition(":")[0])


def _expect(expected: object, found: object, path: EditPath, near: Pattern | None) -> None:
    if exact(expected) != exact(found):
        message = f"expected {_shown(expected)}, found {_shown(found)}"
        raise DiffError(message, path, found if isinstance(found, Pattern) else near)


def _shown(part: Any) -> str:
    if part is None:
        return "nothing"
    if isinstance(part, tuple):
        return "elements"
    text = repr(part) if isinstance(part, Pattern) else write_value(part)
    return text if len(text) <= 60 else f"{text[:60]}…"
