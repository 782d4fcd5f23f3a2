"""Joins the occurrences of a name: afterwards each name has one definition, the same everywhere.

An occurrence that is a bare name is a reference and stays one; so does everything anonymous.
Elements keep their order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from .checks.identities import members
from .errors import GramError
from .operations import unfold
from .origin import origin
from .pattern import Pattern, Subject
from .serializer import is_reference
from .walk import TreePath, walk

Policy: TypeAlias = Literal["last-wins", "first-wins", "merge", "strict"]


class ReconcileError(GramError, ValueError):
    """A name is defined twice, differently.

    Attributes:
        name: the name.
        first, again: the two definitions.
        places: where they stand: ``file:line:col`` when read, else their paths.
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


def reconcile(patterns: Iterable[Pattern], policy: Policy = "merge") -> tuple[Pattern, ...]:
    """The patterns with every definition of a name replaced by the one that is agreed on.

    Args:
        patterns: the patterns of one document.
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
    trees = tuple(patterns)
    subjects: dict[str, Subject] = {}
    elements: dict[str, tuple[Pattern, ...]] = {}
    first: dict[str, tuple[TreePath, Pattern]] = {}
    for path, here in walk(trees):
        name = here.value.identity
        if not name or is_reference(here):
            continue
        known_path, known = first.setdefault(name, (path, here))
        if known is here:
            subjects[name], elements[name] = here.value, here.elements
        elif policy == "strict" and _differ(known, here):
            places = (_place(known, known_path), _place(here, path))
            raise ReconcileError(name, known, here, places)
        elif policy == "last-wins":
            subjects[name], elements[name] = here.value, here.elements
        elif policy == "merge":
            subjects[name] = _merged(subjects[name], here.value)
            elements[name] = here.elements or elements[name]

    def agreed(here: Pattern) -> tuple[Subject, tuple[Pattern, ...]]:
        name = here.value.identity
        if not name or is_reference(here):
            return here.value, here.elements
        alike = members(here.elements) == members(elements[name])
        return subjects[name], here.elements if alike else elements[name]

    joined = (unfold(agreed, tree) for tree in trees)
    return tuple(tree if new == tree else new for tree, new in zip(trees, joined, strict=True))


def _differ(first: Pattern, again: Pattern) -> bool:
    return first.value != again.value or members(first.elements) != members(again.elements)


def _merged(one: Subject, other: Subject) -> Subject:
    properties = one.properties.update(other.properties)
    return Subject(one.identity, one.labels | other.labels, properties)


def _place(pattern: Pattern, path: TreePath) -> str:
    place = origin(pattern)
    return str(place) if place else ".".join(map(str, path))
