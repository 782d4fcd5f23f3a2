"""Agents and workflows as tools of a library: they take the place of what they implement.

So a program may leave open whether a tool is code or an agent. Which one it is, is decided by the
library that it is run with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import is_

import attrs

from gram import Pattern
from gram.trees import carry_origin
from lenses_ext import is_runnable, is_tool
from lenses_ext.labels import DEFINITIONS
from lenses_ext.schemas import Match
from lenses_ext.weak_cache import memo

from ..errors import ToolBindingError
from .binding import binding_problems
from .library import ToolLibrary


def with_agents(program: Pattern, library: ToolLibrary, *, match: Match = "full") -> Pattern:
    """A program whose tools are replaced by the agents that a library holds under their names.

    Raises:
        ToolBindingError: an agent does not implement the tool of its name as it is written, or it
            has a tool that it would implement itself.
    """
    if not _agents_in(library):
        return program
    problems: list[str] = []
    found = _with_agents(program, library, match, problems)
    if problems:
        raise ToolBindingError(problems)
    return found


_agents_in: Callable[[ToolLibrary], Mapping[str, Pattern]] = memo(
    lambda library: {
        name: _named(name, tool.agent) for name, tool in library.items() if tool.agent is not None
    }
)


def _named(name: str, agent: Pattern) -> Pattern:
    if agent.value.identity == name:
        return agent
    return carry_origin(attrs.evolve(agent, value=attrs.evolve(agent.value, identity=name)), agent)


def _with_agents(
    program: Pattern,
    library: ToolLibrary,
    match: Match,
    problems: list[str],
    around: tuple[str, ...] = (),
) -> Pattern:
    """The program, its tools replaced, those of the agents that replace them too.

    Args:
        program: the program, or a part of it.
        library: the library.
        match: how its agents are compared with the tools.
        problems: what is wrong is added to these.
        around: the names of the agents of the library that the program is inside of.
    """

    def elements() -> Iterator[Pattern]:
        for each in program.elements:
            if is_tool(each) and each.value.identity in _agents_in(library):
                name = each.value.identity
                problems.extend(binding_problems(each, library, match))
                if name in around:
                    way = " -> ".join([*around[around.index(name) :], name])
                    problems.append(f'the agent "{name}" of the library contains itself: {way}')
                    continue
                agent = _agents_in(library)[name]
                yield _with_agents(agent, library, match, problems, (*around, name))
            elif is_runnable(each) or DEFINITIONS in each.value.labels:
                yield _with_agents(each, library, match, problems, around)
            else:
                yield each

    new = tuple(elements())
    if len(new) == len(program.elements) and all(map(is_, new, program.elements)):
        return program
    return carry_origin(attrs.evolve(program, elements=new), program)
