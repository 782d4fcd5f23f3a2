"""What can be wrong with the elements of agents and workflows, before types are looked at.

What means nothing where it is, by a slip in its label or its place; names sent alike; arrows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from gram import Diagnostic, Pattern, TreePath, is_edge, walk
from gram.checks import Reading
from gram.trees import WHOLE
from gram.words import did_you_mean, one_of

from ..cycles import cycles
from ..labels import AGENT, ANSWER, LOOP, SKILL, TOOL, TOOLS, WORKFLOW, WORKFLOWS, is_agent, kind_of
from ..language import is_arrows, is_node, wire_name
from ..names import Definition, Program, is_defined_there, reached
from ..signatures import RESERVED, is_chain, is_path, is_typed_path, type_names, written_arrow
from ..workflows import ARROW_LABELS, HANDOFF, FlowArrow, arrows_in, edges_in, grouped, workflow_of
from .rules import called, judged, nearest_label


def tool_name_collision(reading: Reading) -> Iterator[Diagnostic]:
    """Two that an agent may call whose names are the same when they are sent to a model."""
    program = reading.once(Program.of)
    for agent in judged(reading, "agents"):
        first: dict[str, str] = {}
        for path, meant in program.callable_by(agent):
            sent = wire_name(meant.name)
            other = first.setdefault(sent, meant.name)
            if meant.name and other != meant.name:
                message = f'tools "{other}" and "{meant.name}" are both sent as "{sent}"'
                yield Diagnostic.found(message, path, "identity")


def skill_name(reading: Reading) -> Iterator[Diagnostic]:
    """A skill with the name of another, or of what its agent may call."""
    program = reading.once(Program.of)
    for agent in judged(reading, "agents"):
        called = program.callable_by(agent)
        taken = {wire_name(each.name): f"the {kind_of(each.pattern)}" for _, each in called}
        for found, path, part, span in program.skills_of(agent):
            name = found.value.identity if isinstance(found, Pattern) else ""
            if name and (other := taken.get(wire_name(name))):
                message = f'two things of this agent are named "{name}": the skill, and {other}'
                yield Diagnostic.found(message, path, part, span=span, hint="rename one")
            taken[wire_name(name)] = "another skill"


def unexpected_element(reading: Reading) -> Iterator[Diagnostic]:
    """An element of an agent or workflow that means nothing there."""
    program = reading.once(Program.of)
    for holder in judged(reading, "runnables"):
        types, in_agent = program.types_in(holder.path), is_agent(holder.pattern)
        in_agents = {ANSWER, SKILL} if in_agent else set[str]()
        for index, element in enumerate(holder.pattern.elements):
            labels, name = element.value.labels, element.value.identity
            if is_node(element) or is_path(element) or name in types:
                continue
            if labels & {"Parameters", "Definitions", *in_agents}:
                continue
            found = f"the label {', '.join(sorted(labels))}" if labels else "no label"
            known = [f"a {TOOL}", f"an {AGENT}", f"a {WORKFLOW}", f"an {ANSWER}"]
            *others, last = known if in_agent else known[:-1]
            whose = "an agent" if in_agent else "a workflow"
            message = f"an element of {whose} is {', '.join(others)} or {last}, this has {found}"
            meant = {AGENT, *TOOLS, *WORKFLOWS, *in_agents} - {SKILL}
            meant = {*ARROW_LABELS} if is_edge(element) else meant
            hint = nearest_label(labels - {ANSWER}, meant)
            if name and not labels and (label := _forgotten_label(program, element)):
                hint = f"did you mean [{name}:{label} …]?"
            if not in_agent and len(labels) == 1 and program.meant(min(labels), holder.path):
                hint = f"another use is written in an arrow: ()-->({name}::…)"
            if labels <= RESERVED and labels and not name:
                hint = f"a signature is a path: ()==>(::{min(labels)})"
            yield Diagnostic.found(message, (*holder.path, index), hint=hint)


def misspelt_label(reading: Reading) -> Iterator[Diagnostic]:
    """A pattern that looks like an agent, a tool or a type, but for a slip in its label."""
    program = reading.once(Program.of)
    used = {name for tool in program.tools.values() for _, _, name in type_names(tool.pattern)}
    pending: list[tuple[TreePath, Pattern]] = [((i,), it) for i, it in enumerate(reading.patterns)]
    for path, pattern in pending:
        subject = pattern.value
        if subject.labels & {AGENT, ANSWER, *TOOLS, *WORKFLOWS}:
            continue
        wanted: set[str] = set()
        if program.runnables and any(map(is_path, pattern.elements)):
            wanted.update(WORKFLOWS)
        if "instruction" in subject.properties or "model" in subject.properties:
            wanted.add(AGENT)
        if "description" in subject.properties and any(map(is_chain, pattern.elements)):
            wanted.update(TOOLS)
        if subject.identity in used and not subject.labels & RESERVED:
            wanted.update(RESERVED)
        if hint := nearest_label(subject.labels, wanted):
            labels = ", ".join(sorted(subject.labels))
            message = f'"{subject.identity}" has the label {labels}, which means nothing here'
            yield Diagnostic.found(message, path, "labels", hint=hint)
        pending += (((*path, at), each) for at, each in enumerate(pattern.elements))


def missing_label(reading: Reading) -> Iterator[Diagnostic]:
    """A pattern without a label that has all that an agent, a workflow or a tool has."""
    program = reading.once(Program.of)
    for path, pattern in walk(reading.patterns):
        name = pattern.value.identity
        if name and not pattern.value.labels and (label := _forgotten_label(program, pattern)):
            message, hint = f'"{name}" has no label, so it is plain data', f"[{name}:{label} …]"
            yield Diagnostic.found(message, path, "identity", hint=f"did you mean {hint}?")


def _forgotten_label(program: Program, pattern: Pattern) -> str | None:
    """The label that a pattern without one should have had; None where none is missed."""
    keys = pattern.value.properties.keys()
    if "instruction" in keys and "model" in keys:
        return AGENT
    paths = [each for each in pattern.elements if is_path(each)]
    if not paths or is_path(pattern):
        return None
    if any(map(is_typed_path, paths)):
        return TOOL if "description" in keys else None
    ends = {end for arrow in arrows_in(pattern) for end in (arrow.source, arrow.target)}
    if any(end and program.meant(end, WHOLE) for end in ends):
        return LOOP if "until" in keys else WORKFLOW
    return None


def arrow_outside(reading: Reading) -> Iterator[Diagnostic]:
    """An arrow between agents or tools at the top of a file, where none is meant."""
    program = reading.once(Program.of)
    for index, pattern in enumerate(reading.patterns):
        if not is_arrows(pattern):
            continue
        arrows = arrows_in(Pattern(elements=[pattern]))
        ends = [end for arrow in arrows for end in (arrow.source, arrow.target)]
        kinds = {arrow.kind for arrow in arrows}
        if "UNKNOWN" not in kinds and all(end and program.meant(end, WHOLE) for end in ends):
            message = "an arrow at the top of a file means nothing to agents and tools"
            hint = f"put it into a workflow: [name:Workflow | ({ends[0]})-->({ends[-1]})]"
            if kinds == {HANDOFF}:
                hint = f'put it among the elements of "{ends[0]}"'
            yield Diagnostic.found(message, (index,), hint=hint)


# --- arrows

_KEYS: Final = {"WHEN": {"as", "is"}, "EACH": {"as", "at_once"}, "HANDOFF": set[str]()}
"""The keys that an arrow may have, by its kind; another has ``as`` alone."""


def arrow_direction(holder: Pattern) -> Iterator[Diagnostic]:
    """An arrow without a direction, or with two."""
    for path, edge in edges_in(holder):
        arrow = written_arrow(edge)
        if arrow and arrow.kind in ("both", "undirected"):
            has = "two directions" if arrow.kind == "both" else "no direction"
            message = f"an arrow points from one node to another, this has {has}"
            hint = "write (a)-->(b), and another arrow for the other direction"
            yield Diagnostic.found(message, path[:1], span=arrow.span, hint=hint)


def arrow_label(holder: Pattern) -> Iterator[Diagnostic]:
    """An arrow with a label that means nothing."""
    for arrow in arrows_in(holder):
        if arrow.kind == "UNKNOWN" and arrow.pattern:
            labels = sorted(arrow.pattern.value.labels)
            found = " and ".join(labels)
            message = f"the label of an arrow is {one_of(ARROW_LABELS)}, not {found}"
            hint = did_you_mean(labels[0], ARROW_LABELS) if len(labels) == 1 else "keep one"
            yield Diagnostic.found(message, arrow.path, "labels", hint=hint)


def arrow_key(holder: Pattern) -> Iterator[Diagnostic]:
    """A key of an arrow that it does not have, or a value that it cannot have."""
    for arrow in arrows_in(holder):
        if arrow.kind == "UNKNOWN" or arrow.pattern is None:
            continue
        at, record = arrow.path, arrow.pattern.value.properties
        known = _KEYS.get(arrow.kind, {"as"})
        what = "a plain arrow" if arrow.kind == "PLAIN" else f"an arrow {arrow.kind}"
        unknown = sorted(record.keys() - known)
        for key in unknown:
            has = f"it has {one_of(sorted(known))}" if known else "leave it out"
            yield Diagnostic.found(
                f"{what} has no {key}", at, key, hint=did_you_mean(key, known) or has
            )
        if arrow.kind == "WHEN" and not arrow.conditions and not unknown:
            message = "an arrow WHEN says which answer it is taken for"
            yield Diagnostic.found(message, at, hint='write -[:WHEN {is: "…"}]->')
        if "as" in record and not arrow.key:
            message = "the name of what an arrow carries is a text"
            yield Diagnostic.found(message, at, "as", hint='write {as: "name"}')
        if "at_once" in record and "at_once" in known and not (arrow.at_once or 0) > 0:
            message = "at_once is a whole number above 0: how many items are worked on at a time"
            yield Diagnostic.found(message, at, "at_once")


def arrow_end(holder: Pattern) -> Iterator[Diagnostic]:
    """An end of an arrow that is not a name."""
    elements = {each.value.identity for each in holder.elements if each.value.identity}
    uses: dict[str, str] = {}
    for path, edge in edges_in(holder):
        for at, end in enumerate(edge.elements):
            if problem := _wrong_end(holder, end, elements, uses):
                yield Diagnostic.found(problem[0], (*path, at), hint=problem[1])


def _wrong_end(
    holder: Pattern, end: Pattern, elements: set[str], uses: dict[str, str]
) -> tuple[str, str | None] | None:
    subject = end.value
    name, labels = subject.identity, sorted(subject.labels)
    if is_agent(holder) and _has_name_and_type(end):
        message = "an arrow of an agent goes from one agent to another, this is a parameter"
        return message, "a signature ends with a type that has no name, such as ==>(::String)"
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


def _has_name_and_type(end: Pattern) -> bool:
    return bool(end.value.identity and end.value.labels & RESERVED)


def hand_over(reading: Reading) -> list[Definition]:
    """The agents that are judged and have arrows."""
    return [each for each in judged(reading, "agents") if each.has_arrows]


def handoff(reading: Reading) -> Iterator[Diagnostic]:
    """An arrow of an agent that does not hand its conversation over to another agent."""
    program = reading.once(Program.of)
    holders = judged(reading, "runnables")
    for holder, arrow in ((it, arrow) for it in holders for arrow in arrows_in(it.pattern)):
        at = (*holder.path, *arrow.path)
        if not is_agent(holder.pattern):
            if arrow.kind == HANDOFF:
                message = "HANDOFF belongs among the elements of an agent, not of a workflow"
                yield Diagnostic.found(message, at, "labels", hint="leave out the label")
        elif arrow.kind == "UNKNOWN":
            continue
        elif arrow.kind != HANDOFF:
            if arrow.pattern and any(map(_has_name_and_type, arrow.pattern.elements)):
                continue  # it is meant as a signature: its ends are reported
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
    agents = hand_over(reading)
    names = {meant.name for each in agents for _, meant in program.handed_over(each)}
    same = grouped((each.name, each) for each in program.named.values() if each.name in names)
    if not any(map(program.are_different, same.values())):
        return
    for root in program.outermost:
        within = reached(program, root)
        in_run = (each for each in agents if each.path in within)
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
    if not (hand_over(reading) or judged(reading, "workflows")):
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


def empty_workflow(workflow: Pattern) -> Iterator[Diagnostic]:
    """A workflow without a node."""
    if not workflow_of(workflow).nodes:
        hint = "write [name:Workflow | first, second, (first)-->(second)]"
        yield Diagnostic.found(f"{called(workflow)} has no nodes", hint=hint)


def unconnected_node(workflow: Pattern) -> Iterator[Diagnostic]:
    """A node without an arrow where there are arrows: it would never be used."""
    nodes, ends = workflow_of(workflow).nodes, _ends(workflow)
    for index, name in unconnected(workflow):
        message = f'"{name}" has no arrow, so nothing uses it'
        near = did_you_mean(name, sorted(end for end in ends if end and end not in nodes))
        hint = near or f"write ()-->({name}), or leave it out"
        yield Diagnostic.found(message, (index,), "identity", hint=hint)


def unconnected(workflow: Pattern) -> Iterator[tuple[int, str]]:
    """The nodes of a workflow with arrows that have none, with their places."""
    ends = _ends(workflow)
    nodes = workflow_of(workflow).nodes if ends else {}
    for index, element in enumerate(workflow.elements):
        name = element.value.identity
        if name in nodes and name not in ends and nodes[name].definition == name:
            yield index, name


def _ends(workflow: Pattern) -> set[str | None]:
    """The names at the ends of the arrows that are written; None is the input and the result."""
    return {end for arrow in arrows_in(workflow) for end in (arrow.source, arrow.target)}


def arrow_cycle(workflow: Pattern) -> Iterator[Diagnostic]:
    """Arrows that lead in a circle; only a Loop repeats."""
    for way in cycles_of(workflow_of(workflow).arrows):
        names = [arrow.source or "" for arrow in way]
        message = f"arrows lead in a circle: {' -> '.join([*names, names[0]])}"
        hint = "repeat with [name:Loop {max: 3, until: …} | …]"
        yield Diagnostic.found(message, way[-1].path, hint=hint)


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
    for holder in judged(reading, "workflows"):
        flow = workflow_of(holder.pattern)
        joins = (*(node.input for node in flow.nodes.values()), flow.result)
        records = (flow.by_key(join) for join in joins if join.is_record)
        for key, arrows in (each for by_key in records for each in by_key.items()):
            for other, arrow in flow.ways.together(arrows):
                at = arrow if arrow.is_written else other
                where = _cited(reading, holder, other) if other.is_written else "another arrow"
                message = f'"{key}" is carried there twice, by {where} too'
                path = (*holder.path, *at.path)
                yield Diagnostic.found(message, path, hint='name one with {as: "…"}')


def several_lists(reading: Reading) -> Iterator[Diagnostic]:
    """An arrow EACH that cannot map: to the result, or a second one to a node."""
    for holder in judged(reading, "workflows"):
        seen: dict[str, FlowArrow] = {}
        for arrow in (each for each in arrows_in(holder.pattern) if each.kind == "EACH"):
            hint = None
            if arrow.target is None:
                message = "EACH leads to a node that is run for each item, not to the result"
            elif (first := seen.setdefault(arrow.target, arrow)) is not arrow:
                where = _cited(reading, holder, first)
                message = f'"{arrow.target}" is run for each item already, see {where}'
                hint = "put a workflow between them"
            else:
                continue
            yield Diagnostic.found(message, (*holder.path, *arrow.path), hint=hint)


def _cited(reading: Reading, holder: Definition, arrow: FlowArrow) -> str:
    return reading.cited((*holder.path, *arrow.path))


def too_many_ways(workflow: Pattern) -> Iterator[Diagnostic]:
    """A workflow with more choices than can be followed."""
    if workflow_of(workflow).ways.too_many:
        message = f"the choices of {called(workflow)} can go in too many ways to be followed"
        hint = "put some of them into a workflow of their own"
        yield Diagnostic.found(message, part="identity", hint=hint)
