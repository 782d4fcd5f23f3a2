"""Holes, which match any part of a pattern; and the nodes and arrows of paths.

A hole is an identity, a label, a key or a symbol value that begins with ``_``, never a string.
``_`` alone matches anything. ``__x`` is not a hole, and means the name ``_x``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, Union

from attrs import frozen
from pyrsistent import PMap, PVector

from ..errors import GramError
from ..trees import (
    WALK_SUBJECT,
    Pattern,
    Symbol,
    TreePath,
    Value,
    is_edge,
    is_reference,
    walk,
    walk_nodes,
)

ANYTHING = "_"
"""The hole that is anything, and is not remembered."""

Bound: TypeAlias = Union[Value, Pattern]
"""What a hole matches: a name, a value, or a whole element."""


class QueryError(GramError, ValueError):
    """A pattern cannot be searched for, or what takes its place cannot be made."""


def hole(name: str) -> str | None:
    """The name itself if it is a hole, else None."""
    return name if name.startswith("_") and not name.startswith("__") else None


def literal(name: str) -> str:
    """The name that is meant by one that is not a hole."""
    return name[1:] if name.startswith("__") else name


def hole_alone(pattern: Pattern) -> str | None:
    """The hole that matches a whole element, if a pattern is one."""
    return hole(pattern.value.identity) if is_reference(pattern) else None


def holes_in(pattern: Pattern) -> frozenset[str]:
    """The holes in a pattern that are remembered: all but ``_``.

    >>> from gram import loads_one
    >>> sorted(holes_in(loads_one('[_a:Agent {model: _m, name: "_n"} | _, __t]')))
    ['_a', '_m']
    """
    found: set[str] = set()
    for _, each in walk(pattern):
        subject = each.value
        found |= {subject.identity, *subject.labels} | names_in(subject.properties)
    return frozenset(filter(hole, found - {ANYTHING}))


def names_in(value: object) -> frozenset[str]:
    """The keys and symbols in a value, which may be holes."""
    if isinstance(value, Symbol):
        return frozenset({value.value})
    if isinstance(value, PMap):
        return frozenset(value).union(*map(names_in, value.values()))
    return frozenset().union(*map(names_in, value)) if isinstance(value, PVector) else frozenset()


@frozen
class Hops:
    """A path, read from one of its ends.

    Attributes:
        nodes: its nodes, one more than its arrows.
        edges: its arrows, each with whether it points to the next node.
        places: the path to each node from this pattern; the first one where there are two.
        edge_places: the path to each arrow.
    """

    nodes: tuple[Pattern, ...]
    edges: tuple[tuple[Pattern, bool], ...]
    places: tuple[TreePath, ...] = ()
    edge_places: tuple[TreePath, ...] = ()

    def reversed(self) -> Hops:
        """The same path, read from its other end."""
        edges = tuple((edge, not on) for edge, on in self.edges[::-1])
        return Hops(self.nodes[::-1], edges, self.places[::-1], self.edge_places[::-1])


def hops_of(pattern: Pattern) -> Hops | None:
    """The nodes and arrows of what is written as a path; None for anything else.

    What was read from a text is a path if it does not begin with ``[``. What was made is a path if
    it has no name, and its labels are in capitals.
    """
    if pattern.value == WALK_SUBJECT:
        nodes = walk_nodes(pattern)
        edges = pattern.elements
    else:
        nodes = pattern.elements if is_edge(pattern) and _is_written_so(pattern) else None
        edges = (pattern,)
    if nodes is None:
        return None
    above: Sequence[TreePath] = [()] if edges[0] is pattern else [(i,) for i in range(len(edges))]
    ends = zip(edges, nodes, nodes[1:], strict=False)
    on = [edge.elements == (one, other) for edge, one, other in ends]
    places = [(*above[0], 0 if on[0] else 1)]
    places += [(*path, 1 if forward else 0) for path, forward in zip(above, on, strict=True)]
    return Hops(nodes, tuple(zip(edges, on, strict=True)), tuple(places), tuple(above))


def _is_written_so(edge: Pattern) -> bool:
    if edge.came_from is not None:
        source, start, _ = edge.came_from
        return source.text[start] != "["
    return not edge.value.identity and all(map(str.isupper, edge.value.labels))
