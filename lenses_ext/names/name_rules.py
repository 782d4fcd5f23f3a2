"""Where a program writes a name, and what can be wrong with it: defined twice, or nowhere.

Each rule looks at a whole program and finds where it is broken.
"""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import TopologicalSorter
from typing import Final, NamedTuple

from attrs import evolve

from gram import Check, Diagnostic, TreePath, pattern_at
from gram.checks import CHECKS, Reading
from gram.words import did_you_mean

from ..cycles import cycles
from ..labels import is_runnable, is_tool, is_workflow, kind_of
from ..signatures import RESERVED
from .imports import IMPORTS, UnreadSkill
from .scopes import Definition, Files, Program


class Use(NamedTuple):
    """A name in a program that means a definition.

    Attributes:
        path: the pattern that has the name.
        part: which part of it is the name: ``identity``, ``labels``, or the key of a property.
        meant: what it means there; of several, the nearest.
    """

    path: TreePath
    part: str
    meant: Definition

    @property
    def is_definition(self) -> bool:
        """Whether it is the definition's own name."""
        return self.part == "identity" and self.path == self.meant.path


def uses(program: Program) -> Iterator[Use]:
    """Every use of a name that is defined: of agents, workflows, tools and types.

    >>> from gram import loads
    >>> used = uses(Program(loads("[a:Agent | t] (t:Tool)")))
    >>> [(each.path, each.meant.path) for each in used]
    [((0,), (0,)), ((1,), (1,)), ((0, 0), (1,))]
    """
    for each in program.named.values():
        if each.name:
            yield Use(each.path, "identity", each)
    for scope in program.scopes:
        for same in program.types_in(scope).values():
            yield from (Use(each.path, "identity", each) for each in same)
    for holder in program.runnables.values():
        for path, name in holder.names_written:
            again = pattern_at(program.patterns, path).value.labels  # (again::writer)
            for meant in program.meant(name, holder.path)[:1]:
                yield Use(path, "labels" if again else "identity", meant)
    known: set[tuple[TreePath, str, str]] = set()
    for holder in (program.tools | program.answers | program.runnables).values():
        for path, part, types in program.type_uses(holder):
            key = (path, part, types[0].name)
            if key not in known:
                known.add(key)
                yield Use(path, part, types[0])


MOST_HINTS = 50
"""For how many references similar names are looked up, which takes long among many names."""

MAX_AGENTS = 100
"""How many agents one may hold, directly or through others."""


# --- files


def import_fault(reading: Reading) -> Iterator[Diagnostic]:
    """An import of a file that cannot be read, or may not be."""
    yield from reading.once(Program.of).files.faults


def unread_skill(reading: Reading) -> Iterator[Diagnostic]:
    """A folder of an agent's skills whose file cannot be read, or may not be."""
    program = reading.once(Program.of)
    for agent in program.agents.values():
        for found, path, part, span in program.skills_of(agent):
            if isinstance(found, UnreadSkill):
                yield Diagnostic.found(found.message, path, part, span=span, hint=found.hint)


def unused_import(reading: Reading) -> Iterator[Diagnostic]:
    """An import of a file of which nothing is used."""
    program = reading.once(Program.of)
    if all(not imports for imports in program.files.imports.values()):
        return
    named = (each for each in uses(program) if not each.is_definition)
    used = {(program.files.scope_of(each.path), each.meant.name) for each in named}
    for scope, imports in program.files.imports.items():
        for each in imports:
            if each.scope is None:
                continue
            if not any((scope, name) in used for name in program.names_at(each.scope)):
                message = f'nothing of "{each.name}" is used in this file'
                hint = "remove it from the imports"
                yield Diagnostic.found(message, (*scope, 0), IMPORTS, span=each.span, hint=hint)


def dangling_reference(reading: Reading) -> Iterator[Diagnostic]:
    """A bare name among elements that no pattern in sight has, nor what the file imports."""
    program = reading.once(Program.of)
    for found in _DANGLING.find(reading):
        path = found.tree_path
        imported = map(program.names_at, program.files.seen_from(program.files.scope_of(path)))
        name = pattern_at(program.patterns, path).value.identity
        if program.files.are_read(path) and not any(name in names for names in imported):
            yield found


_DANGLING: Final = next(row for row in CHECKS if row.code == "dangling-reference")


# --- definitions


