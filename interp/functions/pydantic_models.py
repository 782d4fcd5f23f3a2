"""Pydantic models as types of tools, told by their methods: pydantic itself is never imported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import ToolError
from ..json_text import Json, write_json

_NAMED_BELOW = ("properties", "patternProperties", "$defs")
_LISTED_BELOW = ("anyOf", "oneOf", "allOf", "prefixItems")
_BELOW = ("items", "additionalProperties")


def is_model(cls: type) -> bool:
    """Whether a class is a pydantic model (of version 2)."""
    return hasattr(cls, "model_json_schema") and hasattr(cls, "model_validate_json")


def model_schema(cls: Any) -> dict[str, Json]:
    """The schema a model gives of itself, without the titles pydantic makes up from the names.

    Nobody writes those in a program, and a written schema has to equal this one for binding.

    Raises:
        ToolError: it has none.
    """
    try:
        schema: dict[str, Json] = cls.model_json_schema()
    except (RuntimeError, NameError, TypeError, AttributeError) as error:
        raise ToolError(f"pydantic has no schema for {cls.__name__}: {error}") from None
    for name, below in _schemas(schema, cls.__name__):
        if _bare(below.get("title")) == _bare(name):
            del below["title"]
    return schema


def read_model(cls: Any, value: Json) -> Any:
    """A JSON value as an instance of a model, which may refuse it by rules of its own."""
    return value if isinstance(value, cls) else cls.model_validate_json(write_json(value))


def _schemas(schema: Json, name: str) -> Iterator[tuple[str, dict[str, Json]]]:
    """A schema and those inside it, each with the name of what it describes."""
    if not isinstance(schema, dict):
        return
    yield name, schema
    for key in _NAMED_BELOW:
        for below_name, below in schema.get(key, {}).items():
            yield from _schemas(below, below_name)
    for key in _LISTED_BELOW:
        for below in schema.get(key, []):
            yield from _schemas(below, name)
    for key in _BELOW:
        yield from _schemas(schema.get(key), name)


def _bare(title: Json) -> str | None:
    return "".join(filter(str.isalnum, title)).lower() if isinstance(title, str) else None
