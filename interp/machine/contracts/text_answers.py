"""Answers that are declared to be texts: a reply that is no JSON string is the text itself."""

from __future__ import annotations

from typing import Final

from lenses_ext.schemas import resolve_ref

from ...json_text import Json, read_json

_MOST_REFERENCES: Final = 100  # deeper ones lead in a circle


def is_text_schema(schema: Json) -> bool:
    """Whether only texts are valid under a schema, such as a choice between some.

    >>> is_text_schema({"type": "string", "enum": ["long", "short"]})
    True
    >>> is_text_schema({"type": ["string", "null"]})
    False
    """
    found: object = schema
    for _ in range(_MOST_REFERENCES):
        if not isinstance(found, dict):
            return False
        if "$ref" not in found or "type" in found:
            return found.get("type") == "string"
        found = resolve_ref(found["$ref"], schema)
    return False


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
