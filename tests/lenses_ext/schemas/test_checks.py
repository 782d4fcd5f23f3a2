"""What is said of a schema without the metaschema is what the metaschema says."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from lenses_ext import SchemaError
from lenses_ext.schemas import is_plainly_valid, schema_validator

TYPES = ["string", "integer", "number", "boolean", "object", "array", "null"]


def schemas() -> st.SearchStrategy[Any]:
    """Schemas of the keywords that are soon judged, right and wrong ones."""
    wrong = st.sampled_from([None, 1, "text", ["a", "a"], [1], {"a": 1}, {"type": "txt"}])

    def of(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        right: dict[str, st.SearchStrategy[Any]] = {
            "type": st.sampled_from([*TYPES, "text"])
            | st.lists(st.sampled_from([*TYPES, "text"]), max_size=2),
            "title": st.text(max_size=3),
            "description": st.text(max_size=3),
            "default": st.integers() | st.text(max_size=3),
            "enum": st.lists(st.integers(0, 2), max_size=3),
            "required": st.lists(st.sampled_from("ab"), max_size=2),
            "properties": st.dictionaries(st.sampled_from("ab"), below, max_size=2),
            "additionalProperties": st.booleans() | below,
            "items": below,
            "anyOf": st.lists(below, max_size=2),
            "$defs": st.dictionaries(st.sampled_from("ab"), below, max_size=2),
            "minimum": st.integers(-1, 1) | st.floats(),
            "minLength": st.integers(-1, 1) | st.sampled_from([True, 1.5]),
            "uniqueItems": st.booleans(),
            "const": st.integers(),
            "examples": st.lists(st.integers(), max_size=1),
        }
        either = {key: st.one_of(each, each, each, wrong) for key, each in right.items()}
        return st.fixed_dictionaries({}, optional=either)

    return st.recursive(st.fixed_dictionaries({}), of, max_leaves=6)


@given(schemas())
def test_what_is_plainly_valid_is_valid(schema: Any) -> None:
    if is_plainly_valid(schema):
        schema_validator(schema)


@pytest.mark.parametrize("kind", TYPES)
def test_the_schemas_of_most_tools_are_plainly_valid(kind: str) -> None:
    parameter = {"type": kind, "description": "D", "default": None}
    schema = {"type": "object", "properties": {"a": parameter}, "required": ["a"]}

    assert is_plainly_valid({**schema, "additionalProperties": False})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "txt"},
        {"type": 1},
        {"title": 1},
        {"enum": "ab"},
        {"required": ["a", "a"]},
        {"required": [1]},
        {"properties": {"a": 1}},
        {"additionalProperties": "no"},
        {"items": {"type": "txt"}},
        {"type": []},
        {"type": ["string", "string"]},
        {"anyOf": []},
        {"anyOf": [{"type": "txt"}]},
        {"minimum": True},
        {"minLength": -1},
        {"uniqueItems": 1},
        {"$defs": {"a": 1}},
    ],
    ids=str,
)
def test_what_is_not_valid_is_not_plainly_valid(schema: dict[str, Any]) -> None:
    assert not is_plainly_valid(schema)
    with pytest.raises(SchemaError):
        schema_validator(schema)
