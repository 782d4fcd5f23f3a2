"""What is different between two programs, as a value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, TypeVar

from attrs import frozen
from pyrsistent import PMap, pmap

from ..documents import Document
from ..errors import expect
from ..showing import Shown
from ..trees import Pattern, Subject, patterns_of
from ..words import counted
from .edits import DiffError, Edit, EditPath, Items, Replaced, applied, between, inverted, size_of

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
        or sorted([*staying, *made.removed]) != [*range(size_of(made.old))]
        or not inside.keys() <= staying
    ):
        raise ValueError(row)
    return made
