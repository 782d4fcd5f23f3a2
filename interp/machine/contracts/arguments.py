"""Reads a tool's arguments, checks them against its schema and fills in defaults.

Wrong arguments are never repaired: the model gets an error, so that it can call again.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import lru_cache

from gram import Pattern
from lenses_ext import tool_spec_schema, view
from lenses_ext.schemas import NotJson
from lenses_ext.weak_cache import memo

from ...errors import ValidationError
from ...json_text import Json, read_json, write_json
from .validity import accepts, check_against, require_schema, resolved, validator_of


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
        self._defaults: dict[int, dict[str, Json]] | None = {} if '"default"' in schema else None
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
        filled = args if self._defaults is None else self._filled(self.schema, args)
        return dict(filled)

    def _filled(self, schema: Json, value: Json) -> Json:
        """A value with the defaults of a part of the schema, wherever objects are in it.

        Nothing is filled into a default itself: with a recursive type that might never end.
        """
        schema = resolved(schema, self.schema)
        if isinstance(value, list):
            return [self._filled(schema.get("items"), each) for each in value]
        if not isinstance(value, dict):
            return value
        below = _properties(schema)
        filled = {key: self._filled(below.get(key), each) for key, each in value.items()}
        missing = {k: v for k, v in self._defaults_of(schema).items() if k not in filled}
        return {**filled, **copy.deepcopy(missing)}

    def _defaults_of(self, schema: Json) -> dict[str, Json]:
        """The defaults of an object's properties that their own schemas accept."""
        known = {} if self._defaults is None else self._defaults
        if id(schema) not in known:  # a part of the schema, which is kept as it is
            known[id(schema)] = {
                key: below["default"]
                for key, below in _properties(schema).items()
                if _has_default(below) and accepts(below, below["default"], self.schema)
            }
        return known[id(schema)]


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


def _null_means_default(schema: Json, root: Json) -> bool:
    return _has_default(schema) and not accepts(schema, None, root)


def _has_default(schema: Json) -> bool:
    return isinstance(schema, dict) and "default" in schema


def _properties(schema: Json) -> Mapping[str, Json]:
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _json_type(value: Json) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", str: "a string", list: "an array", int: "a number"}
    return names.get(type(value), "a number")
