"""Tools as other programs know them: function definitions, strict ones, and MCP's."""

from __future__ import annotations

from gram import Pattern
from lenses_ext import (
    result_schema,
    tool_spec_description,
    tool_spec_name,
    tool_spec_schema,
    view,
    wire_name,
)

from .json_text import Json
from .strict_tools import strict_schema


def function_definition(tool: Pattern, *, strict: bool = False) -> dict[str, Json]:
    """A tool as Chat Completions offers it to a model.

    Args:
        tool: its specification.
        strict: with a schema that the model is held to; see `interp.strict_tools`.

    Raises:
        ToolError: the schema has no strict form.
    """
    function: dict[str, Json] = {
        "name": wire_name(view(tool_spec_name, tool)),
        "description": view(tool_spec_description, tool),
        "parameters": view(tool_spec_schema, tool),
    }
    if strict:
        function["parameters"] = strict_schema(function["parameters"], function["name"])
        function["strict"] = True
    return {"type": "function", "function": function}


def mcp_definition(tool: Pattern) -> dict[str, Json]:
    """A tool as the Model Context Protocol lists it: an ``outputSchema`` is an object there."""
    definition: dict[str, Json] = {
        "name": view(tool_spec_name, tool),
        "description": view(tool_spec_description, tool),
        "inputSchema": view(tool_spec_schema, tool),
    }
    result = result_schema(tool)
    if result is not None and result.get("type") == "object":
        definition["outputSchema"] = result
    return definition
