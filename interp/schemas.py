"""Values against JSON Schemas: whether they fit, and what is wrong with those that do not.

Every violation is told with its path, so that a model knows what to mend.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lenses_ext.json_values import NotJson, json_levels
from lenses_ext.signatures.schema_checks import schema_validator
from lenses_ext.signatures.validation_steps import steps_of_validation

from .errors import ValidationError
from .json_text import Json, read_json, write_json

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError as Violation, Validator

_MOST_VIOLATIONS = 5
_MAX_STEPS = 1_000_000


def check(schema: Mapping[str, Json], value: Json) -> None:
    """Check a JSON value against a schema.

    Raises:
        ValidationError: the value violates it, or the schema is none.
    """
    validator = validator_of(write_json(schema))
    if not validator.is_valid(value):
        raise ValidationError(violations(validator, schema, value))


def accepts(schema: Json, value: Json, root: Json) -> bool:
    """Whether a part of a schema accepts a value, its references read within the whole."""
    shared: dict[str, Any] = {key: root[key] for key in ("$defs", "definitions") if key in root}
    try:
        return validator_of(write_json({**shared, **schema})).is_valid(value)
    except ValidationError:  # it refers to another part of the whole: not to be judged alone
        return value is not None


def require_schema(schema: Mapping[str, Json]) -> str:
    """The text of a JSON Schema.

    Raises:
        ValidationError: it is none: not JSON, or refused by the metaschema.
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
    """The validator of a schema given as text, made once for each.

    Raises:
        ValidationError: it is none.
    """
    import jsonschema_rs

    try:
        return schema_validator(read_json(schema))
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise ValidationError(f"not a JSON Schema: {error}") from None


def violations(validator: Validator, schema: Mapping[str, Json], value: Json) -> str:
    """What is wrong with a value, a line for each violation, the first few of them.

    Where telling them all would take too long, only the outermost are told.
    """
    if not _may_be_told(schema, value):
        return "\n".join(_outermost(schema, value)[:_MOST_VIOLATIONS])
    told = (_describe(violation, schema) for violation in validator.iter_errors(value))
    lines = list(dict.fromkeys(told))
    hidden = len(lines) - _MOST_VIOLATIONS
    return "\n".join(lines[:_MOST_VIOLATIONS] + ([f"and {hidden} more"] if hidden > 0 else []))


def _may_be_told(schema: Mapping[str, Json], value: Json) -> bool:
    """Whether looking for violations comes to an end soon.

    The validator looks into each alternative for its violations, so alternatives in alternatives
    double the work with each level; whether a value is valid at all, it knows at once.
    """
    steps = steps_of_validation(dict(schema))
    if steps == 1:
        return True
    return steps <= _MAX_STEPS and _values_in(value) * steps ** json_levels(value) <= _MAX_STEPS


def _values_in(value: Json) -> int:
    """How many values a value has in it, itself included."""
    count, pending = 0, [value]
    while pending:
        current = pending.pop()
        count += 1
        if isinstance(current, dict):
            pending.extend(current.values())
        elif isinstance(current, list):
            pending.extend(current)
    return count


def _outermost(schema: Mapping[str, Json], value: Json) -> list[str]:
    """The parameters that break their own schemas, or else that the whole does."""
    given = value if isinstance(value, dict) else {}
    told = [
        f"{json_path([name])}: is none of what its type allows"
        for name, below in schema.get("properties", {}).items()
        if isinstance(below, dict) and name in given and not accepts(below, given[name], schema)
    ]
    return told or ["$: is none of what its type allows"]


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
    """A path into a JSON value, ``$.tags[1]``."""
    text = "$"
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if step.isidentifier() else f"[{write_json(step)}]"
    return text
