"""Scopes: where a name means one thing.

The whole document is a scope. A pattern may open another one for the names below it; its own name
belongs to the scope around it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Final, Literal, TypeAlias, TypeVar

from attrs import define

from ..errors import NoPatternError
from .operations import TreePath
from .pattern import Pattern

Scope: TypeAlias = Literal["around", "own", "private"]
"""To which scope the names below a pattern belong.

``around``: to the scope that the pattern itself is in. ``own``: to one that the pattern opens. A
name with other labels in another scope is then a warning. ``private``: to one that the pattern
opens, without that warning.
"""

Scopes: TypeAlias = Callable[[Pattern], Scope]
"""Tells which scope the names below a pattern belong to."""

WHOLE: Final[TreePath] = ()
"""The scope that is the whole document."""


def one_scope(pattern: Pattern) -> Scope:
    """No pattern opens a scope: a name means the same everywhere in the document."""
    return "around"


@define(eq=False, slots=False)
class Scoped:
    """A pattern in its place: what the checks, graphs and programs know a name by.

    Attributes:
        path: the index of the top-level pattern, then of the element, and so on.
        pattern: the pattern.
        scope: the path of the pattern whose scope its name belongs to, or `WHOLE`.
        is_private: whether that scope, or one around it, is private.
    """

    path: TreePath
    pattern: Pattern
    scope: TreePath
    is_private: bool = False

    @property
    def name(self) -> str:
        """Its identity, ``""`` when it is anonymous."""
        return self.pattern.value.identity


S = TypeVar("S", bound=Scoped)


def scoped(patterns: Iterable[Pattern], scopes: Scopes, kind: type[S]) -> Iterator[S]:
    """Every pattern with its scope, each before its elements."""
    pending = [kind((index,), each, WHOLE) for index, each in enumerate(patterns)][::-1]
    while pending:
        here = pending.pop()
        yield here
        if here.pattern.elements:
            opened = scopes(here.pattern)
            scope = here.scope if opened == "around" else here.path
            private = here.is_private or opened == "private"
            below = enumerate(here.pattern.elements)
            pending += [kind((*here.path, i), each, scope, private) for i, each in below][::-1]


def scopes_from(scope: TreePath, opened_by: Mapping[TreePath, Scoped]) -> Iterator[TreePath]:
    """A scope and those around it, from the inside out, as the patterns that open them tell."""
    way = [scope]
    while way[-1] != WHOLE:
        if way[-1] not in opened_by:
            raise NoPatternError(f"no scope is at the path {way[-1]}")
        way.append(opened_by[way[-1]].scope)
    return iter(way)


ScopeKey: TypeAlias = tuple[Hashable, ...]
"""A scope: the names of the patterns that opened it and those around it.

In two scopes of one key, a name means the same. An anonymous pattern is told from others by its
``id``.
"""


def with_names(patterns: Iterable[Pattern], scopes: Scopes) -> Iterator[tuple[Scoped, ScopeKey]]:
    """Every pattern, each before its elements, with the names of its scope."""
    names: dict[TreePath, ScopeKey] = {WHOLE: ()}
    for here in scoped(patterns, scopes, Scoped):
        around = names[here.scope]
        if here.pattern.elements:
            names[here.path] = (*around, here.name or id(here.pattern))
        yield here, around
