"""Checks of JSON Schemas: against the metaschema, and of defaults against their own schema.

The validator is imported when it is first needed; it may not fetch anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from attrs import field, frozen

from gram import GramError

from .json_values import dump_json, same_json
from .schema_parts import ANNOTATIONS, Schema, SchemaPath, kind_of, validation_visits

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

_ROOTS = ("$defs", "definitions", "properties")
"""Where in the root the local references of a schema lead."""


_MOST = 5_000
"""How often schemas may be held against a default: past that, its faults take seconds to find."""


class SchemaError(GramError, ValueError):
    """What should be a JSON Schema is not a valid one."""


@frozen
class Breach:
    """One place where a schema is not valid.

    Attributes:
        index: which of the checked schemas.
        path: the path from the schema to the value at fault.
        reason: what it must be, such as ``must be a number, got "0"``.
        value: the value at fault.
    """

    index: int
    path: SchemaPath
    reason: str
    value: Any = field(default=None, eq=False, repr=False)


def breaches(schemas: Sequence[object]) -> list[Breach]:
    """What the 2020-12 metaschema refuses in schemas."""
    found: dict[Breach, None] = {}  # each of the metaschema's vocabularies reports the same
    for error in _metaschema().iter_errors(list(schemas)):
        index, *path = error.instance_path
        assert isinstance(index, int)
        found[Breach(index, tuple(path), _reason(error), error.instance)] = None
    return list(found)


def default_misfits(
    root: Callable[[], dict[str, Any]], schemas: Sequence[dict[str, Any]]
) -> list[str | None]:
    """For each schema with a ``default``, how that fails the schema, or None when it fits.

    A default that would take too long to validate (see `validation_visits`) counts as fitting.

    Args:
        root: makes the schema whose definitions the schemas may refer to.
        schemas: schemas that have a default.

    >>> default_misfits(dict, [{"type": "integer", "default": "18"}])
    ['is a string, but its type is integer']
    """
    reasons = [_plain_misfit(schema) for schema in schemas]
    fine = (index for index, reason in enumerate(reasons) if reason is None)
    rest = [index for index in fine if schemas[index].keys() - ANNOTATIONS - {"type", "enum"}]
    if not rest:
        return reasons
    whole = root()
    rest = [index for index in rest if not _takes_long(schemas[index], whole)]
    for index, reason in zip(rest, _misfits(whole, [schemas[i] for i in rest]), strict=True):
        reasons[index] = reason
    return reasons


def _takes_long(schema: dict[str, Any], root: dict[str, Any]) -> bool:
    return validation_visits(schema, schema["default"], root, at_most=_MOST) > _MOST


def _plain_misfit(schema: dict[str, Any]) -> str | None:
    """What the type and enum of a schema say of its default."""
    default, types, enum = schema["default"], schema.get("type"), schema.get("enum")
    types = [types] if isinstance(types, str) else types
    if isinstance(types, list) and not is_of(default, types):
        return f"is {_article(kind_of(default))}, but its type is {' or '.join(map(str, types))}"
    if isinstance(enum, list) and not any(same_json(default, each) for each in enum):
        return f"is not one of its enum {_compact(enum)}"
    return None


def is_of(value: object, types: Iterable[object]) -> bool:
    """Whether a JSON value is of one of some JSON types."""
    kinds = {kind_of(value)}
    if kinds == {"integer"}:
        kinds.add("number")
    elif isinstance(value, float) and value.is_integer():
        kinds.add("integer")
    return not kinds.isdisjoint(types)


# --- with the validator


def _misfits(root: dict[str, Any], schemas: Sequence[dict[str, Any]]) -> list[str | None]:
    """The same by validation: all in one validator, or each in its own where one is not valid."""
    if not schemas:
        return []
    around = {key: root[key] for key in _ROOTS if key in root}
    try:
        validator = schema_validator({**around, "prefixItems": list(schemas)})
    except SchemaError:  # an invalid pattern, a reference that leads nowhere
        if len(schemas) == 1:
            return [None]
        return [reason for schema in schemas for reason in _misfits(root, [schema])]
    reasons: list[str | None] = [None] * len(schemas)
    for error in validator.iter_errors([schema["default"] for schema in schemas]):
        index = error.instance_path[0] if error.instance_path else None
        if isinstance(index, int) and reasons[index] is None:
            reasons[index] = f"does not fit its type: {error.message}"
    return reasons


def schema_validator(
    schema: Schema, *, formats: bool = False, linear: bool = False
) -> Draft202012Validator:
    """The validator of a schema. It fetches nothing: only local references are followed.

    Args:
        schema: a JSON Schema.
        formats: whether a ``format`` refuses what is not of it.
        linear: whether each ``pattern`` has to be one that takes time in proportion to the text:
            it has no look-around and no back-references.

    Raises:
        SchemaError: it is not a valid schema.
    """
    from jsonschema_rs import Draft202012Validator, ReferencingError, RegexOptions

    engine = RegexOptions() if linear else None
    try:
        return Draft202012Validator(
            schema, retriever=_refuse, validate_formats=formats, pattern_options=engine
        )
    except (ValueError, ReferencingError) as error:  # what jsonschema-rs raises is a ValueError
        raise SchemaError(str(error)) from None


def accepts_value(schema: Schema, value: object) -> bool:
    """Whether a schema accepts a value, formats checked; False where it is not valid itself."""
    accepts = value_judge(schema)
    return accepts is not None and accepts(value)


def value_judge(schema: Schema) -> Callable[[object], bool] | None:
    """Whether values are valid by a schema, formats too; None where it is not valid itself."""
    try:
        return schema_validator(schema, formats=True).is_valid
    except SchemaError:
        return None


@cache
def _metaschema() -> Draft202012Validator:
    return schema_validator({"items": {"$ref": "https://json-schema.org/draft/2020-12/schema"}})


def is_regular_expression(pattern: str) -> bool:
    """Whether a text can be a ``pattern``; the metaschema takes any text."""
    return value_judge({"pattern": pattern}) is not None


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
