"""References: the elements and ends of arrows that name what is defined elsewhere.

`resolve` puts the definitions in their place, `reached` follows the references, and `choose` finds
the agent that is meant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, TypeAlias, TypeVar, Union

from gram import ArgumentError, Check, Diagnostic, Document, Span, check, only_errors
from gram.errors import expect_all
from gram.trees import Pattern, Subject, TreePath, pattern_at
from gram.words import did_you_mean

from ..errors import ProgramError
from ..labels import AGENT, DEFINITIONS, LOOP, WORKFLOW, is_agent, is_runnable, is_tool
from ..language import with_skills
from ..signatures import with_other_elements
from .name_rules import REFERENCE_CHECKS, TYPE_CHECKS
from .projects import Project
from .scopes import Definition, Program, program_scopes

ProgramLike: TypeAlias = Union[Project, Document, Pattern, Iterable[Pattern]]
"""A program: a project, a document, the patterns of one, or a pattern."""

D = TypeVar("D", bound=Union[Project, Document, Pattern, tuple[Pattern, ...]])
"""A program that is edited."""


def program_patterns(
    program: ProgramLike, *, by: str = "program_patterns", reader: str = "load_project"
) -> tuple[Pattern, ...]:
    """The patterns of a program.

    Args:
        program: the program.
        by: the name of the function that was given it.
        reader: what reads a path, for who gives one.
    """
    if isinstance(program, Document | Project):
        return program.patterns
    if isinstance(program, Pattern):
        return (program,)
    if isinstance(program, str) and program.lstrip().startswith(("[", "(", "{", "//")):
        raise ArgumentError(f"{by}: program is a text: read it with lenses_ext.parse_program")
    if isinstance(program, str | PurePath):
        raise ArgumentError(f"{by}: program is a path: read it with {reader}({str(program)!r})")
    wanted = "a Project, a Document, a Pattern or an iterable of Patterns"
    return expect_all(program, Pattern, "program", by=by, wanted=wanted)


def program_of(program: ProgramLike, *, by: str) -> Program:
    """The definitions of a program, with the files that they are in.

    Args:
        program: the program.
        by: the name of the function that was given it.
    """
    files = program.files if isinstance(program, Project) else None
    return Program(program_patterns(program, by=by), files)


def with_patterns(program: D, patterns: tuple[Pattern, ...]) -> D:
    """A program with other patterns: a document or project edited, one pattern as one."""
    result: Any = patterns[0] if isinstance(program, Pattern) else patterns
    if isinstance(program, Document | Project):
        result = program.replace(patterns)
    return result  # type: ignore[no-any-return]  # what was given, changed


def document_of_program(program: ProgramLike) -> Document | None:
    """The document that a program is given as, if it is one; of a project, its first file."""
    if isinstance(program, Project):
        return program.document
    return program if isinstance(program, Document) else None


def diagnose(
    program: ProgramLike,
    checks: Sequence[Check],
    within: Collection[TreePath] | None = None,
) -> tuple[Diagnostic, ...]:
    """What is wrong with a program by some rules, in the order of its files and their texts.

    Args:
        program: the program.
        checks: the rules.
        within: the paths to the patterns to judge; without them, all are judged.
    """
    if isinstance(program, Project):
        project = program.as_read()
        return check(project.patterns, checks=checks, scopes=project.files, within=within)
    return check(program, checks=checks, scopes=program_scopes, within=within)


def find_agents(program: ProgramLike) -> tuple[Pattern, ...]:
    """The agents of a program, those below annotations and groups too, in the order of the text.

    An agent inside another, or inside a workflow, is part of that one.
    """
    outermost = program_of(program, by="find_agents").outermost
    return tuple(each.pattern for each in outermost if is_agent(each.pattern))


def find_runnables(program: ProgramLike) -> tuple[Pattern, ...]:
    """The agents and workflows of a program that are not inside one, in the order of the text."""
    outermost = program_of(program, by="find_runnables").outermost
    return tuple(each.pattern for each in outermost if is_runnable(each.pattern))


def choose(
    program: Program, name: str | None = None, *, document: Document | None = None
) -> Definition:
    """The agent or workflow of a program that is called ``name``, or the only one that is meant.

    Without a name it is the one that nothing else in the program refers to.

    Args:
        program: the program.
        name: the name of the agent or workflow.
        document: what the program was read from, to place the fault that it is empty.

    Raises:
        ProgramError: there is none of this name, or there are several and no name is given.
    """
    known = [each for each in program.outermost if is_runnable(each.pattern)]
    if not known:
        raise ProgramError.of([_no_agent(program, document)])
    names = list(dict.fromkeys(each.name for each in known))
    if name is not None:
        if name not in names:
            hint = did_you_mean(name, names) or f"it has {', '.join(names)}"
            raise ProgramError(f'the program has no agent "{name}"; {hint}')
        return next(each for each in known if each.name == name)
    meant = known if len(names) == 1 else _not_referred_to(program, known)
    names = list(dict.fromkeys(each.name for each in meant)) or names
    if len(names) == 1:
        return meant[0]
    kind = "agents" if all(is_agent(each.pattern) for each in known) else "agents and workflows"
    each_other = "" if meant else ", and each is used or handed over to by another"
    raise ProgramError(
        f"the program has {len(names)} {kind}: {', '.join(names)}{each_other}; choose one, "
        f'with agent="{names[0]}" in Python or --agent {names[0]} on the command line'
    )


def _not_referred_to(program: Program, known: list[Definition]) -> list[Definition]:
    """Those of some agents and workflows that no other one uses or hands over to."""
    used: set[TreePath] = set()
    for each in program.runnables.values():
        outer = each.path[: next(n for n in range(1, 99) if each.path[:n] in program.runnables)]
        calls = (*program.inside(each), *program.used_in_arrows(each))
        leads_to = {meant.path for _, meant in (*calls, *program.handed_over(each))}
        used |= leads_to - {outer}
    return [each for each in known if each.path not in used]


def _no_agent(program: Program, document: Document | None) -> Diagnostic:
    message = "there is no agent here: no pattern has the label Agent"
    written = ((each, label) for each in program.patterns for label in sorted(each.value.labels))
    for pattern, label in written:
        for near in (it for it in (AGENT, WORKFLOW, LOOP) if did_you_mean(label, [it])):
            hint = f"did you mean {near} instead of {label}?"
            return Diagnostic.of("no-agent", message, pattern, "labels", hint=hint)
    hint = "write [name:Agent {…}]"
    if not program.patterns:
        source, span = (document.source, Span(0, 0)) if document else (None, None)
        message = "the program is empty"
        return Diagnostic("no-agent", "error", message, span=span, hint=hint, source=source)
    return Diagnostic.of("no-agent", message, program.patterns[0], hint=hint)


def reached(program: Program, agent: Definition) -> frozenset[TreePath]:
    """The paths of an agent and of every definition that it refers to, directly or not.

    Where a name can mean several definitions, all of them are reached.
    """
    found: set[TreePath] = set()
    pending = [agent, *program.namesakes(agent)]
    while pending:
        here = pending.pop()
        if here.path in found:
            continue
        found.add(here.path)
        file = program.files.scope_of(here.path)
        if program.files.imports[file]:
            found.add((*file, 0))  # what its header imports
        if is_runnable(here.pattern):
            pending += (meant for _, meant in program.inside(here))
            for _, name in here.names_used:
                pending.extend(program.meant(name, here.path))
        if here.path in program.named or here.path in program.answers:
            for _, _, meant in program.type_uses(here):
                pending.extend(meant)
    return frozenset(found)


def tool_with_types(program: Program, tool: Definition) -> Pattern:
    """A tool of a program with the types put beside it that it uses.

    Raises:
        ProgramError: one of its types is defined twice, or can mean two things.
    """
    if any(program.are_different(meant) for _, _, meant in program.type_uses(tool)):
        faults = _check(program, TYPE_CHECKS, reached(program, tool))
        raise ProgramError.of(only_errors(faults))
    return program.completed(tool)[0]


def resolve(program: ProgramLike, agent: str | None = None) -> Pattern:
    """An agent or workflow with each reference replaced by what it names.

    The types that its tools share with others are put beside their signatures. What arrows alone
    name is put among the elements: of a workflow as further elements, of agents that are handed
    over to as one element labelled `Definitions` of the whole (see `definitions_of`). The ends of
    arrows stay names. Instead of folders of skills that an agent names, it has the skills. Where
    there is nothing to replace, the pattern itself is given back.

    Args:
        program: a project, a document, the patterns of one, or a pattern.
        agent: the name of the agent or workflow; without it, the only one, or the one that nothing
            else refers to.

    Raises:
        ProgramError: there is none, or a reference in it names nothing, can mean two things, or
            leads back to what it is in (with ``faults``).

    >>> from gram import dumps, loads
    >>> dumps(resolve(loads("[a:Agent | t] (t:Tool)")))
    '[a:Agent | (t:Tool)]'
    """
    definitions = program_of(program, by="resolve")
    chosen = choose(definitions, agent, document=document_of_program(program))
    faults = _check(definitions, REFERENCE_CHECKS, reached(definitions, chosen))
    if errors := only_errors(faults):
        raise ProgramError.of(errors)
    return _Resolving(definitions, chosen).whole()


def _check(
    program: Program, checks: Sequence[Check], within: Collection[TreePath]
) -> tuple[Diagnostic, ...]:
    return check(program.patterns, checks=checks, scopes=program.files, within=within)


class _Resolving:
    """Puts definitions in the place of references, beginning at one agent or workflow."""

    def __init__(self, program: Program, root: Definition) -> None:
        self._program = program
        self._root = root
        self._named: dict[TreePath, Definition] = {}
        """What is handed over to and is not inside the root, in the order in which it is found."""

    def whole(self) -> Pattern:
        whole = self._resolved(self._root)
        group: list[Pattern] = []
        while len(group) < len(self._named):
            group.append(self._resolved([*self._named.values()][len(group)]))
        groups = [each for each in whole.elements if DEFINITIONS in each.value.labels]
        known = [each for old in groups for each in old.elements]
        named = dict.fromkeys([*known, *group])  # what an agent has, too, may be there already
        if len(named) == len(known):
            return whole
        before = [each for each in whole.elements if DEFINITIONS not in each.value.labels]
        definitions = Pattern(Subject("", {DEFINITIONS}), named)
        return with_other_elements(whole, (*before, definitions))

    def _resolved(self, here: Definition) -> Pattern:
        program, old = self._program, here.pattern
        handed = {meant.path for _, meant in program.handed_over(here)}
        elements = []
        for index, element in enumerate(old.elements):
            path = (*here.path, index)
            meant = program.defined_by(path, element, here)
            if meant is not None and meant.path in handed:
                continue  # not called, but handed over to
            if DEFINITIONS in element.value.labels:
                elements.append(self._group(path, element))
            else:
                elements.append(element if meant is None else self._put(meant))
        elements += [self._put(meant) for _, meant in program.used_in_arrows(here)]
        elements += program.completed(here)[0].elements[len(old.elements) :]
        for _, meant in program.handed_over(here):
            if meant is not self._root and not self._is_in_group(meant):
                self._named.setdefault(meant.path, meant)
        return with_skills(with_other_elements(old, elements), program.skills_read(here))

    def _put(self, meant: Definition) -> Pattern:
        if is_runnable(meant.pattern):
            return self._resolved(meant)
        return self._program.completed(meant)[0]

    def _group(self, path: TreePath, group: Pattern) -> Pattern:
        """A group of definitions, with each agent or workflow in it resolved."""
        known = self._program.runnables
        elements = (((*path, at), each) for at, each in enumerate(group.elements))
        new = (self._put(known[at]) if at in known else each for at, each in elements)
        return with_other_elements(group, new)

    def _is_in_group(self, meant: Definition) -> bool:
        """Whether it stands in the group of definitions of the root."""
        if meant.path[:-2] != self._root.path:
            return False
        return DEFINITIONS in pattern_at(self._program.patterns, meant.path[:-1]).value.labels


def definitions_of(program: Pattern) -> Mapping[str, Pattern]:
    """The agents that may be handed over to, by name: the program itself, and those it holds.

    Args:
        program: an agent or workflow, as `resolve` gives it.

    >>> from gram import loads
    >>> triage = resolve(loads("[t:Agent | (t)-[:HANDOFF]->(b)] (b:Agent)"))
    >>> sorted(definitions_of(triage))
    ['b', 't']
    """
    groups = (each for each in program.elements if DEFINITIONS in each.value.labels)
    held = {each.value.identity: each for group in groups for each in group.elements}
    return held | ({program.value.identity: program} if is_agent(program) else {})


def shared_tools(program: ProgramLike) -> tuple[Pattern, ...]:
    """The tools that are not inside an agent, with the types that they share beside them.

    Raises:
        ProgramError: a type of one of them is defined twice, or can mean two things.

    >>> from gram import dumps, loads
    >>> [t] = shared_tools(loads("[t:Tool | (u::User)==>(::String)] [User:Object | (n::Text)]"))
    >>> len(t.elements)
    2
    """
    definitions = program_of(program, by="shared_tools")
    tools = [each for each in definitions.outermost if is_tool(each.pattern)]
    return tuple(tool_with_types(definitions, each) for each in tools)
