"""Reads programs from files, and chooses the agent to run."""

from __future__ import annotations

from collections.abc import Sequence

import lenses_ext
from gram import Diagnostic, Document, Pattern, only_errors, parse_file, walk
from gram.documents import PathOrFile
from gram.errors import expect
from lenses_ext.labels import is_skill
from lenses_ext.language import skill_tool, tool_spec_of
from lenses_ext.names import program_patterns, shared_tools
from lenses_ext.weak_cache import memo

from .errors import ValidationError


def load(file: PathOrFile, agent: str | None = None) -> Pattern:
    """Read an agent from a file, with its references to tools and agents resolved.

    Args:
        file: a path, whose imports are followed, or an open file (text or binary).
        agent: the name of the agent; without it, the file must have exactly one.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: the file is not gram.
        ValidationError: the agent does not exist, or it or a pattern that it refers to has a fault
            (see ``faults``).
    """
    program = parse_file(file) if hasattr(file, "read") else lenses_ext.load_project(file)
    return the_agent(program, agent, by="load")


def the_agent(program: lenses_ext.ProgramLike, agent: str | None = None, *, by: str) -> Pattern:
    """Choose the agent of a program, with its references resolved.

    Faults in other parts of the program are ignored. Each pattern is checked only once.

    Args:
        program: a project, a document, the patterns of a document, or one pattern.
        agent: the name of the agent; without it, the program must have exactly one.
        by: the name of the calling function, for error messages.

    Raises:
        ArgumentError: an argument is of the wrong type.
        ValidationError: the agent does not exist, or it or a pattern that it refers to has a fault
            (see ``faults``).
    """
    expect(agent, (str, type(None)), "agent", by=by)
    if not isinstance(program, lenses_ext.Project | Document | Pattern):
        program = program_patterns(program, by=by, reader="load")
    try:
        if isinstance(program, Pattern) and agent is None:
            errors, is_resolved = _judged(program)
        else:
            errors, is_resolved = only_errors(lenses_ext.agent_diagnostics(program, agent)), False
        if errors:
            raise ValidationError.of(errors)
        if isinstance(program, Pattern) and is_resolved:
            return program
        return lenses_ext.resolve(program, agent)
    except lenses_ext.ProgramError as error:
        raise ValidationError(str(error), error.faults) from None


@memo
def _judged(pattern: Pattern) -> tuple[tuple[Diagnostic, ...], bool]:
    """The errors of a pattern, and whether it is an agent without references."""
    errors = only_errors(lenses_ext.agent_diagnostics(pattern))
    return errors, not errors and lenses_ext.resolve(pattern) is pattern


def the_tools(
    program: lenses_ext.ProgramLike, agent: str | None = None, *, to_bind: bool = False
) -> tuple[Pattern, ...]:
    """The tools of an agent, or the tools of a program without agents.

    Args:
        program: see `the_agent`.
        agent: the name of the agent; without it, the only one.
        to_bind: the tools that need an implementation, those of agents inside it too, instead of
            what it offers to its model.

    Raises:
        ValidationError: as for `the_agent`, or the tools have a fault.
    """
    if agent is None and not lenses_ext.find_agents(program) and (tools := shared_tools(program)):
        if errors := only_errors(lenses_ext.validate_program(program)):
            raise ValidationError.of(errors)
        return tools
    chosen = the_agent(program, agent, by="the_tools")
    return tools_to_bind(chosen) if to_bind else tools_in(chosen)


def tools_to_bind(program: Pattern) -> tuple[Pattern, ...]:
    """The tools in an agent or workflow, of the agents and workflows in it, too."""
    return tuple(dict.fromkeys(each for _, each in walk(program) if lenses_ext.is_tool(each)))


def callable_in(program: Pattern) -> tuple[str, ...]:
    """The names of what a run of an agent or workflow may call: tools, agents, workflows, skills.

    >>> from gram import loads_one
    >>> callable_in(loads_one("[a:Agent | [b:Agent | (c:Tool)], (d:Tool)]"))
    ('b', 'c', 'd')
    """
    inside = (each for _, each in walk(program) if each is not program and _is_offered(each))
    return tuple(dict.fromkeys(each.value.identity for each in inside))


def tools_in(program: Pattern) -> tuple[Pattern, ...]:
    """The tools of an agent, or the nodes of a workflow: agents, workflows and skills as tools.

    >>> from gram import loads_one
    >>> [each.value.identity for each in tools_in(loads_one("[a:Agent | (b:Agent), (t:Tool)]"))]
    ['b', 't']
    """
    offered = filter(_is_offered, program.elements)
    return tuple(skill_tool(each) if is_skill(each) else tool_spec_of(each) for each in offered)


def _is_offered(element: Pattern) -> bool:
    return lenses_ext.is_tool(element) or lenses_ext.is_runnable(element) or is_skill(element)


def models_of(program: Pattern) -> tuple[lenses_ext.Model, ...]:
    """The models that an agent or workflow names first, with the agents in it, each once."""
    return tuple(dict.fromkeys(each[0] for each in _models(program)))


def fallbacks_of(program: Pattern) -> tuple[lenses_ext.Model, ...]:
    """The other models of a program: those that are asked where a first one cannot be."""
    first = models_of(program)
    others = (model for each in _models(program) for model in each[1:] if model not in first)
    return tuple(dict.fromkeys(others))


@memo
def _models(program: Pattern) -> tuple[tuple[lenses_ext.Model, ...], ...]:
    agents = (each for _, each in walk(program) if lenses_ext.is_agent(each))
    return tuple(dict.fromkeys(lenses_ext.view(lenses_ext.agent_models, each) for each in agents))


def with_fallbacks(
    program: Pattern, fallbacks: Sequence[lenses_ext.Model], model: lenses_ext.Model | None = None
) -> Pattern:
    """A program whose agents ask other models where theirs cannot be asked.

    Args:
        fallbacks: the models to ask then, after those that an agent names itself.
        model: the first model, instead of those that the agents name.
    """

    def more(models: tuple[lenses_ext.Model, ...]) -> tuple[lenses_ext.Model, ...]:
        return tuple(dict.fromkeys((*((model,) if model else models), *fallbacks)))

    return lenses_ext.over(lenses_ext.each_agent & lenses_ext.agent_models, more, program)


def names_of_models(program: Pattern, model: lenses_ext.Model | None = None) -> str:
    """The models that are asked, to show: one for all, or those that the program names."""
    return ", ".join(map(str, [model] if model else models_of(program)))
