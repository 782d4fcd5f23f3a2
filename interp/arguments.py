"""A tool's arguments: read strictly, checked against its schema, defaults filled in.

They are never repaired: what is wrong is told to the model, so that it can call again.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import lru_cache

from attrs import define

from gram import Pattern
from lenses_ext import tool_spec_schema, view
from lenses_ext.json_values import NotJson, check_json
from lenses_ext.memo import Memo
from lenses_ext.signatures.subschemas import resolve

from .errors import ValidationError
from .json_text import Json, read_json, write_json
from .schemas import accepts, require_schema, validator_of, violations


def read_arguments(tool_name: str, text: str) -> dict[str, Json]:
    """The arguments a model wrote; no text at all means none.

    Raises:
        ValidationError: they are not one JSON object.
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
    """The arguments with defaults filled in; neither the schema nor ``args`` is changed.

    A null for a parameter that has a default and allows no null means the default. A default that
    its own schema refuses (a null that only says "no value") is not filled in.

    Args:
        schema: the JSON Schema of a tool's parameters.
        args: the arguments of one call.

    Raises:
        ValidationError: they violate the schema, each violation on a line of its own with its
            path; or the schema is none.

    >>> schema = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}
    >>> validate_tool_args(schema, {})
    {'n': 1}
    """
    if not isinstance(args, Mapping):
        raise ValidationError(f"arguments are an object, found {_json_type(args)}")
    try:
        check_json(dict(args))
    except NotJson as error:
        raise ValidationError(f"arguments are JSON: {error}") from None
    return _parameters(require_schema(schema)).checked(dict(args))


def parameters_of(tool: Pattern) -> Parameters:
    """The parameters of a tool specification, made ready once for each pattern."""
    return _parameters_of_tool(tool)


class Parameters:
    """The parameters of a tool, ready to check the arguments of many calls.

    Args:
        schema: their JSON Schema, as text.

    Raises:
        ValidationError: it is none.
    """

    def __init__(self, schema: str) -> None:
        self._schema = read_json(schema)
        self._validator = validator_of(schema)
        self._is_valid = self._validator.is_valid
        self._defaults = _defaults_in(self._schema, self._schema, {})
        self._plain: dict[str, Json] = {}  # most defaults: those that need no copy
        if self._defaults and not self._defaults.below and not self._defaults.items:
            own = self._defaults.own
            if not any(isinstance(default, dict | list) for default in own.values()):
                self._plain, self._defaults = own, None
        self._not_null = frozenset(
            key
            for key, below in _properties(self._schema).items()
            if _null_means_default(below, self._schema)
        )

    def checked(self, args: dict[str, Json]) -> dict[str, Json]:
        """The arguments with defaults filled in; see `validate_tool_args`.

        Raises:
            ValidationError: they violate the schema.
        """
        if self._not_null and None in args.values():
            args = {k: v for k, v in args.items() if v is not None or k not in self._not_null}
        if not self._is_valid(args):
            raise ValidationError(violations(self._validator, self._schema, args))
        filled = {**args, **self._plain, **args}  # what was given first, as it was given
        if self._defaults:
            _fill(self._defaults, filled)
        return filled


@lru_cache(maxsize=512)
def _parameters(schema: str) -> Parameters:
    return Parameters(schema)


_parameters_of_tool: Memo[Pattern, Parameters] = Memo(
    lambda tool: Parameters(write_json(view(tool_spec_schema, tool)))
)


# --- defaults


@define
class _Defaults:
    """The defaults of an object and of what is inside it, itself too where its type is recursive.

    Attributes:
        own: default values by key, those that their own schema accepts.
        below: the defaults inside its properties.
        items: of an array, the defaults inside each item.
    """

    own: dict[str, Json]
    below: dict[str, _Defaults]
    items: _Defaults | None


def _defaults_in(schema: Json, root: Json, known: dict[str, _Defaults]) -> _Defaults | None:
    """The defaults anywhere in a schema, or None when there are none.

    Args:
        schema: a part of ``root``.
        root: where its references lead.
        known: the defaults of what was referred to before.
    """
    if not isinstance(schema, dict):
        return None
    if isinstance(reference := schema.get("$ref"), str):
        if reference not in known:
            known[reference] = _Defaults({}, {}, None)
            found = _defaults_in(resolve(reference, root), root, known)
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

    A default is put in as it is: one that holds its own type would go on for ever.
    """
    for key, below in defaults.below.items():
        if key in value:
            value[key] = _filled(below, value[key])
    for key, default in defaults.own.items():
        if key not in value:
            value[key] = copy.deepcopy(default) if isinstance(default, dict | list) else default


def _filled(defaults: _Defaults, value: Json) -> Json:
    """A value with defaults filled into the objects in it."""
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
