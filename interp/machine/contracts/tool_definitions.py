"""Writes tools as the function definitions of Chat Completions and as the tools of MCP."""

from __future__ import annotations

from collections.abc import Callable

from gram import Pattern
from lenses_ext import result_schema, tool_spec_description, tool_spec_name, tool_spec_schema, view
from lenses_ext.language import wire_name
from lenses_ext.weak_cache import memo

from ...json_text import Json, JsonText, write_json
from .strict_tools import strict_schema


def function_definition(tool: Pattern, *, strict: bool = False) -> dict[str, Json]:
    """A tool as a function definition of Chat Completions, a fresh copy.

    Args:
        tool: the specification of the tool.
        strict: whether the provider enforces the schema; see
            `interp.machine.contracts.strict_tools`.

    Raises:
        ToolError: the schema has no strict form.
    """
    found: dict[str, Json] = function_definition_text(tool, strict=strict).value
    return found


def function_definition_text(tool: Pattern, *, strict: bool = False) -> JsonText:
    """The text of `function_definition`, written once for each tool."""
    known = _definitions(tool)
    if strict not in known:
        known[strict] = write_json(_definition(tool, strict))
    return known[strict]


_definitions: Callable[[Pattern], dict[bool, JsonText]] = memo(lambda _: {})
"""The texts of a tool's definitions, strict and not."""


def _definition(tool: Pattern, strict: bool) -> dict[str, Json]:
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
    """A tool as MCP lists it; only a result that is an object has an ``outputSchema`` there."""
    definition: dict[str, Json] = {
        "name": view(tool_spec_name, tool),
        "description": view(tool_spec_description, tool),
        "inputSchema": view(tool_spec_schema, tool),
    }
    result = result_schema(tool)
    if result is not None and result.get("type") == "object":
        definition["outputSchema"] = result
    return definition
