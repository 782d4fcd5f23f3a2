"""Reads programs from files, and chooses the agent to run."""

from __future__ import annotations

from gram import Document, Fault, PathOrFile, Pattern, expect, only_errors, parse_file
from lenses_ext import (
    Memo,
    ProgramError,
    ProgramLike,
    agent_faults,
    agent_tool_specs,
    find_agents,
    program_patterns,
    resolve,
    shared_tools,
    validate_program,
    view,
)

from .errors import ValidationError


def load(file: PathOrFile, agent: str | None = None) -> Pattern:
    """Read an agent from a file, with its references to tools and agents resolved.

    Args:
        file: a path, or an open file (text or binary).
        agent: the name of the agent; without it, the file must have exactly one.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: the file is not gram.
        ValidationError: the agent does not exist, or it or a pattern that it refers to has a fault
            (see ``faults``).
    """
    return the_agent(parse_file(file), agent, by="load")


def the_agent(program: ProgramLike, agent: str | None = None, *, by: str) -> Pattern:
    """Choose the agent of a program, with its references resolved.

    Faults in other parts of the program are ignored. Each pattern is checked only once.

    Args:
        program: a document, the patterns of a document, or one pattern.
        agent: the name of the agent; without it, the program must have exactly one.
        by: the name of the calling function, for error messages.

    Raises:
        ArgumentError: an argument is of the wrong type.
        ValidationError: the agent does not exist, or it or a pattern that it refers to has a fault
            (see ``faults``).
    """
    expect(agent, (str, type(None)), "agent", by=by)
    if not isinstance(program, Document | Pattern):
        program = program_patterns(program, by=by)
    try:
        if isinstance(program, Pattern) and agent is None:
            errors, is_resolved = _judged(program)
        else:
            errors, is_resolved = only_errors(agent_faults(program, agent)), False
        if errors:
            raise ValidationError.of(errors)
        if isinstance(program, Pattern) and is_resolved:
            return program
        return resolve(program, agent)
    except ProgramError as error:
        raise ValidationError(str(error), error.faults) from None


def _judge(pattern: Pattern) -> tuple[tuple[Fault, ...], bool]:
    """The errors of a pattern, and whether it is an agent without references."""
    errors = only_errors(agent_faults(pattern))
    return errors, not errors and resolve(pattern) is pattern


_judged: Memo[Pattern, tuple[tuple[Fault, ...], bool]] = Memo(_judge)


def the_tools(program: ProgramLike, agent: str | None = None) -> tuple[Pattern, ...]:
    """The tools of an agent, or the tools of a program without agents.

    Raises:
        ValidationError: as for `the_agent`, or the tools have a fault.
    """
    if agent is None and not find_agents(program) and (tools := shared_tools(program)):
        if errors := only_errors(validate_program(program)):
            raise ValidationError.of(errors)
        return tools
    return view(agent_tool_specs, the_agent(program, agent, by="the_tools"))
