"""How a model is asked for an answer of a declared type, and the answer in what it gives.

Providers take the schema of an object alone. Any other type is asked for as the one property of an
object, and taken out of it again, so that nobody but the provider knows.
"""

from __future__ import annotations

from attrs import evolve

from gram import Pattern
from lenses_ext import answer_schema, wire_name

from .json_text import Json, read_json, write_json
from .messages import Message

_WRAPPED = "answer"
_DEFINITIONS = ("$defs", "definitions")


def response_format(answer: Pattern) -> dict[str, Json]:
    """The JSON by which a model is asked for an answer of a declared type."""
    schema = answer_schema(answer)
    if not _is_object(schema):
        schema = _wrapped(schema)
    named = {"name": wire_name(answer.value.identity or "answer"), "schema": schema}
    return {"type": "json_schema", "json_schema": named}


def unwrapped(answer: Pattern, message: Message) -> Message:
    """What a model said, its answer as the program declares it; anything else stays as it is."""
    if message.tool_calls or _is_object(answer_schema(answer)):
        return message
    try:
        said = read_json(message.content)
    except ValueError:
        return message
    if not isinstance(said, dict) or said.keys() != {_WRAPPED}:
        return message
    return evolve(message, content=write_json(said[_WRAPPED]))


def _is_object(schema: dict[str, Json]) -> bool:
    return schema.get("type") == "object"


def _wrapped(schema: dict[str, Json]) -> dict[str, Json]:
    definitions: dict[str, Json] = {k: v for k, v in schema.items() if k in _DEFINITIONS}
    inside = {key: value for key, value in schema.items() if key not in definitions}
    return {
        "type": "object",
        "properties": {_WRAPPED: inside},
        "required": [_WRAPPED],
        "additionalProperties": False,
        **definitions,
    }
