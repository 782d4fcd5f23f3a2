"""Binding: which implementation stands behind each tool of a program, and why one does not.

It happens when a program runs, so the same program can run with different libraries.
"""

from __future__ import annotations

from typing import get_args

from gram import Pattern, origin
from gram.near import did_you_mean
from lenses_ext import (
    Match,
    agent_tool_specs,
    first_difference,
    tool_spec_description,
    tool_spec_name,
    tool_spec_schema,
    view,
)

from .errors import ConfigurationError, ToolBindingError
from .library import ToolLibrary
from .tools import Tool


def bind_tool(spec: Pattern, library: ToolLibrary, *, match: Match = "full") -> Tool | None:
    """The tool of a library that implements a specification, or None.

    Args:
        spec: a tool specification.
        library: where to look.
        match: what has to agree: ``full`` (name, description and schema), ``types`` (the tool's
            description and other annotations left aside) or ``name``.
    """
    if explain_binding(spec, library, match=match) is not None:
        return None
    return library[view(tool_spec_name, spec)]


def bind_agent_tools(
    agent: Pattern, library: ToolLibrary, *, match: Match = "full"
) -> tuple[Tool, ...]:
    """The tools of a library that implement an agent's, in the agent's order.

    Raises:
        ToolBindingError: some do not bind; each is listed with its first difference.
    """
    tools: list[Tool] = []
    problems: list[str] = []
    for spec in view(agent_tool_specs, agent):
        problem = explain_binding(spec, library, match=match)
        if problem is None:
            tools.append(library[view(tool_spec_name, spec)])
        else:
            problems.append(problem)
    if problems:
        raise ToolBindingError(problems)
    return tuple(tools)


def explain_binding(spec: Pattern, library: ToolLibrary, *, match: Match = "full") -> str | None:
    """Why a specification does not bind, or None when it does.

    The answer cites the specification's place in its file, and the function's in its own.
    """
    if match not in get_args(Match):
        raise ConfigurationError(f"match is one of {', '.join(get_args(Match))}, found {match!r}")
    name = view(tool_spec_name, spec)
    tool = library.get(name)
    place = origin(spec)
    where = f"{place}: " if place else ""
    if tool is None:
        hint = did_you_mean(name, library) or f"it has {', '.join(library) or 'no tools'}"
        return f'{where}tool "{name}" is not in the library; {hint}'
    difference = _difference(spec, tool, match)
    if difference is None:
        return None
    text = f'{where}tool "{name}" differs: {difference}'
    if tool.place:
        text += f" (implemented at {tool.place})"
    if match == "full" and _difference(spec, tool, "types") is None:
        text += '; match="types" would bind it'
    return text


def _difference(spec: Pattern, tool: Tool, match: Match) -> str | None:
    if match == "name":
        return None
    if match == "full":
        written = _normalised(view(tool_spec_description, spec))
        implemented = _normalised(tool.description)
        if written != implemented:
            return f"description: spec {written!r}, implementation {implemented!r}"
    return first_difference(view(tool_spec_schema, spec), tool.schema, match=match)


def _normalised(text: str) -> str:
    return text.replace("\r\n", "\n").strip()
