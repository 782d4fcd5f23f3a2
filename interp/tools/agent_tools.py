"""An agent or workflow as a tool of a library."""

from __future__ import annotations

from typing import Any, NoReturn

from gram import Pattern, origin
from lenses_ext import (
    is_tool,
    result_schema,
    tool_spec_description,
    tool_spec_name,
    tool_spec_schema,
    view,
)
from lenses_ext.language import tool_spec_of

from ..errors import ToolError
from ..programs import the_agent
from .implementation import Tool


def tool_of_agent(agent: Pattern) -> Tool:
    """An agent or workflow as a tool of a library.

    It takes the place of the specification that it implements, when a run begins.

    Raises:
        ValidationError: it has a fault, or a reference that is not resolved.
        ToolError: it is the specification of a tool.
    """
    if isinstance(agent, Pattern) and is_tool(agent):
        message = f'"{agent.value.identity}" is a specification, which implements nothing'
        raise ToolError(f"{message}; give a function, a Tool or an agent")
    program = the_agent(agent, by="tool_of_agent")
    spec = tool_spec_of(program)
    place = origin(program)
    return Tool(
        view(tool_spec_name, spec),
        view(tool_spec_description, spec),
        view(tool_spec_schema, spec),
        _not_by_itself,
        result_schema=result_schema(spec),
        place=str(place) if place else None,
        agent=program,
    )


def _not_by_itself(_: dict[str, Any]) -> NoReturn:
    raise ToolError("this tool is an agent: it is run inside the run of a program that names it")
