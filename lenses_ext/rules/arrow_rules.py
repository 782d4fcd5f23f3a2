"""What can be wrong with the arrows of agents and workflows, before types are looked at."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from gram import Diagnostic, Pattern, TreePath
from gram.checks import Reading
from gram.words import did_you_mean, one_of

from ..cycles import cycles
from ..labels import is_agent, kind_of
from ..names import Definition, Program, is_defined_there, reached
from ..signatures import written_arrow
from ..workflows import ARROW_LABELS, HANDOFF, FlowArrow, arrows_in, edges_in, grouped, workflow_of
from .rules import called, judged

_KEYS: Final = {"WHEN": {"as", "is"}, "EACH": {"as", "at_once"}, "HANDOFF": set[str]()}
"""The keys that an arrow may have, by its kind; another has ``as`` alone."""


def holders(reading: Reading) -> list[Definition]:
    """The workflows that are judged, and the agents that have arrows."""
    found = judged(reading, "runnables")
    return [each for each in found if not is_agent(each.pattern) or each.has_arrows]


def _arrows(reading: Reading) -> Iterator[tuple[Definition, FlowArrow, TreePath]]:
    """Every arrow in these, with what it is in and its path."""
    for holder in holders(reading):
        yield from ((holder, each, _at(holder, each)) for each in arrows_in(holder.pattern))


def workflows(reading: Reading) -> list[Definition]:
    """The workflows that are judged."""
    return judged(reading, "workflows")


def arrow_direction(reading: Reading) -> Iterator[Diagnostic]:
    """An arrow without a direction, or with two."""
    for holder in holders(reading):
        for path, edge in edges_in(holder.pattern):
            arrow = written_arrow(edge)
            if arrow and arrow.kind in ("both", "undirected"):
                has = "two directions" if arrow.kind == "both" else "no direction"
                message = f"an arrow points from one node to another, this has {has}"
                hint = "write (a)-->(b), and another arrow for the other direction"
                at = (*holder.path, path[0])
                yield Diagnostic.found(message, at, span=arrow.span, hint=hint)


def arrow_label(reading: Reading) -> Iterator[Diagnostic]:
    """An arrow with a label that means nothing."""
    for _, arrow, at in _arrows(reading):
        if arrow.kind == "UNKNOWN" and arrow.pattern:
            labels = sorted(arrow.pattern.value.labels)
            found = " and ".join(labels)
            message = f"the label of an arrow is {one_of(ARROW_LABELS)}, not {found}"
            hint = did_you_mean(labels[0], ARROW_LABELS) if len(labels) == 1 else "keep one"
            yield Diagnostic.found(message, at, "labels", hint=hint)


def arrow_key(reading: Reading) -> Iterator[Diagnostic]:
    """A key of an arrow that it does not have, or a value that it cannot have."""
    for _, arrow, at in _arrows(reading):
        if arrow.kind == "UNKNOWN" or arrow.pattern is None:
            continue
        record, known = arrow.pattern.value.properties, _KEYS.get(arrow.kind, {"as"})
        what = "a plain arrow" if arrow.kind == "PLAIN" else f"an arrow {arrow.kind}"
        unknown = sorted(record.keys() - known)
        for key in unknown:
            has = f"it has {one_of(sorted(known))}" if known else "leave it out"
            hint = did_you_mean(key, known) or has
            yield Diagnostic.found(f"{what} has no {key}", at, key, hint=hint)
        if arrow.kind == "WHEN" and not arrow.conditions and not unknown:
            message = "an arrow WHEN says which answer it is taken for"
            yield Diagnostic.found(message, at, hint='write -[:WHEN {is: "…"}]->')
        if "as" in record and not arrow.key:
            message = "the name of what an arrow carries is a text"
            yield Diagnostic.found(message, at, "as", hint='write {as: "name"}')
        if "at_once" in record and "at_once" in known and not (arrow.at_once or 0) > 0:
            message = "at_once is a whole number above 0: how many items are worked on at a time"
            yield Diagnostic.found(message, at, "at_once")


def arrow_end(reading: Reading) -> Iterator[Diagnostic]:
    """An end of an arrow that is not a name."""
    for holder in holders(reading):
        elements = {each.value.identity for each in holder.pattern.elements if each.value.identity}
        uses: dict[str, str] = {}
        edges = edges_in(holder.pattern)
        ends = (((*path, at), end) for path, edge in edges for at, end in enumerate(edge.elements))
        for path, end in ends:
            if problem := _wrong_end(holder.pattern, end, elements, uses):
                yield Diagnostic.found(problem[0], (*holder.path, *path), hint=problem[1])


def _wrong_end(
    holder: Pattern, end: Pattern, elements: set[str], uses: dict[str, str]
) -> tuple[str, str | None] | None:
    subject = end.value
    name, labels = subject.identity, sorted(subject.labels)
    if end.elements:
        return "an arrow goes from one name to another, this is a pattern", None
    if is_defined_there(end):
        message = "the ends of an arrow are names, this is a definition"
        return message, f"write it as an element beside the arrows, and here ({name})"
    if not labels or (not name and len(labels) == 1 and is_agent(holder)):
        return None
    if not name or len(labels) > 1:
        hint = f"write ({labels[0]}), or (again::{labels[0]}) for another use of it"
        return "another use of a node is one name and what it uses", hint
    if is_agent(holder):
        return "an arrow of an agent goes to an agent itself", f"write ({labels[0]})"
    if name in elements:
        message = f'"{name}" is an element here, so it cannot be another use of "{labels[0]}"'
        return message, "use another name"
    if uses.setdefault(name, labels[0]) != labels[0]:
        message = f'"{name}" is another use of "{uses[name]}" and of "{labels[0]}"'
        return message, "use two names"
    return None


def handoff(reading: Reading) -> Iterator[Diagnostic]:
    """An arrow of an agent that does not hand its conversation over to another agent."""
    program = reading.once(Program.of)
    for holder, arrow, at in _arrows(reading):
        if not is_agent(holder.pattern):
            if arrow.kind == HANDOFF:
                message = "HANDOFF belongs among the elements of an agent, not of a workflow"
                yield Diagnostic.found(message, at, "labels", hint="leave out the label")
        elif arrow.kind == "UNKNOWN":
            continue
        elif arrow.kind != HANDOFF:
            message = "an arrow among the elements of an agent hands over"
            hint = f"write ({holder.name})-[:HANDOFF]->({arrow.target or '…'}), "
            hint += "or put the arrows into a Workflow"
            yield Diagnostic.found(message, at, hint=hint)
        elif arrow.source != holder.name:
            message = f'"{arrow.source or "()"}" hands over here, inside "{holder.name}"'
            hint = f"write ({holder.name})"
            if arrow.source:
                hint = f'write this arrow among the elements of "{arrow.source}"'
            yield Diagnostic.found(message, (*at, 0), hint=hint)
        else:
            meant = program.nearest(arrow.target or "", holder.path)
            hint = None
            if arrow.target is None:
                message, hint = "an agent hands over to an agent, this is nothing", "name an agent"
            elif arrow.target == holder.name:
                message = f'"{holder.name}" hands over to itself'
            elif meant and not is_agent(meant.pattern):
                kind, where = kind_of(meant.pattern), reading.cited(meant.path)
                message = f'"{arrow.target}" is a {kind} (at {where}), not an agent'
                hint = "only an agent can take a conversation over"
            else:
                continue
            yield Diagnostic.found(message, (*at, 1), hint=hint)


def handoff_names(reading: Reading) -> Iterator[Diagnostic]:
    """An agent that is handed over to, and another of its name in the same run."""
    program = reading.once(Program.of)
    hand_over = [each for each in holders(reading) if is_agent(each.pattern)]
    names = {meant.name for each in hand_over for _, meant in program.handed_over(each)}
    same = grouped((each.name, each) for each in program.named.values() if each.name in names)
    if not any(map(program.are_different, same.values())):
        return
    for root in program.outermost:
        within = reached(program, root)
        in_run = (each for each in hand_over if each.path in within)
        handed = [each for holder in in_run for each in program.handed_over(holder)]
        first = {meant.name: meant for _, meant in reversed(handed)}
        has = (*program.inside(root), *program.used_in_arrows(root))
        for path, meant in (*handed, *(each for each in has if each[1].name in first)):
            known = first[meant.name]
            if program.are_different([known, meant]):
                where = reading.cited(known.path)
                message = f'another agent "{meant.name}", at {where}, is handed over to as well'
                if (path, meant) in has:
                    message = f'another "{meant.name}", at {where}, is handed over to'
                hint = "messages say who spoke: use another name"
                yield Diagnostic.found(message, path, hint=hint)


def called_without_description(reading: Reading) -> Iterator[Diagnostic]:
    """An agent or workflow that another agent may call or hand over to, without a description."""
    program = reading.once(Program.of)
    if not holders(reading):
        return  # only programs with workflows or arrows are asked for descriptions
    callers: dict[TreePath, tuple[Definition, Definition]] = {}
    for caller in program.agents.values():
        for _, each in (*program.inside(caller), *program.handed_over(caller)):
            if each.path in program.runnables and each.path != caller.path:
                callers.setdefault(each.path, (each, caller))
    for path, (called_one, caller) in sorted(callers.items()):
        if "description" not in called_one.pattern.value.properties:
            who = f'"{caller.name}" ({reading.cited(caller.path)})'
            message = f"{called(called_one.pattern)} has no description, by which {who} chooses "
            message += "what to call"
            yield Diagnostic.found(message, path, "identity", hint='add description: "…"')


# --- workflows


def empty_workflow(reading: Reading) -> Iterator[Diagnostic]:
    """A workflow without a node."""
    for holder in workflows(reading):
        if not workflow_of(holder.pattern).nodes:
            hint = "write [name:Workflow | first, second, (first)-->(second)]"
            yield Diagnostic.found(f"{called(holder.pattern)} has no nodes", holder.path, hint=hint)


def unconnected_node(reading: Reading) -> Iterator[Diagnostic]:
    """A node without an arrow where there are arrows: it would never be used."""
    for holder in workflows(reading):
        ends = _ends(holder)
        for at, name in unconnected(holder):
            message = f'"{name}" has no arrow, so nothing uses it'
            nodes = workflow_of(holder.pattern).nodes
            near = did_you_mean(name, sorted(end for end in ends if end and end not in nodes))
            hint = near or f"write ()-->({name}), or leave it out"
            yield Diagnostic.found(message, at, "identity", hint=hint)


def unconnected(holder: Definition) -> Iterator[tuple[TreePath, str]]:
    """The nodes of a workflow with arrows that have none, with their paths."""
    ends = _ends(holder)
    nodes = workflow_of(holder.pattern).nodes if ends else {}
    for index, element in enumerate(holder.pattern.elements):
        name = element.value.identity
        if name in nodes and name not in ends and nodes[name].definition == name:
            yield (*holder.path, index), name


def _ends(holder: Definition) -> set[str | None]:
    """The names at the ends of the arrows that are written; None is the input and the result."""
    return {end for arrow in arrows_in(holder.pattern) for end in (arrow.source, arrow.target)}


def arrow_cycle(reading: Reading) -> Iterator[Diagnostic]:
    """Arrows that lead in a circle; only a Loop repeats."""
    for holder in workflows(reading):
        flow = workflow_of(holder.pattern)
        for way in cycles_of(flow.arrows):
            names = [arrow.source or "" for arrow in way]
            message = f"arrows lead in a circle: {' -> '.join([*names, names[0]])}"
            hint = "repeat with [name:Loop {max: 3, until: …} | …]"
            yield Diagnostic.found(message, _at(holder, way[-1]), hint=hint)


def cycles_of(arrows: tuple[FlowArrow, ...]) -> Iterator[list[FlowArrow]]:
    """For each arrow that closes a circle, the arrows along it, that one last."""
    leaving: dict[str, dict[str, FlowArrow]] = {}
    for arrow in arrows:
        if arrow.source is not None and arrow.target is not None:
            leaving.setdefault(arrow.source, {})[arrow.target] = arrow
    for way in cycles(leaving):
        yield [leaving[one][other] for one, other in pairwise([*way, way[0]])]


def duplicate_field(reading: Reading) -> Iterator[Diagnostic]:
    """Two arrows that carry something of the same name into one record."""
    for holder in workflows(reading):
        flow = workflow_of(holder.pattern)
        joins = (*(node.input for node in flow.nodes.values()), flow.result)
        records = (flow.by_key(join) for join in joins if join.is_record)
        for key, arrows in (each for by_key in records for each in by_key.items()):
            for other, arrow in flow.ways.together(arrows):
                at = arrow if arrow.is_written else other
                where = reading.cited(_at(holder, other)) if other.is_written else "another arrow"
                message = f'"{key}" is carried there twice, by {where} too'
                yield Diagnostic.found(message, _at(holder, at), hint='name one with {as: "…"}')


def several_lists(reading: Reading) -> Iterator[Diagnostic]:
    """An arrow EACH that cannot map: to the result, or a second one to a node."""
    for holder in workflows(reading):
        seen: dict[str, FlowArrow] = {}
        for arrow in arrows_in(holder.pattern):
            if arrow.kind != "EACH":
                continue
            if arrow.target is None:
                message = "EACH leads to a node that is run for each item, not to the result"
                yield Diagnostic.found(message, _at(holder, arrow))
            elif seen.setdefault(arrow.target, arrow) is not arrow:
                where = reading.cited(_at(holder, seen[arrow.target]))
                message = f'"{arrow.target}" is run for each item already, see {where}'
                hint = "put a workflow between them"
                yield Diagnostic.found(message, _at(holder, arrow), hint=hint)


def too_many_ways(reading: Reading) -> Iterator[Diagnostic]:
    """A workflow with more choices than can be followed."""
    for holder in workflows(reading):
        if workflow_of(holder.pattern).ways.too_many:
            choices = f"the choices of {called(holder.pattern)}"
            message = f"{choices} can go in too many ways to be followed"
            hint = "put some of them into a workflow of their own"
            yield Diagnostic.found(message, holder.path, "identity", hint=hint)


def _at(holder: Definition, arrow: FlowArrow) -> TreePath:
    return (*holder.path, *arrow.path)
