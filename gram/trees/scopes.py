"""Scopes: where a name means one thing.

The whole document is a scope. A pattern may open another one for the names below it; its own name
belongs to the scope around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from .pattern import Pattern
from .walks import TreePath

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


class Scoped(NamedTuple):
    """A pattern in its place.

    Attributes:
        path: the index of the top-level pattern, then of the element, and so on.
        pattern: the pattern.
        scope: the path of the pattern whose scope its name belongs to, or `WHOLE`.
        is_private: whether that scope, or one around it, is private.
    """

    path: TreePath
    pattern: Pattern
    scope: TreePath
    is_private: bool


def scoped(patterns: Iterable[Pattern], scopes: Scopes) -> Iterator[Scoped]:
    """Every pattern with its scope, each before its elements."""
    pending = [Scoped((index,), each, WHOLE, False) for index, each in enumerate(patterns)][::-1]
    while pending:
        here = pending.pop()
        yield here
        if here.pattern.elements:
            opened = scopes(here.pattern)
            scope = here.scope if opened == "around" else here.path
            private = here.is_private or opened == "private"
            below = enumerate(here.pattern.elements)
            pending += [Scoped((*here.path, i), each, scope, private) for i, each in below][::-1]
