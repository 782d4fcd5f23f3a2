"""What the checks look at: every pattern with its place and the scope its name belongs to.

A scope is where a name means one thing. The whole document is one; a pattern that opens a scope
belongs itself to the scope around it, and what is below it to its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from typing import Literal, TypeAlias

from attrs import define, field, frozen

from ..document import Document
from ..faults import Edit
from ..pattern import Pattern
from ..source import Span
from ..spans import Construct, elements_of
from ..walk import TreePath

Scope: TypeAlias = Literal["around", "own", "private"]
"""Whose the names below a pattern are.

Those of the scope around it; its own, where another scope had better not mean something else by
them; or private, as those of a record's fields, which nobody takes for one another.
"""

Scopes: TypeAlias = Callable[[Pattern], Scope]
"""Tells the scope that a pattern opens for what is below it."""

WHOLE: TreePath = ()
"""The scope that is the whole document."""


def one_scope(pattern: Pattern) -> Scope:
    """No pattern opens a scope: a name means the same wherever it stands."""
    return "around"


@frozen(eq=False)
class Occurrence:
    """A pattern where it stands.

    Attributes:
        path: the index of the top-level pattern, then of the element, and so on.
        pattern: the pattern.
        scope: the path of the pattern whose scope its name belongs to, or `WHOLE`.
        is_private: whether that scope, or one around it, is private.
        construct: its syntax, or None when the trees were not read.
    """

    path: TreePath
    pattern: Pattern
    scope: TreePath
    is_private: bool
    construct: Construct | None

    @property
    def name(self) -> str:
        """Its identity, ``""`` when it is anonymous."""
        return self.pattern.value.identity


@frozen
class Finding:
    """What a check found, before its code and severity are put to it.

    Attributes:
        message: what is wrong.
        path: the path of the pattern at fault.
        part: ``identity``, ``labels`` or the key of the property at fault, when it is one part.
        span: where it stands, when that is not the place of the pattern or part.
        hint: how to mend it, or None.
        fix: edits that mend it and keep the trees.
    """

    message: str
    path: TreePath
    part: str | None = None
    span: Span | None = None
    hint: str | None = None
    fix: tuple[Edit, ...] = ()


@define(eq=False, slots=False)
class Reading:
    """The trees to check, with the document they were read from when there is one."""

    patterns: tuple[Pattern, ...]
    document: Document | None = None
    scopes: Scopes = one_scope
    kinds: Collection[str] = ()
    occurrences: tuple[Occurrence, ...] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.occurrences = tuple(self._occurrences())

    def _occurrences(self) -> Iterator[Occurrence]:
        """Every pattern, in the order of the trees."""
        constructs: Iterable[Construct | None]
        constructs = self.document.items if self.document else [None] * len(self.patterns)
        pending = [
            Occurrence((index,), pattern, WHOLE, False, construct)
            for index, (pattern, construct) in enumerate(
                zip(self.patterns, constructs, strict=True)
            )
        ][::-1]
        while pending:
            here = pending.pop()
            yield here
            elements = here.pattern.elements
            if not elements:
                continue
            opened = self.scopes(here.pattern)
            scope = here.scope if opened == "around" else here.path
            private = here.is_private or opened == "private"
            constructs = elements_of(here.construct) if here.construct else [None] * len(elements)
            below = [
                Occurrence((*here.path, index), element, scope, private, construct)
                for index, (element, construct) in enumerate(zip(elements, constructs, strict=True))
            ]
            pending.extend(reversed(below))

    @cached_property
    def written(self) -> tuple[tuple[Occurrence, Construct], ...]:
        """The patterns with their syntax; a node shared by two hops once."""
        seen: dict[int, tuple[Occurrence, Construct]] = {}
        for each in self.occurrences:
            if each.construct is not None:
                seen.setdefault(id(each.construct), (each, each.construct))
        return tuple(seen.values())

    @cached_property
    def _scope_around(self) -> dict[TreePath, TreePath]:
        return {each.path: each.scope for each in self.occurrences}

    def scopes_from(self, scope: TreePath) -> Iterator[TreePath]:
        """A scope and those around it, inside out."""
        while scope != WHOLE:
            yield scope
            scope = self._scope_around[scope]
        yield WHOLE

    @property
    def text(self) -> str:
        """The text the trees were read from."""
        return self.document.text if self.document else ""

    def place(self, path: TreePath, part: str | None = None) -> Span | None:
        """Where a pattern or a part of it stands, None when the trees were not read."""
        if self.document is None:
            return None
        spans = self.document.spans(path)
        return (part and spans.part(part)) or spans.pattern

    def cited(self, path: TreePath) -> str:
        """The place of a pattern, for a message: line and column, or its path."""
        span = self.place(path, "identity")
        if self.document is None or span is None:
            return ".".join(map(str, path))
        return self.document.source.line_and_column(span.start)
