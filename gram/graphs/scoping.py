"""Every pattern of some trees with the scope that its name belongs to."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TypeAlias

from ..checks import Scopes
from ..trees import Pattern

ScopeKey: TypeAlias = tuple[Hashable, ...]
"""A scope: the names of the patterns that opened it and those around it.

An anonymous pattern is told from others by its ``id``.
"""

WHOLE: ScopeKey = ()
"""The scope that is the whole document."""


def scoped(patterns: Iterable[Pattern], scopes: Scopes) -> Iterator[tuple[Pattern, ScopeKey]]:
    """Every pattern, each before its elements, with its scope."""
    pending = [(pattern, WHOLE) for pattern in patterns][::-1]
    while pending:
        here, scope = pending.pop()
        yield here, scope
        if here.elements:
            inner = scope_below(here, scope, scopes)
            pending.extend((element, inner) for element in reversed(here.elements))


def scope_below(pattern: Pattern, scope: ScopeKey, scopes: Scopes) -> ScopeKey:
    """The scope that the names of a pattern's elements belong to."""
    if scopes(pattern) == "around":
        return scope
    return (*scope, pattern.value.identity or id(pattern))
