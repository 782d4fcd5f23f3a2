"""What is judged without the validator is judged as it would be."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from lenses_ext import plain_judge, schema_validator

TYPES = ["string", "integer", "number", "boolean", "object", "array", "null"]
VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 10**40, 1.0, 1.5, 1e300, float("inf"), "", "a"]),
    lambda below: (
        st.lists(below, max_size=2)
        | st.lists(below, max_size=2).map(tuple)
        | st.dictionaries(st.sampled_from("abc"), below, max_size=2)
    ),
    max_leaves=5,
)


def _containers(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "type": st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), min_size=1, unique=True),
        "properties": st.dictionaries(st.sampled_from("ab"), below, max_size=2),
        "required": st.lists(st.sampled_from("abc"), unique=True, max_size=2),
        "additionalProperties": st.booleans(),
        "items": below,
        "default": st.sampled_from([None, 1]),
        "format": st.just("date"),
        "description": st.just("…"),
    }
    return st.fixed_dictionaries({}, optional=keywords)


SCHEMAS = st.recursive(st.just({}) | st.just(True), _containers, max_leaves=6)


@given(SCHEMAS, VALUES)
def test_it_says_what_the_validator_says(schema: Any, value: object) -> None:
    judge = plain_judge(schema)

    assert judge is not None
    assert judge(value) == schema_validator(schema).is_valid(value)


@pytest.mark.parametrize(
    "more",
    [
        {"enum": [1]},
        {"pattern": "a"},
        {"$ref": "#/$defs/A"},
        {"additionalProperties": {"type": "string"}},
        {"items": {"minimum": 1}},
        {"properties": {"a": {"anyOf": [True]}}},
        {"unknown": 1},
    ],
)
def test_all_else_is_left_to_the_validator(more: dict[str, Any]) -> None:
    assert plain_judge({"type": "object", **more}) is None
