"""Every pattern with the names of its scope: in two scopes of one name, a name means the same."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TypeAlias

from ..trees import WHOLE, Pattern, Scoped, Scopes, TreePath, scoped

ScopeKey: TypeAlias = tuple[Hashable, ...]
"""A scope: the names of the patterns that opened it and those around it.

An anonymous pattern is told from others by its ``id``.
"""


def with_names(patterns: Iterable[Pattern], scopes: Scopes) -> Iterator[tuple[Scoped, ScopeKey]]:
    """Every pattern, each before its elements, with the names of its scope."""
    names: dict[TreePath, ScopeKey] = {WHOLE: ()}
    for here in scoped(patterns, scopes):
        around = names[here.scope]
        if here.pattern.elements:
            names[here.path] = (*around, here.pattern.value.identity or id(here.pattern))
        yield here, around
