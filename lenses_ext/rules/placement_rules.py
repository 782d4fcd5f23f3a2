"""What means nothing where it is, by a slip in its label or by its place, and names sent alike."""

from __future__ import annotations

from collections.abc import Iterator

from gram import Diagnostic, Pattern, TreePath, is_reference, walk
from gram.checks import Reading
from gram.trees import WHOLE

from ..labels import (
    AGENT,
    ANSWER,
    DEFINITIONS,
    LOOP,
    TOOL,
    TOOLS,
    WORKFLOW,
    WORKFLOWS,
    is_agent,
    is_answer,
    is_runnable,
    is_skill,
    is_tool,
    kind_of,
)
from ..language import wire_name
from ..names import Program
from ..signatures import PARAMETERS, RESERVED, is_chain, is_path, is_typed_path, type_names
from ..workflows import HANDOFF, arrows_in
from .rules import nearest_label


def tool_name_collision(reading: Reading) -> Iterator[Diagnostic]:
    """Two that an agent may call whose names are the same when they are sent to a model."""
    program = reading.once(Program.of)
    for agent in program.agents.values():
        first: dict[str, str] = {}
        for path, meant in (*program.inside(agent), *program.handed_over(agent)):
            name = meant.name
            if not name or is_answer(meant.pattern):
                continue
            other = first.setdefault(wire_name(name), name)
            if other != name:
                sent = wire_name(name)
                message = f'tools "{other}" and "{name}" are both sent as "{sent}"'
                yield Diagnostic.found(message, path, "identity")


def skill_name(reading: Reading) -> Iterator[Diagnostic]:
    """A skill with the name of another, or of what its agent may call."""
    program = reading.once(Program.of)
    for agent in program.agents.values():
        called = (*program.inside(agent), *program.handed_over(agent))
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
    for holder in program.runnables.values():
        types = program.types_in(holder.path)
        in_agent = is_agent(holder.pattern)
        for index, element in enumerate(holder.pattern.elements):
            labels = element.value.labels
            if is_tool(element) or is_runnable(element) or (in_agent and is_answer(element)):
                continue
            if is_reference(element) or element.value.identity in types or is_path(element):
                continue
            if labels & {PARAMETERS, DEFINITIONS} or (in_agent and is_skill(element)):
                continue
            found = f"the label {', '.join(sorted(labels))}" if labels else "no label"
            known = [f"a {TOOL}", f"an {AGENT}", f"a {WORKFLOW}", f"an {ANSWER}"]
            *others, last = known if in_agent else known[:-1]
            whose = "an agent" if in_agent else "a workflow"
            message = f"an element of {whose} is {', '.join(others)} or {last}, this has {found}"
            meant = {AGENT, *TOOLS, *WORKFLOWS} | ({ANSWER} if in_agent else set())
            hint = nearest_label(labels - {ANSWER}, meant)
            if not in_agent and len(labels) == 1 and program.meant(min(labels), holder.path):
                hint = f"another use is written in an arrow: ()-->({element.value.identity}::…)"
            if labels <= RESERVED and labels and not element.value.identity:
                hint = f"a signature is a path: ()==>(::{min(labels)})"
            yield Diagnostic.found(message, (*holder.path, index), hint=hint)


def misspelt_label(reading: Reading) -> Iterator[Diagnostic]:
    """A pattern that looks like an agent, a tool or a type, but for a slip in its label."""
    program = reading.once(Program.of)
    used = {name for tool in program.tools.values() for _, _, name in type_names(tool.pattern)}
    tops: list[tuple[TreePath, Pattern]] = [((i,), each) for i, each in enumerate(reading.patterns)]
    pending = tops[::-1]
    while pending:
        path, pattern = pending.pop()
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
        if reading.judges(path) and (hint := nearest_label(subject.labels, wanted)):
            labels = ", ".join(sorted(subject.labels))
            message = f'"{subject.identity}" has the label {labels}, which means nothing here'
            yield Diagnostic.found(message, path, "labels", hint=hint)
        below = enumerate(pattern.elements)
        pending.extend([((*path, index), each) for index, each in below][::-1])


def missing_label(reading: Reading) -> Iterator[Diagnostic]:
    """A pattern without a label that has all that an agent, a workflow or a tool has."""
    program = reading.once(Program.of)
    for top, whole in enumerate(reading.patterns):
        for below, pattern in walk(whole):
            path: TreePath = (top, *below)
            subject = pattern.value
            if subject.labels or not subject.identity or not reading.judges(path):
                continue
            if label := _forgotten_label(program, pattern):
                message = f'"{subject.identity}" has no label, so it is plain data'
                hint = f"did you mean [{subject.identity}:{label} …]?"
                yield Diagnostic.found(message, path, "identity", hint=hint)


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
        if not is_path(pattern) or is_typed_path(pattern) or not reading.judges((index,)):
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