def duplicate_definition(reading: Reading) -> Iterator[Diagnostic]:
    """Two agents, tools or types of one name in one scope."""
    program = reading.once(Program.of)
    if not program.outermost:
        return  # plain data, whose labels may look like types
    for scope in program.scopes:
        is_top = program.is_top(scope)
        for first, *others in program.definitions_in(scope):
            for other in others:
                # one is called or used, and is among those to hand over to
                is_twice = len(first.path) != len(other.path) and first.pattern == other.pattern
                are_tools = is_tool(first.pattern) and is_tool(other.pattern)
                if is_top or not (is_twice or are_tools):
                    where = reading.cited(first.path)
                    message = f'"{other.name}" is defined at {where} and again here'
                    yield Diagnostic.found(message, other.path, "identity", hint="keep one")


def duplicate_tool(reading: Reading) -> Iterator[Diagnostic]:
    """An agent or workflow that has, or refers to, two tools or agents of one name."""
    program = reading.once(Program.of)
    for holder in program.runnables.values():
        first: dict[str, tuple[TreePath, Definition]] = {}
        for path, meant in program.inside(holder):
            known, other = first.setdefault(meant.name, (path, meant))
            if known == path or not meant.name:
                continue
            both_tools = is_tool(meant.pattern) and is_tool(other.pattern)
            if both_tools or path != meant.path or known != other.path:
                what = "tools" if both_tools else "elements"
                where = reading.cited(known)
                message = f'two {what} are named "{meant.name}", the first at {where}'
                yield Diagnostic.found(message, path, "identity", hint="keep one")


def ambiguous_type(reading: Reading) -> Iterator[Diagnostic]:
    """A type that is defined differently in scopes around the signature that uses it."""
    program = reading.once(Program.of)
    for holder in (program.tools | program.answers | program.runnables).values():
        if not reading.judges(holder.path):
            continue
        for path, part, meant in program.type_uses(holder):
            if len({each.scope for each in meant}) > 1 and program.are_different(meant):
                where = " or ".join(f"the one at {reading.cited(each.path)}" for each in meant)
                message = f'the type "{meant[0].name}" can mean two things: {where}'
                yield Diagnostic.found(message, path, part, hint="give one of them another name")


# --- references

_INPUT_OR_RESULT: Final = {"input", "output", "result", "start", "end"}
"""What people call the two ends of a workflow, by what they know from elsewhere."""


def undefined_reference(reading: Reading) -> Iterator[Diagnostic]:
    """A name in an agent or workflow that nothing visible from there has."""
    program = reading.once(Program.of)
    hints = 0
    for holder in program.runnables.values():
        if not reading.judges(holder.path) or not program.files.are_read(holder.path):
            continue  # what is not read is reported itself
        for path, name in holder.names_used:
            if program.meant(name, holder.path):
                continue
            hint = None
            if name in program.in_files:
                where = reading.cited(program.in_files[name].path)
                hint = f"it is defined at {where}: import that file here"
            elif name in program.inner:
                inner = program.inner[name]
                owner = program.runnables[inner.scope]
                where = f'it is defined inside the {kind_of(owner.pattern)} "{owner.name}"'
                hint = f"{where}: move the {kind_of(inner.pattern)} to the top of the file"
            elif hints < MOST_HINTS:
                hint = did_you_mean(name, program.names_seen(holder.path))
            hints += 1
            if hint is None and (name in RESERVED or name in program.types_in(holder.path)):
                hint = f"{name} is a type: a signature ends with it without a name, ==>(::{name})"
            if hint is None and is_workflow(holder.pattern) and name.lower() in _INPUT_OR_RESULT:
                hint = "write () for the input, at the left of an arrow, and for the result"
            is_a_part = reading.document is None and not isinstance(reading.scopes, Files)
            if hint is None and is_a_part and len(reading.patterns) == 1:
                hint = "if the file defines it, resolve the agent with the whole file first"
            message = f'"{name}" is not defined: no tool or agent of this name is visible here'
            yield Diagnostic.found(message, path, hint=hint)


