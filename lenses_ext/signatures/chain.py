"""The nodes along the path of a signature."""

from __future__ import annotations

from gram import WALK

from .faults import Faults
from .parts import Element, Parts


def nodes_of(parts: Parts, faults: Faults) -> list[Element] | None:
    """The nodes of a signature's path, the return type last; None when it is not a path."""
    chain = parts.chain
    if parts.nodes is not None:
        return list(parts.nodes)
    if chain is None:
        return []
    if any(each.code == "arrow" for each in faults.found):
        return None  # an arrow of the text points elsewhere, so it is not known which node is last
    if not chain.pattern.elements:
        return [chain]
    if chain.pattern.value.properties:
        faults.tell("arrow", "the path of a signature has no record", chain)
    is_walk = WALK in chain.pattern.value.labels
    nodes: list[Element] = []
    for edge in chain.below() if is_walk else [chain]:
        ends = edge.below()
        if len(ends) != 2 or (nodes and nodes[-1].pattern != ends[0].pattern):
            message = 'an arrow of the path does not point to a return type; use "==>"'
            faults.tell("arrow", message, edge)
            return None
        subject = edge.pattern.value
        if subject.identity or subject.labels or (is_walk and subject.properties):
            message = "an arrow of a signature has no name, type or record"
            faults.tell("arrow", message, edge)
        nodes.extend(ends[1:] if nodes else ends)
    return nodes
