"""Answers of a declared type: asking a model for one, reading its reply, correcting it once.

Providers accept only schemas of objects. For any other type the schema is wrapped in an object
with one property, and the answer is unwrapped again, so that only the provider sees the object.
An answer that is declared to be a text is the text itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from gram import Pattern
from lenses_ext import answer_schema
from lenses_ext.language import wire_name

from ...errors import ValidationError
from ...json_text import Json, read_json, write_json
from ..messages import Message, UserRole
from .validity import check, resolved

WRAPPED = "answer"
"""The property that an answer is asked for in which is no object."""
_DEFINITIONS = ("$defs", "definitions")


def response_format(answer: Pattern) -> dict[str, Json]:
    """The ``response_format`` of a request that asks for an answer of a declared type."""
    schema = wrapped(answer_schema(answer))
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


def wrapped(schema: dict[str, Json]) -> dict[str, Json]:
    """The schema of an object that has the answer, where the answer is no object."""
    if _is_object(schema):
        return schema
    definitions: dict[str, Json] = {k: v for k, v in schema.items() if k in _DEFINITIONS}
    inside = {key: value for key, value in schema.items() if key not in definitions}
    return {
        "type": "object",
        "properties": {WRAPPED: inside},
        "required": [WRAPPED],
        "additionalProperties": False,
        **definitions,
    }


# --- reading


def read_answer(schema: Mapping[str, Json], reply: str) -> tuple[str, str | None]:
    """Read a reply as an answer of the declared type.

    An answer that is declared to be a text is the text itself: a reply that is a JSON string is
    decoded, and blanks around a choice are left out.

    Args:
        schema: the type.
        reply: the reply.

    Returns:
        The answer, and why it is not of the declared type, a line for each violation, or None.

    >>> read_answer({"type": "integer"}, "18")
    ('18', None)
    >>> read_answer({"type": "string"}, '"18"')
    ('18', None)
    >>> read_answer({"type": "integer"}, '"18"')
    ('"18"', '$: "18" is not of type "integer"')
    """
    if not is_text_schema(schema):
        try:
            return reply, _problem(schema, read_json(reply))
        except ValueError as error:
            return reply, f"it is not JSON: {error}"
    said = text_said(reply)
    problem = _problem(schema, said)
    if problem and not _problem(schema, said.strip()):
        return said.strip(), None
    return said, problem


def _problem(schema: Mapping[str, Json], value: Json) -> str | None:
    try:
        check(schema, value)
    except ValidationError as error:
        return error.message
    except UnicodeEncodeError:
        return "it has half of a character, which is no text"
    return None


def correction(schema: Mapping[str, Json], problem: str) -> Message:
    """The message that tells the model, once, why its answer cannot be used."""
    form = "the text alone" if is_text_schema(schema) else "one JSON value and nothing around it"
    return Message(
        UserRole,
        f"Your answer cannot be used:\n{problem}\n"
        f"Answer again with {form}, valid under this JSON Schema:\n"
        f"{write_json(schema)}",
    )


# --- texts


def is_text_schema(schema: Json) -> bool:
    """Whether only texts are valid under a schema, such as a choice between some.

    >>> is_text_schema({"type": "string", "enum": ["long", "short"]})
    True
    >>> is_text_schema({"type": ["string", "null"]})
    False
    """
    own = schema if isinstance(schema, dict) and "type" in schema else resolved(schema, schema)
    return own.get("type") == "string"


def text_said(reply: str) -> str:
    """The text that a reply is: a JSON string is decoded, any other reply is the text itself.

    >>> text_said('"long"'), text_said("long"), text_said("123")
    ('long', 'long', '123')
    """
    if not reply.lstrip().startswith('"'):
        return reply
    try:
        value = read_json(reply)
    except ValueError:
        return reply
    return value if isinstance(value, str) else reply
