"""What a tree is, by its shape: a reference, a header, an edge, a walk."""

from __future__ import annotations

from ..errors import expect
from .pattern import WALK_SUBJECT, Pattern


def is_reference(element: Pattern) -> bool:
    """Whether an element is written as a bare name."""
    expect(element, Pattern, "element", by="is_reference")
    subject = element.value
    return bool(
        subject.identity and not subject.labels and not subject.properties and not element.elements
    )


def is_header(pattern: Pattern) -> bool:
    """Whether a pattern is written as a header record when it is the first of a document."""
    subject = pattern.value
    return bool(
        subject.properties and not subject.identity and not subject.labels and not pattern.elements
    )


def is_edge(pattern: Pattern) -> bool:
    """Whether a pattern has exactly two elements, both atoms."""
    expect(pattern, Pattern, "pattern", by="is_edge")
    return len(pattern.elements) == 2 and not any(e.elements for e in pattern.elements)


def walk_nodes(pattern: Pattern) -> tuple[Pattern, ...] | None:
    """The nodes along a walk, one more than its edges, or None when it has no walk form.

    Each edge must hold the node before it; where an edge can be read both ways the first node is
    chosen so that the next edges can go on.
    """
    edges = pattern.elements
    if pattern.value != WALK_SUBJECT or len(edges) < 2 or not all(map(is_edge, edges)):
        return None
    for first in edges[0].elements:
        nodes = [first]
        for edge in edges:
            left, right = edge.elements
            if left == nodes[-1]:
                nodes.append(right)
            elif right == nodes[-1]:
                nodes.append(left)
            else:
                break
        else:
            return tuple(nodes)
    return None
