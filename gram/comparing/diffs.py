"""What is different between two programs, as a value: found, applied, inverted, kept as gram.

An edit has the form of what it changes. A pattern is edited as a map of its identity, labels,
properties and elements.

Elements of two lists are matched by identity, then by what they are. Their order does not matter
for that: an element that moved has its partner, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import product
from typing import Any, TypeAlias, TypeVar

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


EditPath: TypeAlias = tuple[Any, ...]
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


@frozen
class Change:
    """A change of a value, of a list, or of an item in a list.

    Attributes:
        kind: ``Changed`` for a value that became another one, ``List`` for a list with changes in
            it; ``Removed``, ``Added`` and ``Moved`` for an item of such a list.
        at: the way to it in the old trees, ``(0, "properties", "model")``; for what was added, the
            last step is its new index.
        old, new: what it was and what it is; None is nothing. Of a list these are its outlines; of
            an item that moved, ``new`` is its new index.
    """

    kind: str
    at: EditPath
    old: Any = field(default=None, eq=exact)
    new: Any = field(default=None, eq=exact)


Step: TypeAlias = tuple[Change, ...]
"""Changes that are made together, sorted by where they are. The first is that of the whole list."""


def _step(changes: Iterable[Change]) -> Step:
    return tuple(sorted(changes, key=lambda change: (change.at, change.kind)))


def _between(old: Any, new: Any, at: EditPath) -> Iterator[Change]:
    """What makes ``new`` of ``old``, two trees, values or lists."""
    if exact(old) == exact(new):
        return
    if isinstance(old, Pattern) and isinstance(new, Pattern):
        old, new = _parts(old), _parts(new)
    if isinstance(old, PMap) and isinstance(new, PMap):
        for key in old.keys() | new.keys():
            yield from _between(old.get(key), new.get(key), (*at, key))
        return
    for kind, pair in ((tuple, match), (PVector, match_values)):
        if isinstance(old, kind) and isinstance(new, kind):
            found = pair(old, new)
            yield Change("List", at, _outline(old), _outline(new))
            yield from (Change("Removed", (*at, index), old[index]) for index in found.removed)
            yield from (Change("Added", (*at, index), None, new[index]) for index in found.added)
            yield from (Change("Moved", (*at, one), None, other) for one, other in found.moved)
            for one, other in found.pairs:
                yield from _between(old[one], new[other], (*at, one))
            return
    yield Change("Changed", at, old, new)


_Rows: TypeAlias = Sequence[tuple[EditPath, Change]]
"""The changes of a part and of what is in it, each with the rest of the way to it."""


def _by_step(rows: Iterable[tuple[EditPath, Change]]) -> dict[Any, _Rows]:
    """The changes in each entry of a map, part of a pattern or item of a list."""
    found: defaultdict[Any, list[tuple[EditPath, Change]]] = defaultdict(list)
    for (step, *rest), change in rows:
        found[step].append((tuple(rest), change))
    return {**found}


class _Items:
    """The changes of a list.

    Attributes:
        removed, added, moved: those of its items, by the last step of the way to each.
        inside: the changes in items that are in both lists, by old index.
        partners: for each new item its old index, or None for one that was added.

    Raises:
        ValueError: the changes do not make a list.
    """

    def __init__(self, rows: _Rows) -> None:
        (_, whole), *below = rows
        removed, added, moved = (
            {way[0]: change for way, change in below if len(way) == 1 and change.kind == kind}
            for kind in ("Removed", "Added", "Moved")
        )
        own = {*removed.values(), *added.values(), *moved.values()}
        self.removed, self.added, self.moved = removed, added, moved
        self.inside = _by_step(row for row in below if row[1] not in own)
        old_size, new_size = (int(str(side).partition(":")[0]) for side in (whole.old, whole.new))
        came_from = {change.new: old for old, change in moved.items()}
        staying = (at for at in range(old_size) if at not in removed and at not in moved)
        self.partners = [
            None if at in added else came_from[at] if at in came_from else next(staying, None)
            for at in range(new_size)
        ]
        new_ones = [new for new, old in enumerate(self.partners) if old is None]
        kept = [old for old in self.partners if old is not None]
        if sorted(added) != new_ones or sorted([*kept, *removed]) != [*range(old_size)]:
            raise ValueError(rows)


def _applied(rows: _Rows, old: Any, path: EditPath = (), near: Pattern | None = None) -> Any:
    """What changes make of ``old``, a tree, a value or a list.

    Args:
        rows: the changes.
        old: what they are applied to.
        path: the way to it, for the message.
        near: the pattern around it, for the message.

    Raises:
        DiffError: the changes are of something else.
    """
    rest, change = rows[0]
    if not rest and change.kind == "Changed":
        _expect(change.old, old, path, near)
        return change.new
    if isinstance(old, Pattern):
        made = _applied(rows, _parts(old), path, old)
        subject = Subject(*(made.get(name, ()) for name in ("identity", "labels", "properties")))
        return attrs.evolve(old, value=subject, elements=made.get("elements", ()))
    if rest:
        if not isinstance(old, PMap):
            raise DiffError(f"expected a map, found {_shown(old)}", path, near)
        for key, below in _by_step(rows).items():
            new = _applied(below, old.get(key), (*path, key), near)
            old = old.discard(key) if new is None else old.set(key, new)
        return old
    if not isinstance(old, tuple | PVector):
        raise DiffError(f"expected a list, found {_shown(old)}", path, near)
    items = _Items(rows)
    for index, each in items.removed.items():
        _expect(each.old, old[index] if index < len(old) else None, (*path, index), near)
    if _outline(old) != change.old:
        raise DiffError("its items are not those that the diff was made of", path, near)
    changed = {
        index: _applied(below, old[index], (*path, index), near)
        for index, below in items.inside.items()
    }
    made = [
        items.added[new].new if index is None else changed.get(index, old[index])
        for new, index in enumerate(items.partners)
    ]
    return tuple(made) if isinstance(old, tuple) else pvector(made)


def _inverted(rows: _Rows, at: EditPath = ()) -> Iterator[Change]:
    """The changes that make the old of the new again."""
    rest, change = rows[0]
    if rest:
        for key, below in _by_step(rows).items():
            yield from _inverted(below, (*at, key))
        return
    yield Change(change.kind, at, change.new, change.old)
    if change.kind == "List":
        items = _Items(rows)
        yield from (Change("Added", (*at, i), None, each.old) for i, each in items.removed.items())
        yield from (Change("Removed", (*at, i), each.new) for i, each in items.added.items())
        yield from (Change("Moved", (*at, each.new), None, i) for i, each in items.moved.items())
        place = {old: new for new, old in enumerate(items.partners) if old is not None}
        for index, below in items.inside.items():
            yield from _inverted(below, (*at, place[index]))


# --- parts, outlines, messages


def _parts(pattern: Pattern) -> PMap[str, Any]:
    labels: PMap[str, Any] = pmap(dict.fromkeys(pattern.value.labels, True))
    parts = {"identity": pattern.value.identity, "labels": labels}
    return pmap({**parts, "properties": pattern.value.properties, "elements": pattern.elements})


def _outline(items: tuple[Pattern, ...] | PVector[Value]) -> str:
    """The number of items, and a digest of the names of patterns, or of the values."""
    names = [
        repr((item.value.identity, sorted(item.value.labels)))
        if isinstance(item, Pattern)
        else write_value(item)
        for item in items
    ]
    return f"{len(names)}:{sha256(repr(names).encode()).hexdigest()[:16]}"


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

    steps: tuple[Step, ...] = ()

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
    found = _step(_between(_patterns(a, "a"), _patterns(b, "b"), ()))
    return Diff((found,) if found else ())


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
        made = _applied([(change.at, change) for change in step], made)
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
    rows = ([(change.at, change) for change in step] for step in diff.steps[::-1])
    return Diff(tuple([_step(_inverted(each)) for each in rows]))


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
    """A diff as gram, one element for each change, which `from_pattern` reads.

    Raises:
        GramEncodeError: what was removed or added nests so deep that it cannot be an element here.

    >>> from gram import dumps, loads
    >>> _, change = to_pattern(diff(loads("(a {k: 1})"), loads("(a {k: 2})"))).elements
    >>> print(dumps(change))
    (:Changed {at: [0, "properties", "k"], new: 2, old: 1})
    """
    expect(diff, Diff, "diff", by="to_pattern")
    return Pattern(Subject("", {DIFF}), [_row(change) for step in diff.steps for change in step])


def _row(change: Change) -> Pattern:
    said = {"at": change.at, "old": change.old, "new": change.new}
    trees = [each for each in said.values() if isinstance(each, Pattern)]
    values = {key: each for key, each in said.items() if each is not None and each not in trees}
    return Pattern(Subject("", {change.kind}, values), trees)


def from_pattern(pattern: Pattern) -> Diff:
    """The diff that a pattern from `to_pattern` says.

    Raises:
        DiffError: the pattern is not a diff.
    """
    expect(pattern, Pattern, "pattern", by="from_pattern")
    steps: list[list[Change]] = []
    try:
        if pattern.value.labels != {DIFF}:
            raise ValueError(pattern)
        for change in map(_change, pattern.elements):
            if not change.at:
                steps.append([])
            steps[-1].append(change)
        found = Diff(tuple(map(_step, steps)))
        invert(found)  # which looks at all of it
    except (LookupError, TypeError, ValueError):
        raise DiffError("the pattern is not a diff", (), pattern) from None
    return found


def _change(row: Pattern) -> Change:
    (kind,), said = row.value.labels, row.value.properties
    if kind not in ("List", "Removed", "Added", "Moved", "Changed"):
        raise ValueError(row)
    sides: dict[str, Any] = {side: said.get(side) for side in ("old", "new")}
    if row.elements:
        (sides["old" if kind == "Removed" else "new"],) = row.elements
    return Change(kind, tuple(said["at"]), **sides)  # type: ignore[arg-type]  # or a TypeError
