"""Schemas of OpenAPI 3.0, in which Gemini also writes, as JSON Schema.

Schemas of OpenAPI 3.1 are JSON Schema already and stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ...errors import ValidationError
from ...json_text import Json, write_json

_OF_MAPS: Final = {"properties", "patternProperties", "$defs", "definitions"}
_OF_LISTS: Final = {"anyOf", "oneOf", "allOf", "prefixItems"}
_OF_ONE: Final = {"items", "additionalProperties", "not"}
_COUNTS: Final = {
    f"{bound}{what}" for bound in ("min", "max") for what in ("Items", "Length", "Properties")
}
_FOR_DOCUMENTS: Final = {"xml", "externalDocs", "discriminator"}


def from_openapi_schema(
    schema: Json, path: str = "$", left_out: Callable[[str], object] = lambda _: None
) -> Json:
    """A schema of OpenAPI 3.0 or Gemini as JSON Schema; the argument is not changed.

    ``nullable`` becomes the type null, ``example`` becomes ``examples``, limits that are flags
    become numbers, types in capitals and counts in quotes are written as JSON Schema has them.

    Args:
        schema: the schema.
        path: where it is, for messages.
        left_out: called with the path of each key that JSON Schema has no place for.

    Raises:
        ValidationError: ``nullable`` is neither true nor false.

    >>> from_openapi_schema({"type": "STRING", "nullable": True})
    {'type': ['string', 'null']}
    """
    if not isinstance(schema, Mapping):
        return schema
    nullable = schema.get("nullable", False)
    if not isinstance(nullable, bool):
        found = write_json(nullable)
        raise ValidationError(f"{path}.nullable: expected true or false, found {found}")
    for key in schema:
        if key in _FOR_DOCUMENTS:
            left_out(f"{path}.{key}")
    made = {
        key: _value(key, value, f"{path}.{key}", left_out)
        for key, value in schema.items()
        if key != "nullable" and key not in _FOR_DOCUMENTS
    }
    if made.get("type") == "type_unspecified":
        del made["type"]
    if "example" in made:
        made.setdefault("examples", [made["example"]])
        del made["example"]
    for limit, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(made.get(exclusive), bool) and made.pop(exclusive) and limit in made:
            made[exclusive] = made.pop(limit)
    return _or_null(made) if nullable else made


def _value(key: str, value: Json, path: str, left_out: Callable[[str], object]) -> Json:
    if key == "type" and isinstance(value, str) and value.isupper():
        return value.lower()
    if key in _COUNTS and isinstance(value, str) and value.isdecimal():
        return int(value)
    if key in _OF_MAPS and isinstance(value, Mapping):
        return {
            name: from_openapi_schema(below, f"{path}.{name}", left_out)
            for name, below in value.items()
        }
    if key in _OF_LISTS and isinstance(value, list):
        return [
            from_openapi_schema(below, f"{path}[{index}]", left_out)
            for index, below in enumerate(value)
        ]
    return from_openapi_schema(value, path, left_out) if key in _OF_ONE else value


def _or_null(schema: dict[str, Json]) -> dict[str, Json]:
    kind = schema.get("type")
    if not isinstance(kind, str) or schema.keys() & {"anyOf", "oneOf", "allOf", "$ref", "const"}:
        about: dict[str, Json] = {
            key: schema.pop(key) for key in ("title", "description") if key in schema
        }
        return {**about, "anyOf": [schema, {"type": "null"}]}
    made = {key: [kind, "null"] if key == "type" else value for key, value in schema.items()}
    if isinstance(made.get("enum"), list) and None not in made["enum"]:
        made["enum"] = [*made["enum"], None]
    return made
