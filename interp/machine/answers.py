"""Answers of a declared type: checking a reply, and asking the model once to correct it."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import ValidationError
from ..json_text import Json, read_json, write_json
from .contracts import check, is_text_schema, text_said
from .messages import Message, UserRole


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
