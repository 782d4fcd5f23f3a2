"""The schemas inside a JSON Schema, as opposed to data such as ``enum`` or ``default``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, Union
from urllib.parse import unquote

from .keywords import LIST_OF_SCHEMAS, MAP_OF_SCHEMAS, ONE_SCHEMA

Schema: TypeAlias = Union[dict[str, Any], bool]
SchemaPath: TypeAlias = tuple[Union[str, int], ...]


def subschemas(schema: object) -> Iterator[tuple[SchemaPath, dict[str, Any]]]:
    """A schema and every schema inside it that is an object, each with the path to it.

    >>> [path for path, _ in subschemas({"items": {"not": {}}, "default": {"not": {}}})]
    [(), ('items',), ('items', 'not')]
    """
    pending: list[tuple[SchemaPath, object]] = [((), schema)]
    while pending:
        path, current = pending.pop()
        if not isinstance(current, dict):
            continue
        yield path, current
        below: list[tuple[SchemaPath, object]] = []
        for key, value in current.items():
            if isinstance(value, dict) and key in MAP_OF_SCHEMAS:
                below.extend(((*path, key, name), item) for name, item in value.items())
            elif isinstance(value, dict) and key in ONE_SCHEMA:
                below.append(((*path, key), value))
            elif isinstance(value, list) and key in LIST_OF_SCHEMAS:
                below.extend(((*path, key, index), item) for index, item in enumerate(value))
        pending.extend(reversed(below))


def remote_references(schema: object) -> Iterator[tuple[SchemaPath, str]]:
    """The references in a schema that lead out of it, each with the path to it."""
    for path, each in subschemas(schema):
        for key in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = each.get(key)
            if isinstance(reference, str) and not reference.startswith("#"):
                yield (*path, key), reference


def resolve_ref(reference: str, root: object) -> object:
    """What a local reference refers to, or None when it leads nowhere.

    >>> resolve_ref("#/$defs/a~1b", {"$defs": {"a/b": {"minimum": 1}}})
    {'minimum': 1}
    """
    if reference != "#" and not reference.startswith("#/"):
        return None
    found = root
    for step in unquote(reference[1:]).split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and step in found:
            found = found[step]
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            return None
    return found
