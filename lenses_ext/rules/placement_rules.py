"""What means nothing where it is, by a slip in its label or by its place, and names sent alike."""

from __future__ import annotations

from collections.abc import Iterator

from gram import Diagnostic, Pattern, TreePath, is_edge, walk
from gram.checks import Reading
from gram.trees import WHOLE

from ..labels import AGENT, ANSWER, LOOP, SKILL, TOOL, TOOLS, WORKFLOW, WORKFLOWS, is_agent, kind_of
from ..language import is_arrows, is_node, wire_name
from ..names import Program
from ..signatures import PARAMETERS, RESERVED, is_chain, is_path, is_typed_path, type_names
from ..workflows import ARROW_LABELS, HANDOFF, arrows_in
from .rules import judged, nearest_label


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
            if labels & {PARAMETERS, "Definitions", *in_agents}:
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
