"""Schemas in the forms of others: those that OpenAI enforces, and those of OpenAPI 3.0.

A strict schema has no optional properties: an optional property becomes required and may be null.
`without_stand_ins` removes these nulls, so that a tool receives the same arguments in both cases.
Schemas of OpenAPI 3.1 are JSON Schema already and stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gram import Pattern
from lenses_ext import tool_spec_schema, view
from lenses_ext.schemas import resolve_ref
from lenses_ext.weak_cache import memo

from ...errors import ToolError, ValidationError
from ...json_text import Json, write_json
from .values import accepts

# The keywords that OpenAI's guide to Structured Outputs lists as supported. A tool's schema may
# also have a `default`; it is left out, because the interpreter fills it in.
# fmt: off
_SUPPORTED = frozenset({
    "$defs", "$ref", "anyOf", "const", "definitions", "description", "enum", "title", "type",
    "format", "pattern",
    "exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf",
    "items", "maxItems", "minItems",
    "additionalProperties", "properties", "required",
})
_FORMATS = frozenset({
    "date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid",
})
# fmt: on


def strict_schema(schema: Json, name: str) -> dict[str, Json]:
    """Convert a schema to the strict form, which providers can enforce.

    Every property is required, optional ones may be null instead, objects have no other
    properties, and defaults are left out: the interpreter fills them in for a null.

    Raises:
        ToolError: a part of the schema has no strict form.
    """
    try:
        return _strict(schema, "$")
    except ToolError as error:
        raise ToolError(f'tool "{name}" has no strict form: {error.message}') from None


def _strict(schema: Json, path: str) -> dict[str, Json]:
    if not isinstance(schema, dict):
        raise ToolError(f"{path} takes any value")
    made = {key: value for key, value in schema.items() if key != "default"}
    for keyword in made:
        if keyword not in _SUPPORTED or (keyword == "format" and made[keyword] not in _FORMATS):
            raise ToolError(f'"{keyword}" at {path}')
    if not made.keys() & {"type", "enum", "const", "anyOf", "$ref"}:
        raise ToolError(f"{path} takes any value")
    if "items" in made:
        made["items"] = _strict(made["items"], f"{path}.items")
    elif _says(made, "array"):
        raise ToolError(f"the items of {path} may be anything")
    if "anyOf" in made:
        made["anyOf"] = [
            _strict(each, f"{path}.anyOf[{i}]") for i, each in enumerate(made["anyOf"])
        ]
    for group in made.keys() & {"$defs", "definitions"}:
        made[group] = {
            key: _strict(each, f"{path}.{group}.{key}") for key, each in made[group].items()
        }
    if not _says(made, "object"):
        return made
    if made.get("additionalProperties", "properties" not in made) is not False:
        raise ToolError(f"{path} takes any other property")
    required, own = made.get("required", ()), made.get("properties", {})
    for key in required:
        if key not in own:
            raise ToolError(f'{path} requires "{key}" of any type')
    strict = {key: _strict(each, f"{path}.{key}") for key, each in own.items()}
    properties = {
        key: below if key in required else _or_null(below) for key, below in strict.items()
    }
    closed = {"properties": properties, "required": [*properties], "additionalProperties": False}
    return {**made, **closed}


def _says(schema: dict[str, Json], kind: str) -> bool:
    kinds = schema.get("type")
    return kinds == kind or (isinstance(kinds, list) and kind in kinds)


_ABOUT: Final = ("title", "description")


def _or_null(schema: dict[str, Json]) -> dict[str, Json]:
    """A schema that also allows null; what is said about it stays at its top."""
    kinds = schema.get("type")
    if kinds is None or schema.keys() & {"anyOf", "oneOf", "allOf", "$ref", "const"}:
        about: dict[str, Json] = {key: schema[key] for key in _ABOUT if key in schema}
        rest = {key: schema[key] for key in schema if key not in about}
        return {**about, "anyOf": [rest, {"type": "null"}]}
    kinds = kinds if isinstance(kinds, list) else [kinds]
    made = {**schema, "type": kinds if "null" in kinds else [*kinds, "null"]}
    if isinstance(made.get("enum"), list) and None not in made["enum"]:
        made["enum"] = [*made["enum"], None]
    return made


@memo
def has_strict_form(tool: Pattern) -> bool:
    """Whether the schema of a tool specification has a strict form."""
    try:
        _strict(view(tool_spec_schema, tool), "$")
    except ToolError:
        return False
    return True


def without_stand_ins(schema: Json, args: dict[str, Json]) -> dict[str, Json]:
    """Remove the nulls that a model wrote in place of optional arguments.

    A null is kept if the tool's own schema allows null there, or if the property is required.

    >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    >>> without_stand_ins(schema, {"n": None})
    {}
    """
    found: dict[str, Json] = _meant(schema, args, (schema, _strict(schema, "$")))
    return found


def _meant(
    schema: Json, value: Json, roots: tuple[Json, Json], seen: frozenset[str] = frozenset()
) -> Json:
    """The value that a model meant; ``seen``: the references that were followed."""
    if not isinstance(schema, dict) or not isinstance(value, dict | list):
        return value
    root, strict_root = roots
    reference = schema.get("$ref")
    if reference is not None and reference not in seen:
        seen |= {reference}
        value = _meant(resolve_ref(reference, root), value, roots, seen)
    # The provider enforced the strict branches, so the first that accepts was the choice.
    for branch in schema.get("anyOf", ()):
        if accepts(_strict(branch, "$"), value, strict_root):
            value = _meant(branch, value, roots, seen)
            break
    if isinstance(value, list):
        return [_meant(schema.get("items"), item, roots) for item in value]
    properties, required = schema.get("properties", {}), schema.get("required", ())
    optional = {key: below for key, below in properties.items() if key not in required}
    return {
        key: _meant(properties.get(key), item, roots)
        for key, item in value.items()
        if item is not None or key not in optional or accepts(optional[key], None, root)
    }


# --- OpenAPI 3.0

_OF_MAPS: Final = {"properties", "patternProperties", "$defs", "definitions"}
_OF_LISTS: Final = {"anyOf", "oneOf", "allOf", "prefixItems"}
_OF_ONE: Final = {"items", "additionalProperties", "not"}
_FOR_DOCUMENTS: Final = {"xml", "externalDocs", "discriminator"}


def from_openapi_schema(schema: Json, path: str = "$") -> Json:
    """A schema of OpenAPI 3.0 as JSON Schema; the argument is not changed.

    ``nullable`` becomes the type null, ``example`` becomes ``examples``, limits that are flags
    become numbers.

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
