"""Strict tools: makes schemas that a provider can enforce, and reads the arguments back.

A strict schema has no optional properties: an optional property becomes required and may be null.
`without_stand_ins` removes these nulls, so that a tool receives the same arguments in both cases.
"""

from __future__ import annotations

from functools import lru_cache

from gram import Pattern
from lenses_ext import tool_spec_name, tool_spec_schema, view
from lenses_ext.schemas import resolve_ref
from lenses_ext.weak_cache import memo

from ...errors import ToolError
from ...json_text import Json, JsonText, write_json
from .validity import accepts

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

    Args:
        schema: the schema of a tool's parameters.
        name: the name of the tool, for error messages.

    Raises:
        ToolError: a part of the schema has no strict form.
    """
    made = _strict(schema, name, "$")
    assert isinstance(made, dict)
    return made


def _strict(schema: Json, name: str, path: str) -> Json:
    if not isinstance(schema, dict):
        raise _no(name, f"{path} takes any value")
    made = {key: value for key, value in schema.items() if key != "default"}
    for keyword in made:
        if keyword not in _SUPPORTED or (keyword == "format" and made[keyword] not in _FORMATS):
            raise _no(name, f'"{keyword}" at {path}')
    if not made.keys() & {"type", "enum", "const", "anyOf", "$ref"}:
        raise _no(name, f"{path} takes any value")
    if "items" in made:
        made["items"] = _strict(made["items"], name, f"{path}.items")
    elif _says(made, "array"):
        raise _no(name, f"the items of {path} may be anything")
    if "anyOf" in made:
        made["anyOf"] = [
            _strict(each, name, f"{path}.anyOf[{i}]") for i, each in enumerate(made["anyOf"])
        ]
    for group in made.keys() & {"$defs", "definitions"}:
        made[group] = {
            key: _strict(each, name, f"{path}.{group}.{key}") for key, each in made[group].items()
        }
    if _says(made, "object"):
        if made.get("additionalProperties", "properties" not in made) is not False:
            raise _no(name, f"{path} takes any other property")
        made.update(_closed_object(made, name, path))
    return made


def _closed_object(schema: dict[str, Json], name: str, path: str) -> dict[str, Json]:
    required, own = schema.get("required", ()), schema.get("properties", {})
    for key in required:
        if key not in own:
            raise ToolError(
                f'tool "{name}" has no strict form: {path} requires "{key}" of any type'
            )
    properties = {
        key: below if key in required else _or_null(below)
        for key, each in own.items()
        for below in [_strict(each, name, f"{path}.{key}")]
    }
    return {"properties": properties, "required": list(properties), "additionalProperties": False}


def _no(name: str, reason: str) -> ToolError:
    return ToolError(f'tool "{name}" has no strict form: {reason}')


def _says(schema: dict[str, Json], kind: str) -> bool:
    kinds = schema.get("type")
    return kinds == kind or (isinstance(kinds, list) and kind in kinds)


def _or_null(schema: dict[str, Json]) -> dict[str, Json]:
    """A schema that also allows null."""
    kinds = schema.get("type")
    if kinds is None or schema.keys() & {"$ref", "anyOf", "const"}:
        return {"anyOf": [schema, {"type": "null"}]}
    kinds = kinds if isinstance(kinds, list) else [kinds]
    made = {**schema, "type": kinds if "null" in kinds else [*kinds, "null"]}
    if "enum" in made and None not in made["enum"]:
        made["enum"] = [*made["enum"], None]
    return made


def _has_strict_form(tool: Pattern) -> bool:
    try:
        strict_schema(view(tool_spec_schema, tool), view(tool_spec_name, tool))
    except ToolError:
        return False
    return True


has_strict_form = memo(_has_strict_form)
"""Whether the schema of a tool specification has a strict form."""


def without_stand_ins(schema: Json, args: dict[str, Json]) -> dict[str, Json]:
    """Remove the nulls that a model wrote in place of optional arguments.

    A null is kept if the tool's own schema allows null there, or if the property is required.

    Args:
        schema: the tool's own schema, which has a strict form.
        args: the arguments from the model; they are not changed.

    >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    >>> without_stand_ins(schema, {"n": None})
    {}
    """
    meant = _meant(write_json(schema))
    found: dict[str, Json] = meant.value(meant.root, args)
    return found


@lru_cache(maxsize=512)
def _meant(schema: JsonText) -> _Meant:
    return _Meant(schema.value)


class _Meant:
    """Removes stand-ins from the values of one schema, ``root``, which must not be changed."""

    def __init__(self, root: Json) -> None:
        self.root = root
        self._strict_root = _strict(root, "", "$")

    def value(self, schema: Json, value: Json, seen: set[str] | None = None) -> Json:
        """Remove the stand-ins from a value.

        Args:
            schema: the part of the schema that describes the value.
            value: the value from the model.
            seen: the references that were already followed for this value; they are not followed
                again.
        """
        if not isinstance(schema, dict) or not isinstance(value, dict | list):
            return value
        seen = set() if seen is None else seen
        reference = schema.get("$ref")
        if reference is not None and reference not in seen:
            seen.add(reference)
            value = self.value(resolve_ref(reference, self.root), value, seen)
        # The provider enforced the strict branches, so the first that accepts was the choice.
        for branch in schema.get("anyOf", ()):
            if accepts(_strict(branch, "", "$"), value, self._strict_root):
                value = self.value(branch, value, seen)
                break
        if isinstance(value, list):
            return [self.value(schema.get("items"), item) for item in value]
        properties, required = schema.get("properties", {}), schema.get("required", ())

        def stands_in(key: str, item: Json) -> bool:
            optional = key in properties and key not in required
            return item is None and optional and not accepts(properties[key], None, self.root)

        return {
            key: self.value(properties.get(key), item)
            for key, item in value.items()
            if not stands_in(key, item)
        }
