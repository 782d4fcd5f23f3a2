"""Validity by parts is what a validator says, however often types refer to each other."""

from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from interp.json_text import Json, write_json
from interp.machine.contracts.memoised_validity import is_valid_by_parts
from interp.machine.contracts.validity import validator_of

NAMES = st.sampled_from("ab")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["", "a", 1.0, 1.5]),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(NAMES, below, max_size=2),
    max_leaves=6,
)
LEAVES: st.SearchStrategy[Any] = st.booleans() | st.one_of(
    st.sampled_from([{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}, {}]),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "string", "object", "array", "null", "number"])},
        optional={"minimum": st.integers(0, 2), "minItems": st.integers(0, 2)},
    ),
    VALUES.map(lambda value: {"const": value}),
)


def _containers(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(below, min_size=1, max_size=3)
    keywords: dict[Any, st.SearchStrategy[Any]] = {
        "anyOf": several,
        "allOf": several,
        "oneOf": several,
        "not": below,
        "properties": st.dictionaries(NAMES, below, max_size=2),
        "additionalProperties": below,
        "prefixItems": several,
        "items": below,
        "required": st.lists(NAMES, unique=True, max_size=1),
        "type": st.sampled_from(["object", "array", "integer", ["object", "null"]]),
    }
    return st.fixed_dictionaries({}, optional=keywords)


SCHEMAS = st.recursive(LEAVES, _containers, max_leaves=8)


@given(SCHEMAS.filter(lambda schema: isinstance(schema, dict)), SCHEMAS, VALUES)
def test_it_says_what_a_validator_says(schema: dict[str, Any], shared: Json, value: Json) -> None:
    # B refers to nothing and A not to itself, since what refers to itself has no meaning.
    definitions = {"A": _without_references(shared), "B": {"type": "integer"}}
    root = {**schema, "$defs": definitions}

    def holds(part: Json, below: Json) -> bool:
        return validator_of(write_json(part)).is_valid(below)

    expected = validator_of(write_json(root)).is_valid(value)
    assert is_valid_by_parts(root, value, root, holds) == expected


def _without_references(schema: Json) -> Json:
    if isinstance(schema, list):
        return [_without_references(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _without_references(each) for key, each in schema.items() if key != "$ref"}
