"""References: the elements of an agent that name a tool or agent defined elsewhere.

`resolve` puts the definitions in their place, `reached` follows the references, and `choose` finds
the agent that is meant.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, Union

import attrs

from gram import (
    Document,
    Fault,
    Pattern,
    Span,
    TreePath,
    carry_origin,
    check,
    did_you_mean,
    expect_all,
    fault,
    is_reference,
    only_errors,
)

from ..errors import ProgramError
from ..labels import AGENT, is_agent, is_tool
from .name_rules import REFERENCE_CHECKS, TYPE_CHECKS
from .scopes import Definition, Program, program_scopes

ProgramLike: TypeAlias = Union[Document, Pattern, Iterable[Pattern]]
"""A program: a document, the patterns of one, or a pattern."""


def program_patterns(program: ProgramLike, *, by: str = "program_patterns") -> tuple[Pattern, ...]:
    """The patterns of a program.

    Args:
        program: the program.
        by: the name of the function that was given it.
    """
    if isinstance(program, Document):
        return program.patterns
    if isinstance(program, Pattern):
        return (program,)
    wanted = "a Document, a Pattern or an iterable of Patterns"
    return expect_all(program, Pattern, "program", by=by, wanted=wanted)


def document_of_program(program: ProgramLike) -> Document | None:
    """The document that a program is given as, if it is one."""
    return program if isinstance(program, Document) else None


def find_agents(program: ProgramLike) -> tuple[Pattern, ...]:
    """The agents of a program, those below annotations and groups too, in the order of the text.

    An agent inside another is part of that one.
    """
    outermost = Program(program_patterns(program, by="find_agents")).outermost
    return tuple(each.pattern for each in outermost if is_agent(each.pattern))


def choose(
    program: Program, name: str | None = None, *, document: Document | None = None
) -> Definition:
    """The agent of a program that is called ``name``, or the only one.

    Args:
        program: the program.
        name: the name of the agent.
        document: what the program was read from, to place the fault that it is empty.

    Raises:
        ProgramError: there is no such agent, or there are several and no name is given.
    """
    agents = [each for each in program.outermost if is_agent(each.pattern)]
    if not agents:
        raise ProgramError.of([_no_agent(program, document)])
    names = list(dict.fromkeys(each.name for each in agents))
    if name is None and len(names) > 1:
        raise ProgramError(
            f"the program has {len(agents)} agents: {', '.join(names)}; choose one, with "
            f'agent="{names[0]}" in Python or --agent {names[0]} on the command line'
        )
    if name is not None and name not in names:
        hint = did_you_mean(name, names) or f"it has {', '.join(names)}"
        raise ProgramError(f'the program has no agent "{name}"; {hint}')
    return agents[0] if name is None else next(each for each in agents if each.name == name)


def _no_agent(program: Program, document: Document | None) -> Fault:
    message = "there is no agent here: no pattern has the label Agent"
    for pattern in program.patterns:
        for label in sorted(pattern.value.labels):
            if did_you_mean(label, [AGENT]):
                hint = f"did you mean {AGENT} instead of {label}?"
                return fault("no-agent", message, pattern, "labels", hint=hint)
    hint = "write [name:Agent {…}]"
    if not program.patterns:
        source, span = (document.source, Span(0, 0)) if document else (None, None)
        message = "the program is empty"
        return Fault("no-agent", "error", message, span=span, hint=hint, source=source)
    return fault("no-agent", message, program.patterns[0], hint=hint)


def reached(program: Program, agent: Definition) -> frozenset[TreePath]:
    """The paths of an agent and of every definition that it refers to, directly or not.

    Where a name can mean several definitions, all of them are reached.
    """
    found: set[TreePath] = set()
    pending = [agent, *program.meant(agent.name, agent.scope)]
    while pending:
        here = pending.pop()
        if here.path in found:
            continue
        found.add(here.path)
        if is_agent(here.pattern):
            for index, element in enumerate(here.pattern.elements):
                path = (*here.path, index)
                if is_reference(element):
                    pending.extend(program.meant(element.value.identity, here.path))
                elif (inside := program.defined_by(path, element, here)) is not None:
                    pending.append(inside)
        elif here.path in program.tools or here.path in program.answers:
            for name in program.completed(here)[1]:
                pending.extend(program.types_meant(name, here.scope))
    return frozenset(found)


def tool_with_types(program: Program, tool: Definition) -> Pattern:
    """A tool of a program with the types put beside it that it uses.

    Raises:
        ProgramError: one of its types is defined twice, or can mean two things.
    """
    for _, _, meant in program.type_uses(tool):
        if len({each.pattern for each in meant}) > 1:
            within = reached(program, tool)
            faults = check(
                program.patterns, checks=TYPE_CHECKS, scopes=program_scopes, within=within
            )
            raise ProgramError.of(only_errors(faults))
    return program.completed(tool)[0]


def resolve(program: ProgramLike, agent: str | None = None) -> Pattern:
    """An agent with each reference replaced by the tool or agent that it names.

    The types that its tools share with others are put beside their signatures. Where there is
    nothing to replace, the agent itself is given back.

    Args:
        program: a document, the patterns of one, or a pattern.
        agent: the name of the agent; without it, the only one.

    Raises:
        ProgramError: there is no such agent, or a reference in it names nothing, can mean two
            things, or leads back to the agent that it is in (with ``faults``).

    >>> from gram import dumps, loads
    >>> dumps(resolve(loads("[a:Agent | t] (t:Tool)")))
    '[a:Agent | (t:Tool)]'
    """
    patterns = program_patterns(program, by="resolve")
    definitions = Program(patterns)
    chosen = choose(definitions, agent, document=document_of_program(program))
    within = reached(definitions, chosen)
    faults = check(patterns, checks=REFERENCE_CHECKS, scopes=program_scopes, within=within)
    if errors := only_errors(faults):
        raise ProgramError.of(errors)
    return _resolved(definitions, chosen)


def _resolved(program: Program, agent: Definition) -> Pattern:
    elements = []
    for index, element in enumerate(agent.pattern.elements):
        meant = program.defined_by((*agent.path, index), element, agent)
        if meant is None:
            elements.append(element)
        elif is_agent(meant.pattern):
            elements.append(_resolved(program, meant))
        else:
            elements.append(program.completed(meant)[0])
    if all(new is old for new, old in zip(elements, agent.pattern.elements, strict=True)):
        return agent.pattern
    return carry_origin(attrs.evolve(agent.pattern, elements=tuple(elements)), agent.pattern)


def shared_tools(program: ProgramLike) -> tuple[Pattern, ...]:
    """The tools that are not inside an agent, with the types that they share beside them.

    Raises:
        ProgramError: a type of one of them is defined twice, or can mean two things.

    >>> from gram import dumps, loads
    >>> [t] = shared_tools(loads("[t:Tool | (u::User)==>(::String)] [User:Object | (n::Text)]"))
    >>> len(t.elements)
    2
    """
    definitions = Program(program_patterns(program, by="shared_tools"))
    tools = [each for each in definitions.outermost if is_tool(each.pattern)]
    return tuple(tool_with_types(definitions, each) for each in tools)
