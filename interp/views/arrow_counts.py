"""How often a run took the arrows of workflows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import Factory, define

from lenses_ext.drawings import Drawing, Edge, Node

from ..history.replaying import Entry, Timeline
from ..machine import Status


@define
class _Round:
    """What happened in one round of one workflow; a workflow that is no loop has one."""

    workflow: str
    begun: set[str] = Factory(set)
    done: set[str] = Factory(set)
    has_next: bool = False
    gives: bool = False


def arrow_counts(drawing: Drawing, run: Timeline) -> Mapping[Edge, int]:
    """How often a run took the arrows of workflows in a drawing.

    An arrow was taken where what it comes from ended and what it leads to began in the same round.
    Where a choice leads to what other arrows lead to as well, that does not tell which was taken:
    such arrows have no count.
    """
    rounds = list(_rounds(run.entries, run.agent, run.status is Status.DONE))
    nodes = {node.key: node for node in drawing.nodes}
    parents = {group.key: group.group for group in drawing.groups}
    names = {group.key: group.name for group in drawing.groups}
    incoming = [edge.target for edge in drawing.edges if edge.kind == "flow"]
    found: dict[Edge, int] = {}
    for edge in drawing.edges:
        ends = nodes[edge.source], nodes[edge.target]
        if edge.kind == "again":
            ends = ends[0], ends[0]
        elif edge.kind != "flow" or (_is_choice(edge) and incoming.count(edge.target) > 1):
            continue
        group = _group(*ends, parents)
        if group is None:
            continue
        source, target = (_name(each, group, names) for each in ends)
        same = [each for each in rounds if each.workflow == names[group]]
        if edge.kind == "again":
            found[edge] = sum(each.has_next and source in each.done for each in same)
        else:
            found[edge] = sum(_is_taken(each, source, target) for each in same)
    return found


def _is_taken(within: _Round, source: str | None, target: str | None) -> bool:
    has_come = source is None or source in within.done
    return has_come and (within.gives if target is None else target in within.begun)


def _is_choice(edge: Edge) -> bool:
    return edge.label.startswith(("when", "otherwise"))


def _group(source: Node, target: Node, parents: Mapping[str, str | None]) -> str | None:
    """The workflow that an arrow is of: one that both ends are in, or are the ends of."""
    around = [_groups(each, parents) for each in (source, target)]
    return next((each for each in around[0] if each and each in around[1]), None)


def _groups(node: Node, parents: Mapping[str, str | None]) -> list[str | None]:
    if node.kind in ("input", "result") and node.group:
        return [node.group, parents[node.group]]
    return [node.group]


def _name(node: Node, group: str, names: Mapping[str, str]) -> str | None:
    """The name of a step; None for the input and the result of the workflow itself."""
    if node.kind not in ("input", "result") or node.group is None:
        return node.name
    return None if node.group == group else names[node.group]


def _without_rounds(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Entries, with what is in rounds of a loop beside the others."""
    for entry in entries:
        yield from entry.children if entry.kind == "round" else (entry,)


def _rounds(entries: Iterable[Entry], name: str, is_done: bool, place: int = 0) -> Iterator[_Round]:
    """The rounds of what has some entries, if it is a workflow, and of all inside it."""
    found: dict[int, _Round] = {}
    for entry in _without_rounds(entries):
        yield from _rounds(entry.children, entry.name, entry.how == "done", len(entry.at))
        inside = entry.at[place:]
        number = inside[0] if inside and isinstance(inside[0], int) else 0
        step = next((each for each in inside[:2] if isinstance(each, str)), None)
        if step is not None:
            within = found.setdefault(number, _Round(name))
            within.begun.add(step)
            if entry.how == "done":
                within.done.add(step)
    for number, within in found.items():
        within.has_next = number + 1 in found
        within.gives = is_done and not within.has_next
        yield within
