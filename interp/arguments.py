"""A tool's arguments: read strictly, checked against its schema, defaults filled in.

They are never repaired.
What is wrong is told to the model in the words of the specification's section on arguments: every
violation with its path, so that it can call again.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .errors import ValidationError
from .json_text import Json, read_json, write_json

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError as Violation
    from jsonschema_rs import Validator

_MOST_VIOLATIONS = 5


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
    filled = _without_null_defaults(schema, args)
    check(schema, filled)
    _fill_defaults(schema, filled)
    return filled


def check(schema: Mapping[str, Json], value: Json) -> None:
    """Check a JSON value against a schema.

    Raises:
        ValidationError: the value violates it, or the schema is none.
    """
    validator = _validator(write_json(schema))
    if validator.is_valid(value):
        return
    lines: list[str] = []
    for violation in validator.iter_errors(value):
        line = _describe(violation, schema)
        if line not in lines:
            lines.append(line)
    hidden = len(lines) - _MOST_VIOLATIONS
    if hidden > 0:
        lines[_MOST_VIOLATIONS:] = [f"and {hidden} more"]
    raise ValidationError("\n".join(lines))


def require_schema(schema: Mapping[str, Json]) -> str:
    """The text of a JSON Schema.

    Raises:
        ValidationError: it is none: not JSON, or refused by the metaschema.
    """
    if not isinstance(schema, Mapping):
        raise ValidationError(f"not a JSON Schema: expected an object, found {schema!r}")
    try:
        text = write_json(dict(schema))
    except (TypeError, ValueError) as error:
        raise ValidationError(f"not a JSON Schema: {error}") from None
    _validator(text)
    return text


@lru_cache(maxsize=512)
def _validator(schema: str) -> Validator:
    import jsonschema_rs

    def refuse(uri: str) -> Json:
        raise ValueError(f"{uri} is not local: only #/$defs/… is allowed")

    try:
        return jsonschema_rs.Draft202012Validator(read_json(schema), retriever=refuse)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise ValidationError(f"not a JSON Schema: {error}") from None


def _describe(violation: Violation, schema: Mapping[str, Json]) -> str:
    path = json_path(violation.instance_path)
    match violation.kind.name:
        case "required":
            return f"{path}: missing required {write_json(violation.kind.as_dict()['property'])}"
        case "additionalProperties":
            unknown = ", ".join(map(write_json, violation.kind.as_dict()["unexpected"]))
            known = ", ".join(sorted(schema.get("properties", {}))) if path == "$" else ""
            return f"{path}: unknown {unknown}" + (f"; known: {known}" if known else "")
    return f"{path}: {violation.message}"


def json_path(path: Iterable[str | int]) -> str:
    """A path into a JSON value, ``$.tags[1]``."""
    text = "$"
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if step.isidentifier() else f"[{write_json(step)}]"
    return text


def _without_null_defaults(schema: Mapping[str, Json], args: Mapping[str, Json]) -> dict[str, Json]:
    properties = _properties(schema)
    return {
        key: copy.deepcopy(value)
        for key, value in args.items()
        if value is not None or not _null_means_default(properties.get(key))
    }


def _null_means_default(schema: Json) -> bool:
    return isinstance(schema, dict) and "default" in schema and not _is_valid(schema, None)


def _fill_defaults(schema: Json, value: Json) -> None:
    """Fill defaults into an object and the objects inside it that are present."""
    if isinstance(value, list) and isinstance(schema, dict):
        for item in value:
            _fill_defaults(schema.get("items"), item)
    if not isinstance(value, dict):
        return
    for key, below in _properties(schema).items():
        if key in value:
            _fill_defaults(below, value[key])
        elif isinstance(below, dict) and "default" in below:
            default = below["default"]
            if _is_valid(below, default):
                value[key] = copy.deepcopy(default)


def _is_valid(schema: dict[str, Any], value: Json) -> bool:
    return _validator(write_json(schema)).is_valid(value)


def _properties(schema: Json) -> Mapping[str, Json]:
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _json_type(value: Json) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", str: "a string", list: "an array", int: "a number"}
    return names.get(type(value), "a number")
