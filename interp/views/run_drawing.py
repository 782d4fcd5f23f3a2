"""The drawing of a program with what a run came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from attrs import evolve

from lenses_ext.drawings import Drawing

from ..history.replaying import Timeline


def with_counts(drawing: Drawing, run: Timeline) -> Drawing:
    """A drawing with how often a run came to each agent and tool, and how often that failed.

    An agent counts its requests to a model, a tool its calls, by the names in the drawing.
    """
    asked, called, failed = Counter[str](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for entry in run.in_order:
        if entry.is_open:
            continue
        if entry.kind == "model":
            asked[entry.who] += 1
        elif entry.kind in ("tool", "agent", "workflow"):
            called[entry.who, entry.name] += 1
            failed[entry.who, entry.name] += entry.how != "done"
    names = {node.key: node.name for node in drawing.nodes}
    holders: dict[str, list[str]] = {}
    for edge in drawing.edges:
        if edge.kind == "has":
            holders.setdefault(edge.target, []).append(names[edge.source])
    nodes = []
    for node in drawing.nodes:
        pairs = [(holder, node.name) for holder in holders.get(node.key, ())]
        if node.kind == "tool" and not pairs:  # a step of a workflow
            pairs = [pair for pair in called if pair[1] == node.name]
        if node.kind == "agent":
            nodes.append(evolve(node, count=asked[node.name], failed=_sum(failed, pairs)))
        elif node.kind == "tool":
            nodes.append(evolve(node, count=_sum(called, pairs), failed=_sum(failed, pairs)))
        else:
            nodes.append(node)
    edges = [
        evolve(edge, count=called[names[edge.source], names[edge.target]])
        if edge.kind == "has" and names[edge.target]
        else edge
        for edge in drawing.edges
    ]
    return evolve(drawing, nodes=tuple(nodes), edges=tuple(edges))


def _sum(counts: Counter[tuple[str, str]], pairs: Iterable[tuple[str, str]]) -> int:
    return sum(counts[pair] for pair in set(pairs))
