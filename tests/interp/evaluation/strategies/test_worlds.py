"""Values that a schema accepts."""

from __future__ import annotations

from datetime import time
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import pytest
from hypothesis import find, given, settings, strategies as st

from gram import Pattern
from interp import ValidationError
from interp.evaluation.strategies import arguments_of, broken_arguments_of, results_of, values_of
from interp.machine import validate_tool_args
from interp.machine.contracts import accepts
from lenses_ext import create_tool_specification, result_schema, tool_spec_schema, view
from lenses_ext.strategies import tool_specs
from tests.by_day import given_few
from tests.lenses_ext.strategies import signature_texts

TOOLS = tool_specs(signatures=signature_texts()) | tool_specs()

SCHEMAS = [
    {"type": "integer", "minimum": 3, "maximum": 4},
    {"type": "integer", "exclusiveMinimum": 3, "multipleOf": 5},
    {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5},
    {"type": "string", "pattern": "^[a-z]{2,3}$"},
    {"type": "string", "pattern": r"^\p{Ll}*$"},
    {"type": "string", "minLength": 2, "maxLength": 3},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "date-time"},
    {"type": "string", "format": "uuid"},
    {"type": ["string", "null"]},
    {"enum": ["a", 1, None]},
    {"const": {"x": []}},
    {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3},
    {"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": True},
    {"type": "array", "prefixItems": [{"type": "string"}, {"type": "null"}], "items": False},
    {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1},
    {"type": "object", "properties": {"a": {}}, "required": ["a", "b"]},
    {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 9}]},
    {"oneOf": [{"type": "number"}, {"type": "integer"}]},
    {"allOf": [{"type": "integer"}, {"minimum": 2}], "maximum": 3},
    {"$ref": "#/$defs/Node", "$defs": {"Node": {"properties": {"next": {"$ref": "#/$defs/Node"}}}}},
    {"minimum": 5},
    {},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_a_schema_accepts_the_values_that_are_made_for_it(schema: dict[str, object]) -> None:
    @settings(max_examples=10)
    @given(values_of(schema))
    def accepted(value: object) -> None:
        assert accepts(schema, value, schema)

    accepted()


@settings(max_examples=10)
@given(st.data())
def test_times_and_addresses_that_are_made_can_be_read(data: st.DataObject) -> None:
    def made(name: str) -> str:
        return str(data.draw(values_of({"type": "string", "format": name})))

    time.fromisoformat(made("time"))
    IPv4Address(made("ipv4"))
    IPv6Address(made("ipv6"))


def test_what_is_no_schema_is_refused_before_anything_is_drawn() -> None:
    with pytest.raises(ValidationError, match="not a JSON Schema"):
        values_of({"type": "nothing"})


def test_types_that_refer_to_themselves_have_small_and_deep_values() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": False}
    assert find(values_of(node), lambda value: True) == {}
    assert find(values_of(node), lambda value: "next" in value.get("next", {})) == {
        "next": {"next": {}}
    }


@given(TOOLS.flatmap(lambda tool: st.tuples(st.just(tool), arguments_of(tool))))
def test_arguments_fit_the_signature_they_are_made_for(
    drawn: tuple[Pattern, dict[str, Any]],
) -> None:
    tool, arguments = drawn
    validate_tool_args(view(tool_spec_schema, tool), arguments)


STRICT = ["(a::Int)==>(b::Text)==>(::String)", "(n::Integer)==>(::Any)"]
REFUSING = tool_specs(signatures=st.sampled_from(STRICT))


@given_few(REFUSING.flatmap(lambda tool: st.tuples(st.just(tool), broken_arguments_of(tool))))
def test_broken_arguments_are_refused(drawn: tuple[Pattern, dict[str, Any]]) -> None:
    tool, arguments = drawn
    with pytest.raises(ValidationError):
        validate_tool_args(view(tool_spec_schema, tool), arguments)


def test_a_tool_without_parameters_has_no_broken_arguments() -> None:
    tool = create_tool_specification("now", "Tells the time", "()==>(::Text)")
    assert broken_arguments_of(tool).is_empty


@given(TOOLS.flatmap(lambda tool: st.tuples(st.just(tool), results_of(tool))))
def test_results_are_of_the_declared_type(drawn: tuple[Pattern, object]) -> None:
    tool, result = drawn
    schema = result_schema(tool)
    assert schema is None or accepts(schema, result, schema)
