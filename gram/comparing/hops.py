"""Paths as their nodes and the arrows between them."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from ..trees import WALK_SUBJECT, Pattern, TreePath, is_edge, walk_nodes


@frozen
class Hops:
    """A path, read from one of its ends.

    Attributes:
        nodes: its nodes, one more than its arrows.
        edges: its arrows, each with whether it points on; else it points back.
        places: where each node is, from the path: of the two places of a node the first.
        edge_places: where each arrow is, from the path.
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

    What was read from a text is a path if it does not begin with a bracket; what was made is one
    if it has no name, and no label but one in capitals.
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
