"""Schemas of OpenAPI 3.0 as JSON Schema.

Schemas of OpenAPI 3.1 are JSON Schema already and stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...errors import ValidationError
from ...json_text import Json, write_json

_OF_MAPS: Final = {"properties", "patternProperties", "$defs", "definitions"}
_OF_LISTS: Final = {"anyOf", "oneOf", "allOf", "prefixItems"}
_OF_ONE: Final = {"items", "additionalProperties", "not"}
_FOR_DOCUMENTS: Final = {"xml", "externalDocs", "discriminator"}


def from_openapi_schema(schema: Json, path: str = "$") -> Json:
    """A schema of OpenAPI 3.0 as JSON Schema; the argument is not changed.

    ``nullable`` becomes the type null, ``example`` becomes ``examples``, limits that are flags
    become numbers.

    Args:
        schema: the schema.
        path: where it is, for messages.

    Raises:
        ValidationError: ``nullable`` is neither true nor false.

    >>> from_openapi_schema({"type": "string", "nullable": True})
    {'type': ['string', 'null']}
    """
    if not isinstance(schema, Mapping):
        return schema
    nullable = schema.get("nullable", False)
    if not isinstance(nullable, bool):
        found = write_json(nullable)
        raise ValidationError(f"{path}.nullable: expected true or false, found {found}")
    made = {
        key: _value(key, value, f"{path}.{key}")
        for key, value in schema.items()
        if key != "nullable" and key not in _FOR_DOCUMENTS
    }
    if "example" in made:
        made.setdefault("examples", [made["example"]])
        del made["example"]
    for limit, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(made.get(exclusive), bool) and made.pop(exclusive) and limit in made:
            made[exclusive] = made.pop(limit)
    return _or_null(made) if nullable else made


def _value(key: str, value: Json, path: str) -> Json:
    if key in _OF_MAPS and isinstance(value, Mapping):
        return {name: from_openapi_schema(each, f"{path}.{name}") for name, each in value.items()}
    if key in _OF_LISTS and isinstance(value, list):
        return [from_openapi_schema(each, f"{path}[{at}]") for at, each in enumerate(value)]
    return from_openapi_schema(value, path) if key in _OF_ONE else value


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
