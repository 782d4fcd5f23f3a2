"""``--offline``: tools that have no Python yet, so that a program can be tried before them."""

from __future__ import annotations

from gram import Pattern
from gram.json import Json
from lenses_ext import (
    result_schema,
    tool_spec_description,
    tool_spec_name,
    tool_spec_schema,
    view,
)

from ...models import Filling
from ...programs import tools_to_bind
from ...tools import Tool, ToolLibrary
from ..terminal.output import tell


def made_up_tools(program: Pattern, library: ToolLibrary, hint: str) -> ToolLibrary:
    """A tool for each one of a program that a library lacks; it gives a value of its result type.

    Args:
        program: an agent or workflow.
        library: the tools that have Python.
        hint: what to add to the message that names the others.
    """
    specs = {view(tool_spec_name, each): each for each in tools_to_bind(program)}
    names = [name for name in specs if name not in library and not library.why_ambiguous(name)]
    if names:
        verb, they = ("has", "it returns") if len(names) == 1 else ("have", "they return")
        tell(f"{', '.join(names)} {verb} no Python yet: the rehearsal makes up what {they}{hint}")
    return ToolLibrary({name: _made_up(specs[name]) for name in names})


def _made_up(spec: Pattern) -> Tool:
    name, result = view(tool_spec_name, spec), result_schema(spec)

    def invoke(_: dict[str, Json]) -> Json:
        said = f"(rehearsal) what {name} returns"
        return said if result is None else Filling(result, [said]).value()

    parameters, words = view(tool_spec_schema, spec), view(tool_spec_description, spec)
    return Tool(name, words, parameters, invoke, result_schema=result)
