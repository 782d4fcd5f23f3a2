"""What is different between two programs, as a value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

from attrs import field, frozen
from pyrsistent import PVector, pmap

from ..documents import Document
from ..errors import expect
from ..plurals import counted
from ..trees import Pattern, Subject, exact, patterns_of
from .edits import (
    DiffError,
    Edit,
    EditPath,
    Entries,
    Item,
    Items,
    Replaced,
    applied,
    between,
    chained,
    inverted,
    size_of,
)

DIFF = "Diff"
"""The label of a diff as gram."""

KINDS = ("added", "removed", "changed", "moved", "list")

Trees = TypeVar("Trees", Document, Pattern, tuple[Pattern, ...])


@frozen
class TreeChange:
    """One change of a diff.

    Attributes:
        path: the way to what changed, from the top: the place in a list, a part of a pattern
            (``identity``, ``labels``, ``properties``, ``elements``), a key. What was added to a
            list has its new place, everything else the old one.
        kind: ``added``, ``removed``, ``changed``, ``moved``; ``list`` of a list in which something
            changed.
        old: what was there, None when nothing was; of a list, its outline.
        new: what is there, None when nothing is; of what moved, its new place.
    """

    path: EditPath
    kind: Literal["added", "removed", "changed", "moved", "list"]
    old: Item | None = field(default=None, eq=exact)
    new: Item | None = field(default=None, eq=exact)


@frozen(repr=False)
class Diff:
    """What is different between two programs; it is false when nothing is.

    Attributes:
        edit: the changes, in the form of what they change; None when there are none.
    """

    edit: Edit | None = None

    @property
    def changes(self) -> tuple[TreeChange, ...]:
        """The changes one by one, from the top down."""
        return tuple(each for each in _flat(self.edit, ()) if each.kind != "list")

    def __bool__(self) -> bool:
        return self.edit is not None

    def __repr__(self) -> str:
        return f"<Diff of {counted(len(self.changes), 'change')}>"


def diff(
    a: Document | Pattern | Iterable[Pattern], b: Document | Pattern | Iterable[Pattern]
) -> Diff:
    """What makes ``b`` of ``a``.

    Elements are matched by identity, then by what they are; see `match`. Comments and layout are
    no part of it.

    Args:
        a: a document, a pattern, or patterns.
        b: the same.

    >>> from gram import loads
    >>> a, b = loads('(a {k: 1}) (b)'), loads('(a {k: 2}) (b)')
    >>> diff(a, b).changes
    (TreeChange(path=(0, 'properties', 'k'), kind='changed', old=1, new=2),)
    >>> apply(diff(a, b), a) == b
    True
    """
    return Diff(between(_patterns(a, "a"), _patterns(b, "b")))


def apply(diff: Diff, to: Trees) -> Trees:
    """Make the changes of a diff; of a document all other bytes stay.

    Args:
        diff: the changes.
        to: what they are applied to.

    Raises:
        DiffError: the diff was made of something else; the path says where it does not fit.
    """
    expect(diff, Diff, "diff", by="apply")
    made: Any = applied(diff.edit, _patterns(to, "to", by="apply"))
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
    return Diff(inverted(diff.edit))


def then(first: Diff, second: Diff) -> Diff:
    """The diff that does what two do one after the other.

    Raises:
        DiffError: the second was not made of what the first gives.
    """
    expect(first, Diff, "first", by="then")
    expect(second, Diff, "second", by="then")
    return Diff(chained(first.edit, second.edit))


def _patterns(program: Any, name: str, *, by: str = "diff") -> tuple[Pattern, ...]:
    if isinstance(program, Document):
        return program.patterns
    return patterns_of(program, name, by=by)


# --- one by one, and as gram


def _flat(edit: Edit | None, path: EditPath) -> Iterator[TreeChange]:
    if isinstance(edit, Replaced):
        kind: Any = "added" if edit.old is None else "removed" if edit.new is None else "changed"
        yield TreeChange(path, kind, edit.old, edit.new)
    elif isinstance(edit, Entries):
        for key, inner in sorted(edit.of.items()):
            yield from _flat(inner, (*path, key))
    elif isinstance(edit, Items):
        yield TreeChange(path, "list", edit.old, edit.new)
        for index, item in sorted(edit.removed.items()):
            yield TreeChange((*path, index), "removed", item)
        for index, item in sorted(edit.added.items()):
            yield TreeChange((*path, index), "added", None, item)
        for index, place in sorted(edit.moved.items()):
            yield TreeChange((*path, index), "moved", None, place)
        for index, inner in sorted(edit.inside.items()):
            yield from _flat(inner, (*path, index))


def to_pattern(diff: Diff) -> Pattern:
    """A diff as gram, one element for each change; `from_pattern` reads it.

    Raises:
        GramEncodeError: what was added or removed nests too deep to be put into another pattern.

    >>> from gram import dumps, loads
    >>> print(dumps(to_pattern(diff(loads("(a)"), loads("(a {k: 1})"))).elements[1]))
    (:Added {at: [0, "properties", "k"], new: 1})
    """
    expect(diff, Diff, "diff", by="to_pattern")
    return Pattern(Subject("", {DIFF}), map(_written, _flat(diff.edit, ())))


def _written(change: TreeChange) -> Pattern:
    sides: dict[str, Any] = {"old": change.old, "new": change.new}
    trees = [each for each in sides.values() if isinstance(each, Pattern)]
    values = {
        key: each for key, each in sides.items() if not isinstance(each, Pattern | type(None))
    }
    subject = Subject("", {change.kind.capitalize()}, {"at": change.path, **values})
    return Pattern(subject, trees)


def from_pattern(pattern: Pattern) -> Diff:
    """The diff that a pattern writes.

    Raises:
        DiffError: the pattern is not a diff.
    """
    expect(pattern, Pattern, "pattern", by="from_pattern")
    if pattern.value.labels != {DIFF}:
        raise DiffError(f"not a diff: its label is not {DIFF}", (), pattern)
    changes = [_read(each) for each in pattern.elements]
    try:
        return Diff(_gathered(changes, 0) if changes else None)
    except (LookupError, StopIteration, TypeError, ValueError):
        raise DiffError("not a diff: its changes do not fit each other", (), pattern) from None


def _read(pattern: Pattern) -> TreeChange:
    record: Mapping[str, Any] = pattern.value.properties
    path = record.get("at")
    kind: Any = " ".join(pattern.value.labels).lower()
    if kind not in KINDS or not isinstance(path, PVector):
        raise DiffError("not a change of a diff", (), pattern)
    tree = next(iter(pattern.elements), None)
    old = tree if kind == "removed" and tree else record.get("old")
    new = tree if kind == "added" and tree else record.get("new")
    return TreeChange(tuple(path), kind, old, new)


def _gathered(changes: Sequence[TreeChange], depth: int) -> Edit:
    """The edit that `_flat` made these changes of, whose paths agree up to ``depth``."""
    own = [each for each in changes if len(each.path) == depth]
    inside: defaultdict[Any, list[TreeChange]] = defaultdict(list)
    here: defaultdict[str, dict[Any, Any]] = defaultdict(dict)
    is_list = bool(own) and own[0].kind == "list"
    for each in changes:
        if is_list and len(each.path) == depth + 1 and each.kind in ("removed", "added", "moved"):
            here[each.kind][each.path[depth]] = each.new if each.old is None else each.old
        elif len(each.path) > depth:
            inside[each.path[depth]].append(each)
    below = pmap({step: _gathered(those, depth + 1) for step, those in inside.items()})
    if not own:
        "".join(below)  # the keys of a map are texts
        return Entries(below)
    (only,) = own
    if not is_list:
        return Replaced(only.old, only.new)
    lists = here["removed"], here["added"], here["moved"]
    made = Items(str(only.old), str(only.new), *lists, below)
    partners = made.partners()
    added = [new for new, old in enumerate(partners) if old is None]
    staying = [old for old in partners if old is not None]
    if (
        sorted(made.added) != added
        or sorted([*staying, *made.removed]) != [*range(size_of(made.old))]
        or not below.keys() <= {*staying}
    ):
        raise ValueError("an index is not in its list, or is there twice")
    return made
