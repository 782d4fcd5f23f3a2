"""Whatever is thrown at signatures is handled or refused, soon and with a SignatureError."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

import lenses_ext
from gram import GramEncodeError, Pattern, Subject, loads
from lenses_ext import SignatureError, json_schema_to_type_signature, type_signature_to_json_schema
from lenses_ext.schemas.canonical_form import canonical
from lenses_ext.signatures import writer
from tests.gram.strategies import forests, texts
from tests.lenses_ext.strategies import json_values, signature_texts


def comes_back(properties: dict[str, Any], **rest: Any) -> bool:
    schema = {"type": "object", "properties": properties, "required": [], **rest}
    text = json_schema_to_type_signature(schema)
    found = type_signature_to_json_schema(text)
    return bool(found == schema and [*found["properties"]] == [*properties])


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
    assert isinstance(outcome(json_schema_to_type_signature, value), str | SignatureError)


def leading(to_next: Callable[[dict[str, str]], Any], count: int, last: Any) -> dict[str, Any]:
    """Definitions of which each says something of the next."""
    definitions = {f"D{at}": to_next({"$ref": f"#/$defs/D{at + 1}"}) for at in range(count)}
    return {**definitions, f"D{count}": last}


@pytest.mark.parametrize("levels", [39, 40, 41, 60])
def test_schemas_nested_deeply_come_back(levels: int) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        inner = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
        schema = {"type": "array", "items": inner} if _ % 2 else inner
    assert comes_back({"a": schema}, required=["a"])


def test_schemas_nested_too_deeply_are_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"not": schema}
    with pytest.raises(SignatureError, match="nests deeper than 200 levels"):
        json_schema_to_type_signature({"type": "object", "properties": {"a": schema}})


def test_shapes_that_would_expand_without_end_and_long_chains_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writer, "MAX_TYPES", 200)
    doubled = "".join(f"[S{i}::Object | (a::S{i + 1}), (b::S{i + 1})]" for i in range(40))
    chain = "".join(f"[S{i}::Object | (a::S{i + 1})]" for i in range(200))
    for shapes in (f"{doubled} [S40::String]", f"{chain} [S200::String]"):
        with pytest.raises(SignatureError, match="expands to too many types"):
            lenses_ext.parse_type_signature(f"(x::S0)==>(::String) {shapes}")


DOUBLED = leading(lambda next: {"allOf": [next] * 2}, 60, {"type": "integer"})
BACKTRACKS = {"type": "string", "pattern": "^(a+)+$", "default": "a" * 40 + "!"}


@pytest.mark.parametrize(
    ("properties", "definitions"),
    [
        ({f"p{at}": {"type": "integer", "default": 1, "minimum": 0} for at in range(300)}, {}),
        ({}, leading(lambda next: {"type": "array", "items": next}, 300, {"$ref": "#/$defs/D0"})),
        ({"a": {"$ref": "#/$defs/A", "default": 1}}, {"A": {"$ref": "#/$defs/A"}}),
        ({"a": {"$ref": "#/$defs/D0", "default": "x"}}, DOUBLED),
        ({"a": BACKTRACKS}, {}),
    ],
    ids=["many", "long", "to itself", "doubled", "backtracks"],
)
def test_schemas_that_go_on_and_on_come_back_soon(
    properties: dict[str, Any], definitions: dict[str, Any]
) -> None:
    assert comes_back(properties, **({"$defs": definitions} if definitions else {}))


def test_references_that_double_are_compared_soon() -> None:
    definitions = leading(lambda next: {"anyOf": [next, {"not": next}]}, 60, {})
    assert canonical({"$ref": "#/$defs/D0", "$defs": definitions})
