"""Checks values against JSON Schemas.

Every violation is reported with its path, so that a model knows what to fix.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gram import ArgumentError
from lenses_ext.schemas import NotJson, resolve_ref, schema_validator, validation_visits

from ...errors import ValidationError
from ...json_text import Json, JsonText, read_json, write_json

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError as Violation, Validator

_MOST_VIOLATIONS = 5
_MOST_VISITS_TO_DESCRIBE = 5_000
_MOST_VISITS = 1_000_000
_MOST_REFERENCES = 100  # deeper ones lead in a circle


def check(schema: Mapping[str, Json], value: Json) -> None:
    """Check a JSON value against a schema.

    Raises:
        ValidationError: the value violates the schema, or the schema is not valid.
    """
    check_against(write_json(schema), value)


def check_against(schema: str, value: Json) -> None:
    """The same as `check` for a schema that is JSON text."""
    if not is_valid(schema, value):
        raise ValidationError(violations(schema, value))


def is_valid(schema: str, value: Json) -> bool:
    """Whether a value is valid under a schema, given as JSON text.

    Raises:
        ValidationError: the schema is not valid, or checking the value would take too long.
    """
    root = _with_references(schema)
    if (
        root is not None
        and validation_visits(root, value, root, at_most=_MOST_VISITS) > _MOST_VISITS
    ):
        raise ValidationError(
            "checking it would take too long: its types refer to each other through too many "
            "alternatives"
        )
    return validator_of(schema).is_valid(value)


@lru_cache(maxsize=512)
def _with_references(schema: str) -> Json:
    """The schema if it has references, else None. It must not be changed."""
    return read_json(schema) if '"$ref"' in schema or '"$dynamicRef"' in schema else None


def resolved(schema: Json, root: Json) -> dict[str, Json]:
    """What a part of a schema refers to, or itself; nothing where it does not lead to an object."""
    for _ in range(_MOST_REFERENCES):
        if not isinstance(schema, dict):
            return {}
        if not isinstance(schema.get("$ref"), str):
            return schema
        schema = resolve_ref(schema["$ref"], root)
    return {}


def accepts(schema: Json, value: Json, root: Json) -> bool:
    """Whether a part of a schema accepts a value; its references are resolved in ``root``."""
    shared: dict[str, Any] = {key: root[key] for key in ("$defs", "definitions") if key in root}
    try:
        return is_valid(write_json({**shared, **schema}), value)
    except ValidationError:  # it has a reference outside `$defs`, which cannot be resolved
        return value is not None


def require_schema(schema: Mapping[str, Json]) -> JsonText:
    """Check that an object is a JSON Schema; return its JSON text.

    Raises:
        ValidationError: the object is not JSON, or the metaschema refuses it.
    """
    if not isinstance(schema, Mapping):
        raise ValidationError(f"not a JSON Schema: expected an object, found {schema!r}")
    try:
        text = write_json(dict(schema))
    except NotJson as error:
        raise ValidationError(f"not a JSON Schema: {error}") from None
    validator_of(text)
    return text


@lru_cache(maxsize=512)
def validator_of(schema: str) -> Validator:
    """The validator of a schema, given as JSON text; made once for each text.

    Raises:
        ValidationError: the text is not a JSON Schema.
    """
    try:
        validator = schema_validator(read_json(schema))
    except (ValueError, ArgumentError) as error:
        reason = str(error).partition("\n")[0]  # where in the metaschema helps nobody
        raise ValidationError(f"not a JSON Schema: {reason}") from None
    if '"pattern' in schema:  # searched in linear time wherever that can be
        with suppress(ValueError):
            return schema_validator(read_json(schema), linear=True)
    return validator


def violations(text: str, value: Json) -> str:
    """Describe how a value violates a schema: one line for each of the first few violations.

    If finding them all would take too long, only the outermost are described.
    """
    # The validator looks for violations in each alternative, so alternatives inside alternatives
    # double the work with each level.
    schema, validator = read_json(text), validator_of(text)
    visits = validation_visits(schema, value, schema, at_most=_MOST_VISITS_TO_DESCRIBE)
    if visits > _MOST_VISITS_TO_DESCRIBE:
        return "\n".join(_outermost(schema, value)[:_MOST_VIOLATIONS])
    described = (_describe(violation, schema) for violation in validator.iter_errors(value))
    lines = list(dict.fromkeys(described))
    hidden = len(lines) - _MOST_VIOLATIONS
    return "\n".join(lines[:_MOST_VIOLATIONS] + ([f"and {hidden} more"] if hidden > 0 else []))


def _outermost(schema: Mapping[str, Json], value: Json) -> list[str]:
    """One line for each parameter that violates its schema, or one line for the whole value."""
    given = value if isinstance(value, dict) else {}
    lines = [
        f"{json_path([name])}: fits none of the types that are allowed"
        for name, below in schema.get("properties", {}).items()
        if isinstance(below, dict) and name in given and not accepts(below, given[name], schema)
    ]
    return lines or ["$: fits none of the types that are allowed"]


def _describe(violation: Violation, schema: Mapping[str, Json]) -> str:
    path = json_path(violation.instance_path)
    match violation.kind.name:
        case "required":
            return f"{path}: missing required {write_json(violation.kind.as_dict()['property'])}"
        case "additionalProperties":
            unknown = ", ".join(map(write_json, violation.kind.as_dict()["unexpected"]))
            known = ", ".join(sorted(schema.get("properties", {}))) if path == "$" else ""
            return f"{path}: unknown {unknown}" + (f"; known: {known}" if known else "")
        case "falseSchema":
            return f"{path}: nothing may be given, found {write_json(violation.instance)}"
    return f"{path}: {violation.message}"


def json_path(path: Iterable[str | int]) -> str:
    """Write a path into a JSON value, such as ``$.tags[1]``."""
    text = "$"
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if step.isidentifier() else f"[{write_json(step)}]"
    return text
