"""Joins the occurrences of a name: afterwards each name has one definition, the same everywhere.

An occurrence that is a bare name is a reference and stays one; so does everything anonymous.
Elements keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias, get_args

from ..checks import members
from ..errors import ArgumentError, GramError, expect, expect_all
from ..trees import (
    Pattern,
    Scoped,
    ScopeKey,
    Scopes,
    Subject,
    TreePath,
    is_reference,
    one_scope,
    origin,
    unfold,
    with_names,
)

Policy: TypeAlias = Literal["last-wins", "first-wins", "merge", "strict"]


class ReconcileError(GramError, ValueError):
    """A name is defined twice, differently.

    Attributes:
        name: the name.
        first, again: the two definitions.
        places: where they are: ``file:line:col`` when read, else their paths.
    """

    def __init__(self, name: str, first: Pattern, again: Pattern, places: tuple[str, str]) -> None:
        super().__init__(name, first, again, places)
        self.name = name
        self.first = first
        self.again = again
        self.places = places

    def __str__(self) -> str:
        first, again = self.places
        return f"`{self.name}` is defined at {first} and, differently, at {again}"


def reconcile(
    patterns: Iterable[Pattern], policy: Policy = "merge", *, scopes: Scopes = one_scope
) -> tuple[Pattern, ...]:
    """The patterns with every definition of a name replaced by the one that is agreed on.

    Args:
        patterns: the patterns of one document.
        scopes: which scope the names below a pattern belong to, as for `gram.check`. A name in
            two scopes has two definitions.
        policy: which definition that is. ``first-wins`` and ``last-wins`` take one of them;
            ``merge`` takes the labels and properties of all, of a property given twice the last,
            and the elements of the last that has any; ``strict`` refuses to choose.

    Raises:
        ReconcileError: under ``strict``, two definitions differ.
        GramEncodeError: the result would nest deeper than 100 levels, as it does when a
            definition that is taken leads back to itself.

    >>> from gram import dumps, loads
    >>> print(dumps(reconcile(loads("(a:Person)-->(b) (a {age: 30})"))))
    (a:Person {age: 30})-->(b)
    (a:Person {age: 30})
    """
    if policy not in get_args(Policy):
        raise ArgumentError(f"reconcile: policy must be one of {', '.join(get_args(Policy))}")
    expect(scopes, Callable, "scopes", by="reconcile")
    trees = expect_all(patterns, Pattern, "patterns", by="reconcile")
    subjects: dict[ScopeKey, Subject] = {}
    bodies: dict[ScopeKey, Scoped] = {}  # the occurrences whose elements are agreed on
    first: dict[ScopeKey, Scoped] = {}
    occurrences: dict[TreePath, tuple[Scoped, ScopeKey]] = {}
    for here, scope in with_names(trees, scopes):
        key = (*scope, here.name)
        occurrences[here.path] = here, key
        if not here.name or is_reference(here.pattern):
            continue
        known = first.setdefault(key, here)
        if known is here or policy == "last-wins":
            subjects[key], bodies[key] = here.pattern.value, here
        elif policy == "strict" and _differ(known.pattern, here.pattern):
            name, places = here.name, (_place(known), _place(here))
            raise ReconcileError(name, known.pattern, here.pattern, places)
        elif policy == "merge":
            subjects[key] = _merged(subjects[key], here.pattern.value)
            bodies[key] = here if here.pattern.elements else bodies[key]

    def agreed(path: TreePath) -> tuple[Subject, Iterable[TreePath]]:
        body, key = occurrences[path]
        subject, elements = subjects.get(key, body.pattern.value), body.pattern.elements
        if is_reference(body.pattern):
            return body.pattern.value, ()
        if key in bodies and members(elements) != members(bodies[key].pattern.elements):
            body = bodies[key]
        return subject, [(*body.path, index) for index in range(len(body.pattern.elements))]

    tops: list[TreePath] = [(index,) for index in range(len(trees))]
    joined = (unfold(agreed, path) for path in tops)
    return tuple(tree if new == tree else new for tree, new in zip(trees, joined, strict=True))


def _differ(first: Pattern, again: Pattern) -> bool:
    return first.value != again.value or members(first.elements) != members(again.elements)


def _merged(one: Subject, other: Subject) -> Subject:
    properties = one.properties.update(other.properties)
    return Subject(one.identity, one.labels | other.labels, properties)


def _place(here: Scoped) -> str:
    place = origin(here.pattern)
    return str(place) if place else ".".join(map(str, here.path))
