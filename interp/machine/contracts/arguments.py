"""Reads a tool's arguments, checks them against its schema and fills in defaults.

Wrong arguments are never repaired: the model gets an error, so that it can call again.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import lru_cache

from attrs import define

from gram import Pattern
from lenses_ext import tool_spec_schema, view
from lenses_ext.schemas import NotJson, resolve_ref
from lenses_ext.weak_cache import memo

from ...errors import ValidationError
from ...json_text import Json, read_json, write_json
from .validity import accepts, check_against, require_schema, validator_of


def read_arguments(tool_name: str, text: str) -> dict[str, Json]:
    """Read the arguments that a model wrote as JSON; an empty text means no arguments.

    Raises:
        ValidationError: the text is not one JSON object.
    """
    again = "Call the tool again with one JSON object."
    try:
        arguments = read_json(text) if text.strip() else {}
    except ValueError as error:
        message = getattr(error, "msg", str(error))
        at = getattr(error, "pos", None)
        where = "" if at is None else f" at char {at}, near …{text[max(at - 10, 0) : at + 10]}…"
        raise ValidationError(
            f'arguments of "{tool_name}" are not valid JSON: {message}{where}. {again}'
        ) from None
    if not isinstance(arguments, dict):
        found = _json_type(arguments)
        raise ValidationError(f'arguments of "{tool_name}" are not an object but {found}. {again}')
    return arguments


def validate_tool_args(schema: Mapping[str, Json], args: Mapping[str, Json]) -> dict[str, Json]:
    """Check arguments against a schema; return a deep copy of them with defaults filled in.

    A null for a parameter that has a default and does not allow null means the default. A default
    that its own schema refuses (a null that only means "no value") is not filled in.

    Args:
        schema: the JSON Schema of a tool's parameters.
        args: the arguments of one call.

    Raises:
        ArgumentError: the arguments are neither a mapping nor another JSON value.
        ValidationError: the arguments violate the schema (the message has one line with a path for
            each violation), or the schema is not valid.

    >>> schema = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}
    >>> validate_tool_args(schema, {})
    {'n': 1}
    """
    if args is None or isinstance(args, bool | int | float | str | list):
        raise ValidationError(f"arguments are an object, found {_json_type(args)}")
    try:
        given = write_json(dict(args)).value
    except NotJson as error:
        raise ValidationError(f"arguments are JSON: {error}") from None
    return _parameters(require_schema(schema)).checked(given)


class Parameters:
    """The parameters of a tool, prepared to check the arguments of many calls.

    Args:
        schema: the JSON Schema of the parameters, as text.

    Attributes:
        schema: the JSON Schema; not to be changed.

    Raises:
        ValidationError: the text is not a JSON Schema.
    """

    def __init__(self, schema: str) -> None:
        validator_of(schema)
        self._text = schema
        self.schema = root = read_json(schema)
        self._defaults = _defaults_in(root, root, {})
        self._not_null = frozenset(
            key for key, below in _properties(root).items() if _null_means_default(below, root)
        )

    def checked(self, args: dict[str, Json]) -> dict[str, Json]:
        """Check arguments and fill in defaults; see `validate_tool_args`.

        Raises:
            ValidationError: the arguments violate the schema.
        """
        if self._not_null and None in args.values():
            args = {k: v for k, v in args.items() if v is not None or k not in self._not_null}
        check_against(self._text, args)
        filled = dict(args)
        if self._defaults:
            _fill(self._defaults, filled)
        return filled


@lru_cache(maxsize=512)
def _parameters(schema: str) -> Parameters:
    return Parameters(schema)


parameters_of: Callable[[Pattern], Parameters] = memo(
    lambda tool: Parameters(write_json(view(tool_spec_schema, tool)))
)
"""The parameters of a tool specification; prepared once for each pattern."""

own_parameters_of: Callable[[Pattern], Parameters] = memo(
    lambda tool: Parameters(
        write_json({"additionalProperties": False, **view(tool_spec_schema, tool)})
    )
)
"""The same, where nothing but these may be given unless the specification allows it.

A model may add what nobody asked for; what a person writes and nothing takes is a slip."""


# --- defaults


@define
class _Defaults:
    """The defaults of an object and of the values inside it; recursive if the type is.

    Attributes:
        own: the default values of its properties, where their own schema accepts them.
        below: the defaults inside its properties.
        items: the defaults inside each item of an array.
    """

    own: dict[str, Json]
    below: dict[str, _Defaults]
    items: _Defaults | None


def _defaults_in(schema: Json, root: Json, known: dict[str, _Defaults]) -> _Defaults | None:
    """Collect the defaults at every depth of a schema; None if it has no defaults.

    Args:
        schema: a part of ``root``.
        root: the whole schema, in which references are resolved.
        known: the defaults of each reference that was resolved before.
    """
    if not isinstance(schema, dict):
        return None
    if isinstance(reference := schema.get("$ref"), str):
        if reference not in known:
            known[reference] = _Defaults({}, {}, None)
            found = _defaults_in(resolve_ref(reference, root), root, known)
            if found:
                known[reference].own = found.own
                known[reference].below = found.below
                known[reference].items = found.items
        return known[reference]
    properties = _properties(schema)
    own = {
        key: below["default"]
        for key, below in properties.items()
        if isinstance(below, dict) and "default" in below and accepts(below, below["default"], root)
    }
    inside = {key: _defaults_in(below, root, known) for key, below in properties.items()}
    items = _defaults_in(schema.get("items"), root, known)
    below = {key: defaults for key, defaults in inside.items() if defaults}
    return _Defaults(own, below, items) if own or below or items else None


def _fill(defaults: _Defaults, value: dict[str, Json]) -> None:
    """Fill defaults into an object; the objects inside it are copied, not changed.

    Nothing is filled into a default itself: with a recursive type that might never end.
    """
    for key, below in defaults.below.items():
        if key in value:
            value[key] = _filled(below, value[key])
    for key, default in defaults.own.items():
        if key not in value:
            value[key] = copy.deepcopy(default) if isinstance(default, dict | list) else default


def _filled(defaults: _Defaults, value: Json) -> Json:
    """A copy of a value with defaults filled into the objects in it."""
    if isinstance(value, list) and defaults.items:
        return [_filled(defaults.items, item) for item in value]
    if not isinstance(value, dict):
        return value
    filled = dict(value)
    _fill(defaults, filled)
    return filled


def _null_means_default(schema: Json, root: Json) -> bool:
    return isinstance(schema, dict) and "default" in schema and not accepts(schema, None, root)


def _properties(schema: Json) -> Mapping[str, Json]:
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _json_type(value: Json) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", str: "a string", list: "an array", int: "a number"}
    return names.get(type(value), "a number")
