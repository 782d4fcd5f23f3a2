"""Answers of a declared type: whether a reply is one, and what the model is told when it is not."""

from __future__ import annotations

from collections.abc import Mapping

from .errors import ValidationError
from .json_text import Json, read_json, write_json
from .messages import Message, UserRole
from .schemas import check


def answer_problem(schema: Mapping[str, Json], text: str) -> str | None:
    """What keeps a reply from being an answer, each violation on a line, or None.

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
        return str(error)
    return None


def correction(schema: Mapping[str, Json], problem: str) -> Message:
    """What the model is told, once, after an answer that is none."""
    return Message(
        UserRole,
        f"Your answer cannot be used:\n{problem}\n"
        "Answer again with one JSON value and nothing around it, valid under this JSON Schema:\n"
        f"{write_json(schema)}",
    )
