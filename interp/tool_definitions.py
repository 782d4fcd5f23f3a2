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

from .errors import ToolError
from .json_text import Json

# What a strict schema may not hold, besides `default`, which is left out of it.
_NOT_STRICT = ("allOf", "oneOf", "not", "if", "dependentSchemas", "patternProperties")


def function_definition(tool: Pattern, *, strict: bool = False) -> dict[str, Json]:
    """A tool as Chat Completions offers it to a model.

    Args:
        tool: its specification.
        strict: with a schema that the model is held to; see `strict_schema`.

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


def strict_schema(schema: Json, name: str) -> dict[str, Json]:
    """A schema in the form that providers can hold a model to.

    Every property is required, those that were optional may be null instead, no object has other
    properties, and there are no defaults: whoever calls the tool fills these in for a null.

    Args:
        schema: the schema of a tool's parameters.
        name: the tool, for the message.

    Raises:
        ToolError: the schema says something that has no strict form.
    """
    made = _strict(schema, name, "$")
    assert isinstance(made, dict)
    return made


def _strict(schema: Json, name: str, path: str) -> Json:
    if not isinstance(schema, dict):
        raise ToolError(f'tool "{name}" has no strict form: {path} takes any value')
    for keyword in _NOT_STRICT:
        if keyword in schema:
            raise ToolError(f'tool "{name}" has no strict form: "{keyword}" at {path}')
    made = {key: value for key, value in schema.items() if key != "default"}
    if not made.keys() & {"type", "enum", "const", "anyOf", "$ref"}:
        raise ToolError(f'tool "{name}" has no strict form: {path} takes any value')
    if "items" in made:
        made["items"] = _strict(made["items"], name, f"{path}.items")
    if "anyOf" in made:
        made["anyOf"] = [
            _strict(each, name, f"{path}.anyOf[{i}]") for i, each in enumerate(made["anyOf"])
        ]
    if "$defs" in made:
        made["$defs"] = {
            key: _strict(each, name, f"{path}.$defs.{key}") for key, each in made["$defs"].items()
        }
    if _says_object(made):
        made.update(_closed_object(made, name, path))
    return made


def _closed_object(schema: dict[str, Json], name: str, path: str) -> dict[str, Json]:
    if schema.get("additionalProperties"):
        raise ToolError(f'tool "{name}" has no strict form: {path} takes any other property')
    required = schema.get("required", ())
    properties = {
        key: below if key in required else _or_null(below)
        for key, each in schema.get("properties", {}).items()
        for below in [_strict(each, name, f"{path}.{key}")]
    }
    return {"properties": properties, "required": list(properties), "additionalProperties": False}


def _says_object(schema: dict[str, Json]) -> bool:
    kind = schema.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def _or_null(schema: dict[str, Json]) -> dict[str, Json]:
    """The schema, or null."""
    kind = schema.get("type")
    if kind is None:
        return {"anyOf": [schema, {"type": "null"}]}
    kinds = kind if isinstance(kind, list) else [kind]
    if "null" in kinds:
        return schema
    made: dict[str, Json] = {**schema, "type": [*kinds, "null"]}
    if "enum" in made and None not in made["enum"]:
        made["enum"] = [*made["enum"], None]
    return made
