"""Checks of JSON Schemas: against the metaschema, and of defaults against their own schema.

The validator is imported when it is first needed; it may not fetch anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from attrs import frozen

from ..json_values import dump_json, json_levels
from .subschemas import Schema, SchemaPath
from .validation_steps import steps_of_validation

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

_METASCHEMA = "https://json-schema.org/draft/2020-12/schema"

_KINDS = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}
_ANNOTATIONS = frozenset(
    {
        "$comment",
        "default",
        "deprecated",
        "description",
        "examples",
        "format",
        "readOnly",
        "title",
        "writeOnly",
    }
)
"""Keywords that no default can contradict."""

_ROOTS = ("$defs", "definitions", "properties")
"""Where in the root the local references of a schema lead."""


_MAX_STEPS = 10_000_000


@frozen
class Breach:
    """One place where a schema is no schema.

    Attributes:
        index: which of the checked schemas.
        path: the way from the schema to the value at fault.
        reason: what it must be, such as ``must be a number, got "0"``.
    """

    index: int
    path: SchemaPath
    reason: str


def breaches(schemas: Sequence[object]) -> list[Breach]:
    """Where schemas break the 2020-12 metaschema."""
    if all(map(_is_plainly_valid, schemas)):
        return []
    found: dict[Breach, None] = {}  # the metaschema's vocabularies each tell the same
    for error in _metaschema().iter_errors(list(schemas)):
        index, *path = error.instance_path
        assert isinstance(index, int)
        found[Breach(index, tuple(path), _reason(error))] = None
    return list(found)


def _is_plainly_valid(schema: object) -> bool:
    """Whether a schema says nothing that could be wrong: most parameters have no more."""
    if not isinstance(schema, dict):
        return False
    return all(
        key == "default" or (key in ("title", "description") and isinstance(value, str))
        for key, value in schema.items()
    )


def default_misfits(root: dict[str, Any], schemas: Sequence[dict[str, Any]]) -> list[str | None]:
    """For each schema with a ``default``, how that fails the schema, or None when it fits.

    A default that would take too long to validate (alternatives in alternatives, references that
    double) is taken to fit.

    Args:
        root: the schema whose definitions the schemas may refer to.
        schemas: schemas that have a default.

    >>> default_misfits({}, [{"type": "integer", "default": "18"}])
    ['is a string, but its type is integer']
    """
    reasons = [_plain_misfit(schema) for schema in schemas]
    rest = [
        index
        for index, schema in enumerate(schemas)
        if reasons[index] is None and not schema.keys() <= _ANNOTATIONS | {"type", "enum"}
    ]
    if rest:
        steps = steps_of_validation(root, schemas)
        rest = [i for i in rest if _may_be_judged(steps, schemas[i]["default"])]
    for index, reason in zip(rest, _misfits(root, [schemas[i] for i in rest]), strict=True):
        reasons[index] = reason
    return reasons


def _may_be_judged(steps: float, default: object) -> bool:
    """Whether validating a default comes to an end soon, even if each level takes all steps."""
    return steps <= _MAX_STEPS and steps ** (1 + json_levels(default)) <= _MAX_STEPS


def _plain_misfit(schema: dict[str, Any]) -> str | None:
    """What the type and enum of a schema say of its default."""
    default, types, enum = schema["default"], schema.get("type"), schema.get("enum")
    types = [types] if isinstance(types, str) else types
    if isinstance(types, list) and not any(_is_of(default, each) for each in types):
        return f"is {_kind(default)}, but its type is {' or '.join(map(str, types))}"
    if isinstance(enum, list) and not any(_same(default, each) for each in enum):
        return f"is not one of its enum {_compact(enum)}"
    return None


def _is_of(value: object, json_type: object) -> bool:
    if json_type in ("integer", "number"):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return json_type == "number" or isinstance(value, int) or value.is_integer()
    return isinstance(value, _KINDS.get(str(json_type), object))


def _kind(value: object) -> str:
    match value:
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case dict():
            return "an object"
        case _:
            return "null"


def _same(one: object, other: object) -> bool:
    """JSON equality: ``1`` is ``1.0`` but not ``true``."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return one == other


# --- with the validator


def _misfits(root: dict[str, Any], schemas: Sequence[dict[str, Any]]) -> list[str | None]:
    """The same by validation: all in one validator, or each in its own where one has no meaning."""
    if not schemas:
        return []
    from jsonschema_rs import ValidationError

    around = {key: root[key] for key in _ROOTS if key in root}
    try:
        validator = schema_validator({**around, "prefixItems": list(schemas)})
    except ValidationError:  # a pattern that is none, a reference that leads nowhere
        if len(schemas) == 1:
            return [None]
        return [reason for schema in schemas for reason in _misfits(root, [schema])]
    reasons: list[str | None] = [None] * len(schemas)
    for error in validator.iter_errors([schema["default"] for schema in schemas]):
        index = error.instance_path[0] if error.instance_path else None
        if isinstance(index, int) and reasons[index] is None:
            reasons[index] = f"does not fit its type: {error.message}"
    return reasons


def schema_validator(schema: Schema) -> Draft202012Validator:
    """The validator of a schema. It fetches nothing: only local references are followed.

    Raises:
        jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError: it is no schema.
    """
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator(schema, retriever=_refuse)


@cache
def _metaschema() -> Draft202012Validator:
    return schema_validator({"items": {"$ref": _METASCHEMA}})


def is_regular_expression(pattern: str) -> bool:
    """Whether the keyword ``pattern`` can say it; the metaschema takes any text."""
    try:
        schema_validator({"pattern": pattern})
    except ValueError:  # what jsonschema-rs raises is one
        return False
    return True


def _refuse(uri: str) -> NoReturn:
    raise LookupError(f"{uri} is not local")


def _reason(error: ValidationError) -> str:
    got = _compact(error.instance)
    if error.kind.name == "type":
        return f"must be {' or '.join(map(_article, error.kind.as_dict()['types']))}, got {got}"
    if error.kind.name == "anyOf":
        return f"must be a JSON type or an array of JSON types, got {got}"
    return f"is not valid: {error.message}"


def _article(json_type: str) -> str:
    if json_type == "null":
        return json_type
    return f"an {json_type}" if json_type[0] in "aeiou" else f"a {json_type}"


def _compact(value: object) -> str:
    """JSON without blanks, as messages show it."""
    text = dump_json(value, compact=True)
    return text if len(text) <= 200 else f"{text[:200]}…"