def ambiguous_reference(reading: Reading) -> Iterator[Diagnostic]:
    """A name in an agent or workflow that is defined differently in scopes around it."""
    program = reading.once(Program.of)
    for holder in program.runnables.values():
        for path, name in holder.names_used:
            meant = program.meant(name, holder.path)
            # two in one scope are reported where they are defined, two in this agent too
            scopes = {each.scope for each in meant}
            if len(scopes) > 1 and holder.path not in scopes and program.are_different(meant):
                places = " or ".join(f"the one at {reading.cited(each.path)}" for each in meant)
                message = f'"{name}" can mean two things: {places}'
                yield Diagnostic.found(message, path, hint="give one of them another name")


def reference_cycle(reading: Reading) -> Iterator[Diagnostic]:
    """An agent or workflow that contains itself, by reference or through what it refers to."""
    for kind, chain, path in reading.once(_nesting)[0]:
        names = [*chain, chain[0]]
        if len(names) > 10:
            names[5:-4] = ["…"]
        message = f'{kind} "{chain[0]}" contains itself: {" -> ".join(names)}'
        yield Diagnostic.found(message, path)


def too_many_agents(reading: Reading) -> Iterator[Diagnostic]:
    """An agent that holds more than 100 others, counted each time that they are referred to."""
    for path in reading.once(_nesting)[1]:
        message = f"more than {MAX_AGENTS} agents are inside this one, by reference"
        yield Diagnostic.found(message, path, "identity")


def _nesting(reading: Reading) -> tuple[list[tuple[str, list[str], TreePath]], list[TreePath]]:
    """Which agents are inside which, when every reference is resolved.

    Returns:
        The references that lead back to an agent or workflow they are in: what that is, the names
        on the way, and the path of the reference. And the paths of those that hold too many others,
        and nothing inside them does.
    """
    program = reading.once(Program.of)
    inside = {path: _inside(program, each) for path, each in program.runnables.items()}
    leads_to = {path: [meant.path for _, meant in of] for path, of in inside.items()}
    found = []
    for way in [*cycles(leads_to)]:
        leads_to[way[-1]] = [each for each in leads_to[way[-1]] if each != way[0]]
        names = [program.runnables[path].name for path in way]
        at = next(at for at, meant in inside[way[-1]] if meant.path == way[0])
        found.append((kind_of(program.runnables[way[0]].pattern), names, at))
    too_many: list[TreePath] = []
    held: dict[TreePath, int] = {}
    for path in TopologicalSorter(leads_to).static_order():
        held[path] = sum(1 + held[each] for each in leads_to[path])
        if held[path] > MAX_AGENTS and all(held[each] <= MAX_AGENTS for each in leads_to[path]):
            too_many.append(path)
    return found, too_many


def _inside(program: Program, here: Definition) -> list[tuple[TreePath, Definition]]:
    """What an agent calls or a workflow uses that can be run; not what is handed over to."""
    handed = {meant.path for _, meant in program.handed_over(here)}
    called = [each for each in program.inside(here) if each[1].path not in handed]
    used = (*called, *program.used_in_arrows(here))
    return [each for each in used if is_runnable(each[1].pattern)]


# codes that another rule supersedes, where it says more of the same slip
DEFINED_TWICE: Final = frozenset({"duplicate-definition", "inconsistent-definition"})

_SAID_OF_REFERENCES: Final = frozenset({"dangling-reference", "handoff", "unconnected-node"})
_CIRCLES: Final = frozenset({"reference-cycle", "self-reference"})
_SAID_OF_TOOLS: Final = DEFINED_TWICE | _CIRCLES | {"ambiguous-reference", "unconnected-node"}

IMPORT_CHECKS: Final = (
    evolve(_DANGLING, find=dangling_reference),
    Check("unused-import", "warning", unused_import),
)

_DEFINED_ONCE: Final = Check("duplicate-definition", "error", duplicate_definition, DEFINED_TWICE)

REFERENCE_CHECKS: Final = (
    Check("missing-import", "error", import_fault),
    Check("unread-skill", "error", unread_skill),
    _DEFINED_ONCE,
    Check("duplicate-tool", "error", duplicate_tool, _SAID_OF_TOOLS),
    Check("undefined-reference", "error", undefined_reference, _SAID_OF_REFERENCES),
    Check("ambiguous-reference", "error", ambiguous_reference, _CIRCLES),
    Check("reference-cycle", "error", reference_cycle, {"self-reference"}),
    Check("too-many-agents", "error", too_many_agents),
)

TYPE_CHECKS: Final = (_DEFINED_ONCE, Check("ambiguous-type", "error", ambiguous_type))
"""Types that a label could mean several of."""
