"""JSON Schemas put together of others, and taken apart: records, lists, alternatives, fields.

Each schema is whole: what it refers to is in its own ``$defs``. Definitions of one name that differ
cannot be in one schema; a schema with them says nothing, ``{}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from gram.trees import exact

from .json_values import json_key
from .schema_parts import Schema, resolve_ref
from .values_of import kinds_of, listed

ANYTHING: dict[str, Any] = {}
"""The schema of any value."""


def record_schema(fields: Mapping[str, Schema], required: Iterable[str]) -> Schema:
    """The schema of an object with some fields, no others being declared.

    >>> record_schema({"a": {"type": "string"}}, ["a"])
    {'type': 'object', 'properties': {'a': {'type': 'string'}}, 'required': ['a']}
    """
    inner, definitions = _apart(fields.values())
    if inner is None:
        return ANYTHING
    schema: dict[str, Any] = {
        "type": "object",
        "properties": dict(zip(fields, inner, strict=True)),
        "required": list(required),
    }
    return schema | definitions


def list_schema(items: Schema) -> Schema:
    """The schema of a list of some items."""
    inner, definitions = _apart([items])
    return ANYTHING if inner is None else {"type": "array", "items": inner[0], **definitions}


def any_of(schemas: Iterable[Schema]) -> Schema:
    """The schema of what is valid for one of some schemas."""
    different = {exact(each): each for each in schemas}
    if len(different) == 1:
        return next(iter(different.values()))
    if any(says_nothing(each) for each in different.values()):
        return ANYTHING
    inner, definitions = _apart(different.values())
    return ANYTHING if not inner else {"anyOf": inner, **definitions}


def items_of(schema: Schema) -> Schema | None:
    """The schema of the items of a list; None when a value of the schema is never a list."""
    if says_nothing(schema):
        return ANYTHING
    lists = [each for each in alternatives_of(schema) if "array" in kinds_of(each)]
    if not lists:
        return None
    return any_of(_inside(each, each.get("items", ANYTHING)) for each in lists)


def field_of(schema: Schema, name: str) -> Schema | None:
    """The schema of a field of an object; None when there is no such field."""
    if says_nothing(schema):
        return ANYTHING
    found = []
    for each in alternatives_of(schema):
        properties = each.get("properties", {})
        if name in properties:
            found.append(_inside(each, properties[name]))
        elif "object" in kinds_of(each) and not properties:
            found.append(ANYTHING)
    return any_of(found) if found else None


def is_required(schema: Schema, name: str) -> bool:
    """Whether an object of a schema always has a field."""
    return all(name in each.get("required", ()) for each in alternatives_of(schema))


def fields_of(schema: Schema) -> list[str]:
    """The names of the fields that an object of a schema declares."""
    each_one = (each.get("properties", {}) for each in alternatives_of(schema))
    return list(dict.fromkeys(chain.from_iterable(each_one)))


def options_of(schema: Schema) -> list[Any] | None:
    """The values that are valid for a schema, where it lists them; None where it does not.

    >>> options_of({"enum": ["a", "b"]}), options_of({"type": "string"})
    (['a', 'b'], None)
    """
    options: dict[object, Any] = {}
    for each in alternatives_of(schema):
        if (values := listed(each)) is None:
            return None
        options |= {json_key(value): value for value in values}
    return list(options.values())


def alternatives_of(schema: Schema) -> list[dict[str, Any]]:
    """The schemas of which one holds: those of ``anyOf`` and ``oneOf``, references followed."""
    found: list[dict[str, Any]] = []
    pending: list[tuple[Schema, int]] = [(schema, 0)]
    while pending:
        each, depth = pending.pop(0)
        if not isinstance(each, dict) or depth > 20:
            found.append({})
            continue
        reference = each.get("$ref")
        branches = each.get("anyOf", each.get("oneOf"))
        if isinstance(reference, str):
            pending.append((_inside(each, resolve_ref(reference, each) or ANYTHING), depth + 1))
        elif isinstance(branches, list):
            pending += ((_inside(each, branch), depth + 1) for branch in branches)
        else:
            found.append(each)
    return found


def says_nothing(schema: Schema) -> bool:
    """Whether any value is valid for a schema."""
    return schema is True or schema == {}


def _inside(around: Mapping[str, Any], inner: object) -> Schema:
    """A schema inside another with the definitions that it may refer to."""
    if not isinstance(inner, dict):
        return inner is not False
    definitions = around.get("$defs")
    return {**inner, "$defs": definitions} if definitions and inner else inner


def _apart(schemas: Iterable[Schema]) -> tuple[list[Schema] | None, dict[str, Any]]:
    """Schemas without their definitions, and these; None for schemas where the two differ."""
    inner: list[Schema] = []
    definitions: dict[str, Any] = {}
    for each in schemas:
        if not isinstance(each, dict):
            inner.append(each)
            continue
        for name, value in each.get("$defs", {}).items():
            if exact(definitions.setdefault(name, value)) != exact(value):
                return None, {}
        inner.append({key: value for key, value in each.items() if key != "$defs"})
    return inner, {"$defs": definitions} if definitions else {}
