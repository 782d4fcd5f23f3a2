"""Two schemas are equal when they ask for the same; else the first difference is named."""

import random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lenses_ext.signatures.schema_comparison import canonical, first_difference
from tests.strategies import parameter_schemas

SAME: list[tuple[str, Any, Any]] = [
    ("order of required", {"required": ["a", "b"]}, {"required": ["b", "a"]}),
    ("duplicates of required", {"required": ["a", "a"]}, {"required": ["a"]}),
    ("order of enum", {"enum": ["c", "f"]}, {"enum": ["f", "c"]}),
    ("order of types", {"type": ["string", "null"]}, {"type": ["null", "string"]}),
    ("order of alternatives", {"oneOf": [{"minimum": 1}, {}]}, {"oneOf": [{}, {"minimum": 1}]}),
    ("empty required", {"required": []}, {}),
    ("empty properties", {"properties": {}}, {}),
    ("empty items", {"items": {}}, {}),
    ("additionalProperties true", {"additionalProperties": True}, {}),
    ("a list of one type", {"type": ["string"]}, {"type": "string"}),
    ("whole decimals", {"default": 10.0, "enum": [1.0]}, {"default": 10, "enum": [1]}),
    (
        "alternatives of bare types",
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"type": ["null", "string"]},
    ),
    (
        "references",
        {
            "properties": {"a": {"$ref": "#/$defs/A", "description": "d"}},
            "$defs": {"A": {"type": "string"}},
        },
        {"properties": {"a": {"type": "string", "description": "d"}}},
    ),
    (
        "references in definitions",
        {
            "items": {"$ref": "#/$defs/A"},
            "$defs": {"A": {"items": {"$ref": "#/$defs/B"}}, "B": {"minimum": 1}},
        },
        {"items": {"items": {"minimum": 1}}},
    ),
]

DIFFERENT: list[tuple[Any, Any, str]] = [
    (
        {"properties": {"limit": {"default": 10}}},
        {"properties": {"limit": {"default": 20}}},
        "$.properties.limit.default: spec 10, implementation 20",
    ),
    ({"enum": [1]}, {"enum": [True]}, "$.enum: spec [1], implementation [true]"),
    ({"default": "1"}, {"default": 1}, '$.default: spec "1", implementation 1'),
    ({"default": None}, {}, "$.default: spec null, implementation has none"),
    ({}, {"minimum": 1}, "$.minimum: spec has none, implementation 1"),
    (
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"type": "number"}}, "required": []},
        '$.properties.a.type: spec "integer", implementation "number"',
    ),
    ({"title": "x"}, {"title": "y"}, '$.title: spec "x", implementation "y"'),
    (
        {"prefixItems": [{}]},
        {"prefixItems": [{}, {}]},
        "$.prefixItems: spec [{}], implementation [{},{}]",
    ),
]


@pytest.mark.parametrize(("claim", "one", "other"), SAME, ids=[claim for claim, _, _ in SAME])
def test_what_does_not_matter_is_no_difference(claim: str, one: Any, other: Any) -> None:
    assert first_difference(one, other) is None
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(("spec", "implementation", "message"), DIFFERENT)
def test_the_first_difference_is_named(spec: Any, implementation: Any, message: str) -> None:
    assert first_difference(spec, implementation) == message


def test_match_types_leaves_out_what_is_said_for_readers() -> None:
    spec = {
        "title": "T",
        "properties": {"title": {"type": "number", "description": "d", "format": "float"}},
    }
    implementation = {"properties": {"title": {"type": "number", "examples": [1]}}}

    assert first_difference(spec, implementation, match="types") is None
    assert first_difference(spec, {"properties": {}}, match="types") is not None
    assert first_difference({"default": 1}, {"default": 2}, match="types") is not None
    assert first_difference(spec, implementation) is not None


def test_match_name_looks_at_no_schema() -> None:
    assert first_difference({"type": "object"}, {}, match="name") is None


def test_types_that_contain_themselves_are_compared_by_name() -> None:
    def tree(label: str) -> dict[str, Any]:
        node = {"properties": {"next": {"$ref": "#/$defs/N"}, "v": {"type": label}}}
        return {"properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": node, "Unused": {}}}

    assert first_difference(tree("string"), tree("string")) is None
    assert first_difference(tree("string"), tree("null")) is not None


@given(parameter_schemas(), st.randoms(use_true_random=False))
def test_keys_and_lists_without_an_order_may_be_shuffled(
    schema: dict[str, Any], rng: random.Random
) -> None:
    def shuffled(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            entries = [(name, shuffled(item, name)) for name, item in value.items()]
            return dict(rng.sample(entries, len(entries)))
        if isinstance(value, list) and key in ("required", "anyOf", "type"):
            return rng.sample(value, len(value))
        return value

    assert first_difference(schema, shuffled(schema)) is None


@given(parameter_schemas())
def test_a_schema_is_equal_to_itself_and_unchanged(schema: dict[str, Any]) -> None:
    before = repr(schema)

    assert first_difference(schema, schema) is None
    assert first_difference(schema, schema, match="types") is None
    assert repr(schema) == before
