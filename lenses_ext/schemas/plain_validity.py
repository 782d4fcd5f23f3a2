"""Judges values by the schemas of most tools, which say little more than types.

The validator is a library of three megabytes. A process that needs no more than this does not load
it, and what is judged here is judged as there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from gram import expect

from .keywords import ANNOTATIONS
from .schema_parts import Schema

Judge: TypeAlias = Callable[[Any], bool]
"""Whether a JSON value is valid."""


def _is_integer(value: object) -> bool:
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    if isinstance(value, float):
        return value - value == 0  # JSON has no infinity
    return isinstance(value, int) and not isinstance(value, bool)


OF_TYPE: Final[Mapping[str, Judge]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list | tuple),
    "null": lambda value: value is None,
    "integer": _is_integer,
    "number": _is_number,
}
"""Which values are of a type, by its name in JSON Schema."""

_OF_OBJECTS: Final = frozenset({"properties", "required", "additionalProperties"})
_JUDGED: Final = ANNOTATIONS | _OF_OBJECTS | {"type", "items"}


def plain_judge(schema: Schema) -> Judge | None:
    """What judges values by a schema that says no more than types, properties and items.

    Args:
        schema: a valid JSON Schema.

    Returns:
        None for every other schema.

    >>> is_valid = plain_judge({"type": "object", "properties": {"n": {"type": "integer"}}})
    >>> is_valid({"n": 1}), is_valid({"n": "1"}), is_valid({}), is_valid(None)
    (True, False, True, False)
    >>> plain_judge({"type": "string", "pattern": "a"})
    """
    expect(schema, (dict, bool), "schema", by="plain_judge")
    return _judge_of(schema)


def _judge_of(schema: object) -> Judge | None:
    if schema is True:
        return _everything
    if not isinstance(schema, dict) or not _JUDGED.issuperset(schema):
        return None
    judges: list[Judge] = []
    is_object = schema.get("type") == "object"
    if "type" in schema and not is_object:
        judges.append(_of_types(schema["type"]))
    if "items" in schema:
        of_item = _judge_of(schema["items"])
        if of_item is None:
            return None
        judges.append(_of_items(of_item))
    if is_object or not schema.keys().isdisjoint(
        ("properties", "required", "additionalProperties")
    ):
        of_object = _of_object(schema, others=not is_object)
        if of_object is None:
            return None
        judges.append(of_object)
    return judges[0] if len(judges) == 1 else lambda value: all(judge(value) for judge in judges)


def _everything(_: object) -> bool:
    return True


def _of_types(types: str | Iterable[str]) -> Judge:
    if isinstance(types, str):
        return OF_TYPE[types]
    judges = [OF_TYPE[each] for each in types]
    return lambda value: any(judge(value) for judge in judges)


def _of_items(judge: Judge) -> Judge:
    return lambda value: not isinstance(value, list | tuple) or all(map(judge, value))


def _of_object(schema: Mapping[str, Any], *, others: bool) -> Judge | None:
    """The judge of objects; ``others`` says whether all other values are valid."""
    judges = {name: _judge_of(below) for name, below in schema.get("properties", {}).items()}
    required = frozenset(schema.get("required", ()))
    may_have_more = schema.get("additionalProperties", True)
    known = {name: judge for name, judge in judges.items() if judge is not None}
    if len(known) < len(judges) or not isinstance(may_have_more, bool):
        return None

    def judge(value: object) -> bool:
        if not isinstance(value, dict):
            return others
        if not value.keys() >= required:
            return False
        for name, below in value.items():
            if name not in known:
                if not may_have_more:
                    return False
            elif not known[name](below):
                return False
        return True

    return judge
