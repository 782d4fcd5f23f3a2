"""Patterns seen as a graph: nodes, relationships between them, walks, annotations, and the rest.

What a pattern is shows in its shape: without elements it is a node, with one an annotation, with
two atoms a relationship, with edges that share a node from each to the next a walk.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import define, field

from .document import Document
from .errors import GramError
from .pattern import WALK, Pattern, patterns_of
from .serializer import is_edge
from .walk import walk

if TYPE_CHECKING:
    import networkx

Shape: TypeAlias = Literal["node", "annotation", "relationship", "walk", "other"]


class MissingExtraError(GramError, ImportError):
    """A library is needed that is not installed."""


class ShapeError(GramError, ValueError):
    """A relationship was expected and the pattern is none."""


def shape(pattern: Pattern) -> Shape:
    """What a pattern is in a graph.

    >>> from gram import loads
    >>> [shape(p) for p in loads("(a) @k(1) (a) (a)-->(b) (a)-->(b)<--(c) [x | a, b, c]")]
    ['node', 'annotation', 'relationship', 'walk', 'other']
    """
    if not pattern.elements:
        return "node"
    if _is_walk(pattern):
        return "walk"
    if len(pattern.elements) == 1:
        return "annotation"
    return "relationship" if is_edge(pattern) else "other"


def source(relationship: Pattern) -> Pattern:
    """The node a relationship goes out from.

    Raises:
        ShapeError: the pattern is no relationship.

    >>> from gram import loads_one
    >>> source(loads_one("(a)<--(b)")).value.identity
    'b'
    """
    return _ends(relationship)[0]


def target(relationship: Pattern) -> Pattern:
    """The node a relationship leads to.

    Raises:
        ShapeError: the pattern is no relationship.
    """
    return _ends(relationship)[1]


@define(eq=False)
class Graph:
    """The graph of a document, or of patterns, those inside others included.

    A node that has a name is one node wherever it occurs, shown as its fullest occurrence (the
    one with most labels and properties, the first of equals). An anonymous one is a node of its
    own each time it is written; a node shared by two hops of a walk is written once.

    Attributes:
        nodes: each node once, in the order of the text.
        relationships: every relationship, those of walks too.
        walks, annotations, others: the patterns of these shapes.

    >>> from gram import parse
    >>> graph = graph_of(parse("(a:Person)-[:KNOWS]->(b)<-[:KNOWS]-(c) (a)-[:LIKES]->(c)"))
    >>> [node.value.identity for node in graph.neighbors(graph.node("a"))]
    ['b', 'c']
    >>> graph.degree(graph.node("c"))
    2
    """

    nodes: tuple[Pattern, ...]
    relationships: tuple[Pattern, ...]
    walks: tuple[Pattern, ...]
    annotations: tuple[Pattern, ...]
    others: tuple[Pattern, ...]
    _incident: dict[object, list[Pattern]] = field(factory=dict, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        for each in self.relationships:
            for key in {node_key(end): None for end in _ends(each)}:
                self._incident.setdefault(key, []).append(each)

    def node(self, name: str) -> Pattern:
        """The node of a name.

        Raises:
            KeyError: no node has it.
        """
        for node in self.nodes:
            if node.value.identity == name:
                return node
        raise KeyError(name)

    def incident(self, node: Pattern) -> tuple[Pattern, ...]:
        """The relationships that begin or end at a node."""
        return tuple(self._incident.get(node_key(node), ()))

    def neighbors(self, node: Pattern) -> tuple[Pattern, ...]:
        """The nodes at the other end of its relationships, each once, in the order of the text."""
        found = {}
        for relationship in self.incident(node):
            left, right = _ends(relationship)
            other = right if node_key(left) == node_key(node) else left
            found[node_key(other)] = other
        return tuple(node for node in self.nodes if node_key(node) in found)

    def degree(self, node: Pattern) -> int:
        """How many ends of relationships stand at a node: one that returns to it counts twice."""
        key = node_key(node)
        return sum(
            [node_key(end) for end in _ends(each)].count(key) for each in self.incident(node)
        )


def graph_of(what: Document | Pattern | Iterable[Pattern]) -> Graph:
    """The graph of a document or of patterns; a header is no part of it."""
    if isinstance(what, Document):
        patterns = what.patterns[1:] if what.header is not None else what.patterns
    else:
        patterns = patterns_of(what)
    nodes: dict[object, Pattern] = {}
    by_shape: dict[Shape, list[Pattern]] = {
        "relationship": [],
        "walk": [],
        "annotation": [],
        "other": [],
    }
    for _, each in walk(patterns):
        kind = shape(each)
        if kind != "node":
            by_shape[kind].append(each)
            continue
        known = nodes.setdefault(node_key(each), each)
        if _fullness(each) > _fullness(known):
            nodes[node_key(each)] = each
    return Graph(
        tuple(nodes.values()),
        tuple(by_shape["relationship"]),
        tuple(by_shape["walk"]),
        tuple(by_shape["annotation"]),
        tuple(by_shape["other"]),
    )


def node_key(node: Pattern) -> object:
    """What tells one node from another: its name or, of an anonymous one, the object it is."""
    return node.value.identity or id(node)


def to_networkx(what: Graph | Document | Pattern | Iterable[Pattern]) -> networkx.MultiDiGraph[Any]:
    """The graph for networkx, which has the algorithms: paths, components, cycles, orderings.

    Its nodes are `node_key`s; every node and edge has its pattern as the attribute ``pattern``.

    Raises:
        MissingExtraError: networkx is not installed.
    """
    try:
        import networkx
    except ImportError:
        raise MissingExtraError(
            "networkx is not installed: pip install 'gram-agents[graph]'"
        ) from None
    graph = what if isinstance(what, Graph) else graph_of(what)
    result = networkx.MultiDiGraph()
    result.add_nodes_from((node_key(node), {"pattern": node}) for node in graph.nodes)
    for each in graph.relationships:
        left, right = _ends(each)
        result.add_edge(node_key(left), node_key(right), pattern=each)
    return result


def _is_walk(pattern: Pattern) -> bool:
    """Whether all elements are edges, each sharing a node with the next."""
    elements = pattern.elements
    if not elements or not all(map(is_edge, elements)):
        return False
    if pattern.value.labels == {WALK}:
        return True
    return len(elements) > 1 and all(_share_a_node(one, next_) for one, next_ in pairwise(elements))


def _share_a_node(one: Pattern, other: Pattern) -> bool:
    return any(left == right for left in one.elements for right in other.elements)


def _ends(relationship: Pattern) -> tuple[Pattern, Pattern]:
    if not is_edge(relationship):
        raise ShapeError(
            f"a relationship has two atoms, found {len(relationship.elements)} elements"
        )
    left, right = relationship.elements
    return left, right


def _fullness(node: Pattern) -> int:
    return len(node.value.labels) + len(node.value.properties)
