"""Validates recursive schemas in polynomial time, by remembering each intermediate result.

A validator tries every alternative and follows every reference again each time, so types that
refer to each other through alternatives double its work with each level. Here each part of a
schema is compared with each part of a value only once; parts without parts go to the validator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lenses_ext.schemas import resolve_ref

from ...json_text import Json

_PARTS = frozenset(
    {
        "$defs",
        "$ref",
        "additionalProperties",
        "allOf",
        "anyOf",
        "definitions",
        "items",
        "not",
        "oneOf",
        "prefixItems",
        "properties",
    }
)
_OTHER_PARTS = frozenset(
    {
        "$dynamicRef",
        "contains",
        "dependentSchemas",
        "if",
        "patternProperties",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)


class UnknownPartsError(Exception):
    """The schema has keywords that are not supported here."""


def is_valid_by_parts(
    schema: Json, value: Json, root: Json, holds: Callable[[Json, Json], bool]
) -> bool:
    """Whether a value is valid under a schema; the result is that of a validator.

    Args:
        schema: the schema.
        value: the value.
        root: the whole schema, in which references are resolved.
        holds: the validator, for schemas without parts.

    Raises:
        UnknownPartsError: the schema has keywords that only a validator supports.
        RecursionError: schema and value nest too deep.
    """
    known: dict[tuple[int, int], bool] = {}

    def valid(schema: Json, value: Json) -> bool:
        if not isinstance(schema, dict):
            return schema is not False
        if not _OTHER_PARTS.isdisjoint(schema):
            raise UnknownPartsError
        key = id(schema), id(value)
        if key not in known:
            known[key] = True  # for a reference to itself, until the result is known
            rest = {name: part for name, part in schema.items() if name not in _PARTS}
            known[key] = (
                (not rest or holds(rest, value))
                and in_place(schema, value)
                and all(valid(part, below) for part, below in _inside(schema, value))
            )
        return known[key]

    def in_place(schema: dict[str, Any], value: Json) -> bool:
        if "$ref" in schema and not valid(resolve_ref(schema["$ref"], root), value):
            return False
        if "not" in schema and valid(schema["not"], value):
            return False
        return (
            all(valid(part, value) for part in schema.get("allOf", ()))
            and ("anyOf" not in schema or any(valid(part, value) for part in schema["anyOf"]))
            and ("oneOf" not in schema or sum(valid(part, value) for part in schema["oneOf"]) == 1)
        )

    return valid(schema, value)


def _inside(schema: dict[str, Any], value: Json) -> Iterator[tuple[Json, Json]]:
    """Yield the items and properties of a value, each with its part of the schema."""
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for name, below in value.items():
            yield properties.get(name, schema.get("additionalProperties", True)), below
    elif isinstance(value, list):
        first = schema.get("prefixItems", [])
        for index, below in enumerate(value):
            yield first[index] if index < len(first) else schema.get("items", True), below
