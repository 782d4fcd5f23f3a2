"""Answers of a declared type: checking a reply, and asking the model once to correct it."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import ValidationError
from ..json_text import Json, read_json, write_json
from .contracts import check
from .messages import Message, UserRole


def answer_problem(schema: Mapping[str, Json], text: str) -> str | None:
    """Why a reply is not an answer of the declared type, a line for each violation, or None.

    Args:
        schema: the type.
        text: the reply.

    >>> answer_problem({"type": "integer"}, "18")
    >>> answer_problem({"type": "integer"}, '"18"')
    '$: "18" is not of type "integer"'
    """
    try:
        value = read_json(text)
    except ValueError as error:
        return f"it is not JSON: {error}"
    try:
        check(schema, value)
    except ValidationError as error:
        return error.message
    return None


def correction(schema: Mapping[str, Json], problem: str) -> Message:
    """The message that tells the model, once, why its answer cannot be used."""
    return Message(
        UserRole,
        f"Your answer cannot be used:\n{problem}\n"
        "Answer again with one JSON value and nothing around it, valid under this JSON Schema:\n"
        f"{write_json(schema)}",
    )
