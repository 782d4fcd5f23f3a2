"""Patterns as a graph: nodes, relationships, walks, annotations; and one definition for each name.

The shape of a pattern says what it is: without elements it is a node, with one element an
annotation, with two atoms a relationship, and with edges that each share a node with the next one
a walk.

Where each name gets one definition, a bare name is a reference and stays one; what is anonymous
stays as it is. Elements keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from attrs import define, field

from . import trees
from .checks import members
from .documents import Document
from .errors import ArgumentError, GramError, NoPatternError, expect, expect_all
from .extras import install
from .trees import Pattern, Scoped, Subject, TreePath, is_edge, is_reference

if TYPE_CHECKING:
    import networkx


Shape: TypeAlias = Literal["node", "annotation", "relationship", "walk", "other"]


class MissingExtraError(GramError, ImportError):
    """A library is needed that is not installed."""


def shape(pattern: Pattern) -> Shape:
    """What a pattern is in a graph.

    >>> from gram import loads
    >>> [shape(p) for p in loads("(a) @k(1) (a) (a)-->(b) (a)-->(b)<--(c) [x | a, b, c]")]
    ['node', 'annotation', 'relationship', 'walk', 'other']
    """
    expect(pattern, Pattern, "pattern", by="shape")
    if not pattern.elements:
        return "node"
    if _is_walk(pattern):
        return "walk"
    if len(pattern.elements) == 1:
        return "annotation"
    return "relationship" if is_edge(pattern) else "other"


@define(eq=False)
class Graph:
    """The graph of a document, or of patterns, including those inside others.

    All nodes of one name in one scope are one node, shown as the occurrence with the most labels
    and properties (the first one of equals). Every anonymous node is another node; a node
    between two hops of a walk is written once and is one node.

    Attributes:
        nodes: each node once, in the order of the text.
        relationships: every relationship, those of walks too.
        walks, annotations, others: the patterns of these shapes.
        keys: the key of each node, by the ``id`` of each occurrence; see `key`.

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
    keys: Mapping[int, Hashable] = field(repr=False)
    _incident: dict[Hashable, list[Pattern]] = field(factory=dict, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        for name in ("nodes", "relationships", "walks", "annotations", "others"):
            trees.patterns_of(getattr(self, name), name, by="Graph")
        expect(self.keys, Mapping, "keys", by="Graph")
        for each in self.relationships:
            for key in {self.key(end): None for end in each.elements}:
                self._incident.setdefault(key, []).append(each)

    def __repr__(self) -> str:
        kinds = ("nodes", "relationships", "walks", "annotations", "others")
        return f"<Graph: {', '.join(f'{len(getattr(self, kind))} {kind}' for kind in kinds)}>"

    def key(self, node: Pattern) -> Hashable:
        """The key of a node: its name (with its scope, when it is in an inner one).

        For an anonymous node it is the ``id`` of the pattern.
        """
        expect(node, Pattern, "node", by="key")
        return self.keys.get(id(node)) or node.value.identity or id(node)

    def node(self, name: str) -> Pattern:
        """The first node of a name.

        Raises:
            NoPatternError: no node has this name.
        """
        expect(name, str, "name", by="node")
        for node in self.nodes:
            if node.value.identity == name:
                return node
        raise NoPatternError(f"no node is named {name!r}")

    def incident(self, node: Pattern) -> tuple[Pattern, ...]:
        """The relationships that begin or end at a node."""
        return tuple(self._incident.get(self.key(node), ()))

    def neighbors(self, node: Pattern) -> tuple[Pattern, ...]:
        """The nodes at the other end of its relationships, each once, in the order of the text."""
        found = {}
        for relationship in self.incident(node):
            left, right = relationship.elements
            other = right if self.key(left) == self.key(node) else left
            found[self.key(other)] = other
        return tuple(node for node in self.nodes if self.key(node) in found)

    def degree(self, node: Pattern) -> int:
        """How many relationships begin or end at a node; one to the node itself counts twice."""
        key = self.key(node)
        ends = (end for each in self.incident(node) for end in each.elements)
        return sum(self.key(end) == key for end in ends)


def graph_of(
    what: Document | Pattern | Iterable[Pattern], *, scopes: trees.Scopes = trees.one_scope
) -> Graph:
    """The graph of a document or of patterns, without a header.

    Args:
        what: a document, a pattern or several.
        scopes: which scope the names below a pattern belong to, as for `gram.check`. Nodes of one
            name in two scopes are two nodes.
    """
    expect(scopes, Callable, "scopes", by="graph_of")
    if isinstance(what, Document):
        patterns = what.patterns[1:] if what.header is not None else what.patterns
    else:
        patterns = trees.patterns_of(what, "what", by="graph_of")
    nodes: dict[Hashable, Pattern] = {}
    keys: dict[int, Hashable] = {}
    by_shape: dict[Shape, list[Pattern]] = {kind: [] for kind in get_args(Shape)}
    for here, scope in trees.with_names(patterns, scopes):
        each = here.pattern
        kind = shape(each)
        if kind != "node":
            by_shape[kind].append(each)
            continue
        name = each.value.identity
        key = keys[id(each)] = ((*scope, name) if scope else name) if name else id(each)
        known = nodes.setdefault(key, each)
        if _fullness(each) > _fullness(known):
            nodes[key] = each
    edges, walks, annotations, others = (
        tuple(by_shape[kind]) for kind in ("relationship", "walk", "annotation", "other")
    )
    return Graph(tuple(nodes.values()), edges, walks, annotations, others, keys)


def to_networkx(what: Graph | Document | Pattern | Iterable[Pattern]) -> networkx.MultiDiGraph[Any]:
    """The graph for networkx, which has the algorithms: paths, components, cycles, orderings.

    Its nodes are those of `Graph.key`; every node and edge has its pattern as the attribute
    ``pattern``.

    Raises:
        MissingExtraError: networkx is not installed.
    """
    try:
        import networkx
    except ImportError:
        raise MissingExtraError(f"networkx is not installed: {install('graph')}") from None
    if not isinstance(what, Graph | Document):
        what = trees.patterns_of(what, "what", by="to_networkx")
    graph = what if isinstance(what, Graph) else graph_of(what)
    result = networkx.MultiDiGraph()
    result.add_nodes_from((graph.key(node), {"pattern": node}) for node in graph.nodes)
    for each in graph.relationships:
        left, right = each.elements
        result.add_edge(graph.key(left), graph.key(right), pattern=each)
    return result


def _is_walk(pattern: Pattern) -> bool:
    """Whether all elements are edges, each sharing a node with the next."""
    elements = pattern.elements
    if not elements or not all(map(is_edge, elements)):
        return False
    if pattern.value.labels == {trees.WALK}:
        return True
    share_a_node = (
        any(node in other.elements for node in one.elements) for one, other in pairwise(elements)
    )
    return len(elements) > 1 and all(share_a_node)


def _fullness(node: Pattern) -> int:
    return len(node.value.labels) + len(node.value.properties)


Policy: TypeAlias = Literal["last-wins", "first-wins", "merge", "strict"]


class ReconcileError(GramError, ValueError):
    """A name is defined twice, differently."""


def reconcile(
    patterns: Iterable[Pattern], policy: Policy = "merge", *, scopes: trees.Scopes = trees.one_scope
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
    given = expect_all(patterns, Pattern, "patterns", by="reconcile")
    subjects: dict[trees.ScopeKey, Subject] = {}
    bodies: dict[trees.ScopeKey, Scoped] = {}  # the occurrences whose elements are agreed on
    first: dict[trees.ScopeKey, Scoped] = {}
    occurrences: dict[TreePath, tuple[Scoped, trees.ScopeKey]] = {}
    for here, scope in trees.with_names(given, scopes):
        key = (*scope, here.name)
        occurrences[here.path] = here, key
        if not here.name or is_reference(here.pattern):
            continue
        known = first.setdefault(key, here)
        if known is here or policy == "last-wins":
            subjects[key], bodies[key] = here.pattern.value, here
        elif policy == "strict":
            one, other = known.pattern, here.pattern
            if one.value != other.value or members(one.elements) != members(other.elements):
                places = f"{_place(known)} and, differently, at {_place(here)}"
                raise ReconcileError(f"`{here.name}` is defined at {places}")
        elif policy == "merge":
            agreed_on, said = subjects[key], here.pattern.value
            properties = agreed_on.properties.update(said.properties)
            subjects[key] = Subject(here.name, agreed_on.labels | said.labels, properties)
            bodies[key] = here if here.pattern.elements else bodies[key]

    def agreed(path: TreePath) -> tuple[Subject, Iterable[TreePath]]:
        body, key = occurrences[path]
        subject, elements = subjects.get(key, body.pattern.value), body.pattern.elements
        if is_reference(body.pattern):
            return body.pattern.value, ()
        if key in bodies and members(elements) != members(bodies[key].pattern.elements):
            body = bodies[key]
        return subject, [(*body.path, index) for index in range(len(body.pattern.elements))]

    tops: list[TreePath] = [(index,) for index in range(len(given))]
    joined = (trees.operations.unfold(agreed, path) for path in tops)
    return tuple(tree if new == tree else new for tree, new in zip(given, joined, strict=True))


def _place(here: Scoped) -> str:
    place = trees.origin(here.pattern)
    return str(place) if place else ".".join(map(str, here.path))
