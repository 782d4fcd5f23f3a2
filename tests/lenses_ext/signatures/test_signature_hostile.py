"""Whatever is thrown at signatures is handled or refused, soon and with a SignatureError."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

import lenses_ext
from gram import GramEncodeError, Pattern, Subject, loads
from lenses_ext import SignatureError, json_schema_to_type_signature, type_signature_to_json_schema
from lenses_ext.schemas import differences
from lenses_ext.schemas.canonical_form import canonical
from lenses_ext.signatures import json_schema_diagnostics
from tests.gram.strategies import forests, texts
from tests.lenses_ext.strategies import json_values, signature_texts


def comes_back(schema: dict[str, Any]) -> bool:
    text = json_schema_to_type_signature(schema)
    return bool(type_signature_to_json_schema(text) == schema)


SNIPPETS = [
    *("(", ")", "[", "]", "{", "}", ",", ":", "::", "-->", "==>", "<--", "|", " ", '"', "`"),
    *("a", "b", "Maybe", "IO", "Text", "Int", "Object", "Array", "Type", "User", "fields", "json`"),
]


def outcome(function: Callable[[Any], Any], x: Any) -> Any:
    """What a function gives, or the one error it may raise."""
    try:
        return function(x)
    except SignatureError as error:
        return error


@given(signature_texts() | texts() | st.lists(st.sampled_from(SNIPPETS), max_size=14).map("".join))
@example("(" * 5000)
@example("(a: " + "[" * 5000)
@example("(a: " + "Maybe " * 5000)
@example("(a: Int) --> " + "(" * 5000)
def test_any_text_is_a_signature_or_a_signature_error(text: str) -> None:
    result = outcome(lenses_ext.parse_type_signature, text)

    if isinstance(result, SignatureError):
        assert result.faults
        assert str(result)
    else:
        written = lenses_ext.write_type_signature(result)
        assert type_signature_to_json_schema(written) == type_signature_to_json_schema(text)


@given(signature_texts().map(loads) | forests())
def test_any_tool_has_a_signature_or_a_signature_error(elements: tuple[Pattern, ...]) -> None:
    try:
        tool = Pattern(Subject("t", {"Tool"}), elements)
    except GramEncodeError:
        return

    for pattern in elements:
        assert isinstance(outcome(type_signature_to_json_schema, pattern), dict | SignatureError)
    signature = outcome(lenses_ext.parse_type_signature, tool)
    schema = outcome(type_signature_to_json_schema, tool)

    assert isinstance(outcome(lenses_ext.result_schema, tool), dict | None | SignatureError)
    if isinstance(signature, SignatureError):
        assert isinstance(schema, SignatureError)
    else:
        assert type_signature_to_json_schema(lenses_ext.write_type_signature(signature)) == schema


@given(json_values())
def test_any_json_becomes_a_signature_or_a_signature_error(value: Any) -> None:
    result = outcome(json_schema_to_type_signature, value)
    errors = [fault for fault in json_schema_diagnostics(value) if fault.severity == "error"]

    assert isinstance(result, SignatureError) == bool(errors)


def test_hundreds_of_parameters_keep_their_order() -> None:
    names = [f"p{index}" for index in range(300)]
    properties = {name: {"type": "integer", "default": 1, "minimum": 0} for name in names}
    schema = {"type": "object", "properties": properties, "required": []}

    text = json_schema_to_type_signature(schema)

    assert list(type_signature_to_json_schema(text)["properties"]) == names


def test_hundreds_of_types_that_lead_to_each_other() -> None:
    definitions: dict[str, Any] = {
        f"D{index}": {"type": "array", "items": {"$ref": f"#/$defs/D{index + 1}"}}
        for index in range(300)
    }
    definitions["D300"] = {"$ref": "#/$defs/D0"}

    assert comes_back({"type": "object", "properties": {}, "required": [], "$defs": definitions})


@pytest.mark.parametrize("levels", [39, 40, 41, 60])
def test_schemas_nested_deeply_come_back(levels: int) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        inner = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
        schema = {"type": "array", "items": inner} if _ % 2 else inner

    assert comes_back({"type": "object", "properties": {"a": schema}, "required": ["a"]})


def test_schemas_nested_too_deeply_are_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"not": schema}

    with pytest.raises(SignatureError, match="nests deeper than 200 levels"):
        json_schema_to_type_signature({"type": "object", "properties": {"a": schema}})


def test_shapes_that_would_expand_without_end_and_long_chains_are_refused() -> None:
    doubled = "".join(f"[S{i}::Object | (a::S{i + 1}), (b::S{i + 1})]" for i in range(40))
    chain = "".join(f"[S{i}::Object | (a::S{i + 1})]" for i in range(2000))

    for shapes in (f"{doubled} [S40::String]", f"{chain} [S2000::String]"):
        with pytest.raises(SignatureError, match="expands to too many types"):
            lenses_ext.parse_type_signature(f"(x::S0)==>(::String) {shapes}")


def test_references_that_only_lead_to_themselves_come_back() -> None:
    properties = {"a": {"$ref": "#/$defs/A", "default": 1}}
    definitions = {"A": {"$ref": "#/$defs/A"}}
    schema = {"type": "object", "properties": properties, "required": [], "$defs": definitions}

    assert comes_back(schema)
    assert differences(schema, schema) == ()


def test_references_that_double_do_not_hold_the_check_of_a_default() -> None:
    definitions: dict[str, Any] = {
        f"D{index}": {"allOf": [{"$ref": f"#/$defs/D{index + 1}"}] * 2} for index in range(60)
    }
    definitions["D60"] = {"type": "integer"}
    properties = {"a": {"$ref": "#/$defs/D0", "default": "x"}}

    assert comes_back(
        {"type": "object", "properties": properties, "required": [], "$defs": definitions}
    )


def test_a_pattern_that_backtracks_does_not_hold_the_check_of_a_default() -> None:
    schema = {"type": "string", "pattern": "^(a+)+$", "default": "a" * 40 + "!"}

    assert comes_back({"type": "object", "properties": {"a": schema}, "required": []})


def test_references_that_double_are_compared_soon() -> None:
    definitions: dict[str, Any] = {
        f"D{index}": {
            "anyOf": [{"$ref": f"#/$defs/D{index + 1}"}, {"not": {"$ref": f"#/$defs/D{index + 1}"}}]
        }
        for index in range(60)
    }
    definitions["D60"] = {}

    assert canonical({"$ref": "#/$defs/D0", "$defs": definitions})
