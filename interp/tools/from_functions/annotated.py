"""The extras of ``Annotated``: descriptions and constraints as JSON Schema keywords.

Extras are recognised by their attributes, not by their class, so those of annotated-types,
pydantic and typing_extensions work without importing these libraries. All other extras are
ignored, as PEP 593 asks. A dict cannot be used inside a union, because Python hashes the members
of a union: annotate the whole union.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ...errors import ToolError
from ...json_text import Json

_NUMBERS = ("integer", "number")
_KEYWORDS: dict[str, dict[str, str]] = {
    "ge": dict.fromkeys(_NUMBERS, "minimum"),
    "gt": dict.fromkeys(_NUMBERS, "exclusiveMinimum"),
    "le": dict.fromkeys(_NUMBERS, "maximum"),
    "lt": dict.fromkeys(_NUMBERS, "exclusiveMaximum"),
    "multiple_of": dict.fromkeys(_NUMBERS, "multipleOf"),
    "min_length": {"string": "minLength", "array": "minItems", "object": "minProperties"},
    "max_length": {"string": "maxLength", "array": "maxItems", "object": "maxProperties"},
    "pattern": {"string": "pattern"},
}
"""For each attribute of a constraint: the keyword that means the same, by JSON type."""


def annotated_keywords(extras: Iterable[Any], schema: dict[str, Json]) -> dict[str, Json]:
    """The keywords that the extras of an ``Annotated`` add to the schema of its type.

    Args:
        extras: a str is the description, a dict holds keywords, an object with ``ge``,
            ``min_length`` and the like is a constraint. A later extra wins over an earlier one.
        schema: the schema of the type that is annotated.

    Raises:
        ToolError: a constraint does not apply to this type, or has no JSON form.

    >>> annotated_keywords(["how many", {"minimum": 1}], {"type": "integer"})
    {'description': 'how many', 'minimum': 1}
    """
    keywords: dict[str, Json] = {}
    types = set(_json_types(schema))
    for extra in _flat(extras):
        if isinstance(extra, str):
            keywords["description"] = extra
        elif isinstance(extra, dict):
            keywords |= extra
        else:
            for name in ("description", "documentation"):
                if isinstance(text := getattr(extra, name, None), str):
                    keywords["description"] = text
            keywords |= _constraint(extra, types)
    return keywords


def _flat(extras: Iterable[Any]) -> Iterator[Any]:
    """The extras, and those inside a pydantic ``Field``."""
    for extra in extras:
        yield extra
        held = getattr(extra, "metadata", None)
        if isinstance(held, list | tuple):
            yield from _flat(held)


def _constraint(extra: Any, types: set[str]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for attribute, of_types in _KEYWORDS.items():
        value = getattr(extra, attribute, None)
        if value is None or callable(value) or (attribute == "min_length" and value == 0):
            continue
        if not isinstance(value, str | int | float):
            raise ToolError(f"{attribute}={value!r} has no JSON form")
        keywords = {keyword for each, keyword in of_types.items() if each in types}
        if not keywords:
            kinds = " or ".join(of_types)
            raise ToolError(f"{attribute}={value!r} constrains {kinds}, which this type is not")
        found |= dict.fromkeys(sorted(keywords), value)
    return found


def _json_types(schema: dict[str, Json]) -> Iterator[str]:
    """The JSON types that a schema made from a hint allows."""
    named = schema.get("type", [])
    yield from [named] if isinstance(named, str) else named
    for below in schema.get("anyOf", []):
        yield from _json_types(below)
