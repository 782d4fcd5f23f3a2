"""Asks a model for an answer of a declared type, and reads the answer from its reply.

Providers accept only schemas of objects. For any other type the schema is wrapped in an object
with one property, and the answer is unwrapped again, so that only the provider sees the object.
"""

from __future__ import annotations

from attrs import evolve

from gram import Pattern
from lenses_ext import answer_schema
from lenses_ext.language import wire_name

from ...json_text import Json, read_json, write_json
from ..messages import Message
from .text_answers import is_text_schema

WRAPPED = "answer"
"""The property that an answer is asked for in which is no object."""
_DEFINITIONS = ("$defs", "definitions")


def response_format(answer: Pattern) -> dict[str, Json]:
    """The ``response_format`` of a request that asks for an answer of a declared type."""
    schema = answer_schema(answer)
    if not _is_object(schema):
        schema = _wrapped(schema)
    named = {"name": wire_name(answer.value.identity or "answer"), "schema": schema}
    return {"type": "json_schema", "json_schema": named}


def unwrapped(answer: Pattern, message: Message) -> Message:
    """The message with its answer unwrapped; any other message is returned unchanged."""
    schema = answer_schema(answer)
    if message.tool_calls or _is_object(schema):
        return message
    try:
        said = read_json(message.content)
    except ValueError:
        return message
    if not isinstance(said, dict) or said.keys() != {WRAPPED}:
        return message
    inside = said[WRAPPED]
    if is_text_schema(schema) and not isinstance(inside, str):
        return message  # some JSON, which is the text that was asked for
    return evolve(message, content=write_json(inside))


def _is_object(schema: dict[str, Json]) -> bool:
    return schema.get("type") == "object"


def _wrapped(schema: dict[str, Json]) -> dict[str, Json]:
    definitions: dict[str, Json] = {k: v for k, v in schema.items() if k in _DEFINITIONS}
    inside = {key: value for key, value in schema.items() if key not in definitions}
    return {
        "type": "object",
        "properties": {WRAPPED: inside},
        "required": [WRAPPED],
        "additionalProperties": False,
        **definitions,
    }
