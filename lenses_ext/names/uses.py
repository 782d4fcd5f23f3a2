"""Uses: where a program writes a name, and the definition that it means there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gram import TreePath, pattern_at

from .scopes import Definition, Program


class Use(NamedTuple):
    """A name in a program that means a definition.

    Attributes:
        path: the pattern that has the name.
        part: which part of it is the name: ``identity``, ``labels``, or the key of a property.
        meant: what it means there; of several, the nearest.
    """

    path: TreePath
    part: str
    meant: Definition

    @property
    def is_definition(self) -> bool:
        """Whether it is the definition's own name."""
        return self.part == "identity" and self.path == self.meant.path


def uses(program: Program) -> Iterator[Use]:
    """Every use of a name that is defined: of agents, workflows, tools and types.

    >>> from gram import loads
    >>> used = uses(Program(loads("[a:Agent | t] (t:Tool)")))
    >>> [(each.path, each.meant.path) for each in used]
    [((0,), (0,)), ((1,), (1,)), ((0, 0), (1,))]
    """
    for each in program.named.values():
        if each.name:
            yield Use(each.path, "identity", each)
    for scope in program.scopes:
        for same in program.types_in(scope).values():
            yield from (Use(each.path, "identity", each) for each in same)
    for holder in program.runnables.values():
        ends = ((path, name) for path, name, _ in holder.names_in_arrows)
        for path, name in (
            *((path, each.value.identity) for path, each in holder.references),
            *ends,
        ):
            again = pattern_at(program.patterns, path).value.labels  # (again::writer)
            for meant in program.meant(name, holder.path)[:1]:
                yield Use(path, "labels" if again else "identity", meant)
    known: set[tuple[TreePath, str, str]] = set()
    for holder in (program.tools | program.answers | program.runnables).values():
        for path, part, types in program.type_uses(holder):
            key = (path, part, types[0].name)
            if key not in known:
                known.add(key)
                yield Use(path, part, types[0])
