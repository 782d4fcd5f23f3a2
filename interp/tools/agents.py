"""Agents and workflows as tools of a library: they take the place of what they implement.

So a program may leave open whether a tool is code or an agent. Which one it is, is decided by the
library that it is run with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from gram import Pattern, carry_origin
from lenses_ext import (
    DEFINITIONS,
    Match,
    Memo,
    is_runnable,
    is_tool,
)

from ..errors import ToolBindingError
from .binding import binding_problems
from .library import ToolLibrary


def with_agents(program: Pattern, library: ToolLibrary, *, match: Match = "full") -> Pattern:
    """A program whose tools are replaced by the agents that a library holds under their names.

    Raises:
        ToolBindingError: an agent does not implement the tool of its name as it is written.
    """
    if not _agents_in(library):
        return program
    known = _replaced(program)(library)
    if match not in known:
        problems: list[str] = []
        found = _with_agents(program, library, match, problems)
        if problems:
            raise ToolBindingError(problems)
        known[match] = found
    return known[match]


_agents_in: Memo[ToolLibrary, Mapping[str, Pattern]] = Memo(
    lambda library: {
        name: _named(name, tool.agent) for name, tool in library.items() if tool.agent is not None
    }
)
_replaced: Memo[Pattern, Memo[ToolLibrary, dict[Match, Pattern]]] = Memo(
    lambda _: Memo(lambda _: {})
)


def _named(name: str, agent: Pattern) -> Pattern:
    if agent.value.identity == name:
        return agent
    return carry_origin(attrs.evolve(agent, value=attrs.evolve(agent.value, identity=name)), agent)


def _with_agents(
    program: Pattern, library: ToolLibrary, match: Match, problems: list[str]
) -> Pattern:
    def elements() -> Iterator[Pattern]:
        for each in program.elements:
            if is_tool(each) and each.value.identity in _agents_in(library):
                problems.extend(binding_problems(each, library, match))
                yield _agents_in(library)[each.value.identity]
            elif is_runnable(each) or DEFINITIONS in each.value.labels:
                yield _with_agents(each, library, match, problems)
            else:
                yield each

    new = tuple(elements())
    if all(one is other for one, other in zip(new, program.elements, strict=True)):
        return program
    return carry_origin(attrs.evolve(program, elements=new), program)
