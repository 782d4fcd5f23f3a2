"""What is different between two programs, as a value: found, applied, inverted, kept as gram.

An edit has the form of what it changes. A pattern is edited as a map of its identity, labels,
properties and elements.

Elements of two lists are matched by identity, then by what they are. Their order does not matter
for that: an element that moved has its partner, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import product
from typing import Any, TypeAlias, TypeVar, Union

import attrs
from attrs import field, frozen
from pyrsistent import PMap, PVector, pmap, pvector

from ..documents import Document
from ..editing import Pairing, align, longest_increasing
from ..errors import GramError, expect
from ..showing import Shown
from ..trees import Pattern, Subject, Value, exact, origin, patterns_of, walk
from ..words import counted, dotted
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
    rare = (sides for sides in with_word.values() if max(map(len, sides)) <= _RARE)
    likeness: dict[tuple[int, int], float] = {}
    for one, other in {pair for sides in rare for pair in product(*sides)}:
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
        staying = (index for index in range(_size_of(self.old)) if index not in gone)
        return [
            None
            if index in self.added
            else came_from[index]
            if index in came_from
            else next(staying)
            for index in range(_size_of(self.new))
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


def _size_of(outline: str) -> int:
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


# --- diffs

DIFF = "Diff"
"""The label of a diff as gram."""

Trees = TypeVar("Trees", Document, Pattern, tuple[Pattern, ...])


@frozen
class Diff(Shown):
    """What is different between two programs. It is false when it has no changes.

    Attributes:
        steps: the changes, made one after another; `then` puts those of two diffs in a row.
    """

    steps: tuple[Edit, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.steps)


def diff(
    a: Document | Pattern | Iterable[Pattern], b: Document | Pattern | Iterable[Pattern]
) -> Diff:
    """What makes ``b`` of ``a``.

    Elements are matched by identity, then by what they are; see `match`. Comments and layout do
    not count.

    Args:
        a: a document, a pattern, or patterns.
        b: the same.

    >>> from gram import loads
    >>> a, b = loads('(a {k: 1}) (b)'), loads('(a {k: 2}) (b)')
    >>> apply(diff(a, b), a) == b
    True
    """
    found = between(_patterns(a, "a"), _patterns(b, "b"))
    return Diff((found,)) if found is not None else Diff()


def apply(diff: Diff, to: Trees) -> Trees:
    """Make the changes of a diff; of a document all other bytes stay.

    Args:
        diff: the changes.
        to: what they are applied to.

    Raises:
        DiffError: the diff was made of something else; the path says where it does not fit.
    """
    expect(diff, Diff, "diff", by="apply")
    made: Any = _patterns(to, "to", by="apply")
    for step in diff.steps:
        made = applied(step, made)
    if isinstance(to, Document):
        made = to.replace(made)
    if isinstance(to, Pattern):
        if len(made) != 1:
            raise DiffError(f"the diff makes {counted(len(made), 'pattern')} of one")
        made = made[0]
    result: Trees = made
    return result


def invert(diff: Diff) -> Diff:
    """The diff that takes the changes back.

    >>> from gram import loads
    >>> a, b = loads("(a) (b)"), loads("(b) (c)")
    >>> apply(invert(diff(a, b)), b) == a
    True
    """
    expect(diff, Diff, "diff", by="invert")
    return Diff(tuple(map(inverted, diff.steps[::-1])))


def then(first: Diff, second: Diff) -> Diff:
    """The diff that does what two do one after the other."""
    expect(first, Diff, "first", by="then")
    expect(second, Diff, "second", by="then")
    return Diff(first.steps + second.steps)


def _patterns(program: Any, name: str, *, by: str = "diff") -> tuple[Pattern, ...]:
    if isinstance(program, Document):
        return program.patterns
    return patterns_of(program, name, by=by)


# --- as gram


def to_pattern(diff: Diff) -> Pattern:
    """A diff as gram, which `from_pattern` reads. Its lists nest as the changed lists do.

    Raises:
        GramEncodeError: what changed is so deep that its diff would nest deeper than 100 levels.

    >>> from gram import dumps, loads
    >>> (whole,) = to_pattern(diff(loads("(a {k: 1})"), loads("(a {k: 2})"))).elements
    >>> print(dumps(whole.elements))
    (:Changed {at: [0, "properties", "k"], new: 2, old: 1})
    """
    expect(diff, Diff, "diff", by="to_pattern")
    rows = [row for step in diff.steps for row in _written(step, ())]
    return Pattern(Subject("", {DIFF}), rows)


def _written(edit: Edit, path: EditPath) -> Iterator[Pattern]:
    if isinstance(edit, PMap):
        for key, inner in sorted(edit.items()):
            yield from _written(inner, (*path, key))
    elif isinstance(edit, Replaced):
        yield _row("Changed", path, old=edit.old, new=edit.new)
    else:
        rows = [_row("Removed", (at,), old=item) for at, item in sorted(edit.removed.items())]
        rows += [_row("Added", (at,), new=item) for at, item in sorted(edit.added.items())]
        rows += [_row("Moved", (at,), new=to) for at, to in sorted(edit.moved.items())]
        for at, inner in sorted(edit.inside.items()):
            rows += _written(inner, (at,))
        yield Pattern(_row("List", path, old=edit.old, new=edit.new).value, rows)


def _row(label: str, path: EditPath, **sides: Any) -> Pattern:
    trees = [each for each in sides.values() if isinstance(each, Pattern)]
    values = {key: each for key, each in sides.items() if each is not None and each not in trees}
    return Pattern(Subject("", {label}, {"at": path, **values}), trees)


def from_pattern(pattern: Pattern) -> Diff:
    """The diff that a pattern from `to_pattern` says.

    Raises:
        DiffError: the pattern is not a diff.
    """
    expect(pattern, Pattern, "pattern", by="from_pattern")
    try:
        if pattern.value.labels != {DIFF}:
            raise ValueError(pattern)
        return Diff(tuple([_read([row]) for row in _rows_in(pattern)]))
    except (LookupError, StopIteration, TypeError, ValueError):
        raise DiffError("the pattern is not a diff", (), pattern) from None


_Rows: TypeAlias = list[tuple[Any, Pattern]]
"""Patterns that write changes, each with the rest of its path."""


def _rows_in(pattern: Pattern) -> _Rows:
    return [(each.value.properties["at"], each) for each in pattern.elements]


def _read(rows: _Rows) -> Edit:
    if rows[0][0]:
        inside = _by_step(rows)
        "".join(inside)  # the keys of a map are texts
        return pmap({key: _read(below) for key, below in inside.items()})
    ((_, row),) = rows
    if row.value.labels == {"Changed"}:
        return Replaced(row.value.properties.get("old"), row.value.properties.get("new"))
    return _read_list(row)


def _by_step(rows: _Rows) -> dict[Any, _Rows]:
    groups: defaultdict[Any, _Rows] = defaultdict(list)
    for path, row in rows:
        groups[path[0]].append((path[1:], row))
    return groups


def _read_list(row: Pattern) -> Items:
    own: dict[str, dict[int, Any]] = {"Removed": {}, "Added": {}, "Moved": {}}
    below: _Rows = []
    for path, each in _rows_in(row):
        (label,) = each.value.labels
        sides: Any = each.value.properties
        if label in own:
            own[label][path[0]] = next(iter(each.elements), sides.get("old", sides.get("new")))
        else:
            below.append((path, each))
    record: Any = row.value.properties
    inside = {at: _read(rows) for at, rows in _by_step(below).items()}
    lists = own["Removed"], own["Added"], own["Moved"]
    made = Items(record["old"], record["new"], *lists, inside)
    partners = made.partners()
    staying = {old for old in partners if old is not None}
    if (
        sorted(made.added) != [new for new, old in enumerate(partners) if old is None]
        or sorted([*staying, *made.removed]) != [*range(_size_of(made.old))]
        or not inside.keys() <= staying
    ):
        raise ValueError(row)
    return made
