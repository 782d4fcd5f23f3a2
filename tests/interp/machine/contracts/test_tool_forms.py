"""Lists of tools in the forms of others, read and written without loss."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

import lenses_ext
from gram import GramError
from interp import ValidationError
from interp.machine import TOOL_FORMS, tools_from_json, tools_to_json
from lenses_ext import create_tool_specification
from tests.lenses_ext.signatures.test_signature_round_trip import same
from tests.lenses_ext.strategies import json_schemas, json_values, parameter_schemas

WEATHER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Where"},
        "days": {"type": "integer", "minimum": 1, "default": 1},
    },
    "required": ["city"],
}
SAID = {"name": "weather", "description": "Says the weather."}
SIGNATURE = (
    '(city::String {description: "Where"})==>(days::Integer {default: 1, minimum: 1})==>(::Any)'
)

LISTS: dict[str, Any] = {
    "openai": {"tools": [{"type": "function", "function": {**SAID, "parameters": WEATHER}}]},
    "openai-functions": {"model": "m", "functions": [{**SAID, "parameters": WEATHER}]},
    "openai-responses": [{"type": "function", **SAID, "parameters": WEATHER, "strict": False}],
    "anthropic": {"tools": [{**SAID, "type": "custom", "input_schema": WEATHER}]},
    "mcp": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{**SAID, "inputSchema": WEATHER}]}},
    "spec": [{**SAID, "typeSignature": SIGNATURE}],
}


@pytest.mark.parametrize("form", TOOL_FORMS)
def test_every_form_is_known_by_its_keys_and_whatever_is_around_it(form: str) -> None:
    told: list[str] = []
    (tool,) = tools_from_json(LISTS[form], tell=told.append)
    assert lenses_ext.signature_text(tool) == SIGNATURE
    assert told == []


SPEC_FORM = {"name": "d", "description": "D", "typeSignature": "(n::Integer)==>(::Any)"}


@pytest.mark.parametrize("form", TOOL_FORMS)
@settings(max_examples=10)
@given(parameter_schemas(), json_schemas())
def test_what_is_written_in_a_form_is_read_back_whole(form: str, schema: Any, result: Any) -> None:
    """Names and descriptions too; the type of the result where the form has one."""
    returned = {**result, "type": "object"} if isinstance(result, dict) else None
    signature = lenses_ext.json_schema_to_type_signature(schema, return_schema=returned)
    tool = create_tool_specification("f", " Does é.\n", signature)

    written = tools_to_json([tool], form)
    (back,) = tools_from_json(written)

    assert back.value == tool.value
    assert same(lenses_ext.view(lenses_ext.tool_spec_schema, back)) == same(
        lenses_ext.view(lenses_ext.tool_spec_schema, tool)
    )
    if TOOL_FORMS[form].results != "none":
        assert same(lenses_ext.result_schema(back)) == same(lenses_ext.result_schema(tool))
    assert same(tools_to_json([back], form)) == same(written)


@pytest.mark.parametrize("form", TOOL_FORMS)
def test_what_a_form_has_no_place_for_is_told(form: str) -> None:
    told: list[str] = []
    tools = [
        create_tool_specification("a.b", "A", "()==>(::String)"),
        create_tool_specification("c", "C", "()==>(::Object)"),
        create_tool_specification("d", "D", "()==>(::Any)"),
    ]

    tools_to_json(tools, form, tell=told.append)

    assert told == {
        "mcp": ["mcp has types only of results that are objects; left out: a.b"],
        "spec": [],
    }.get(
        form,
        [
            f"{form} does not take every name; changed: a.b",
            f"{form} has no types of results; left out: a.b, c",
        ],
    )


def test_what_a_specification_has_no_place_for_is_told() -> None:
    told: list[str] = []
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    tools = tools_from_json(
        [
            {"name": "a", "title": "A", "inputSchema": schema, "annotations": {}},
            {"name": "b", "description": "B", "input_schema": schema, "title": "{B}"},
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 5},
            {"type": "file_search", "vector_store_ids": ["v"]},
        ],
        tell=told.append,
    )

    assert [tool.value.identity for tool in tools] == ["a", "b"]
    assert told == [
        'a specification has no place for "title"; left out: a, b',
        'a specification has no place for "annotations"; left out: a',
        "no description, so the name is used for it: a",
        '"web_search_20250305" is done by the provider itself; left out: $[2]',
        '"file_search" is done by the provider itself; left out: $[3]',
    ]


def test_unknown_keys_that_say_something_are_told_in_every_form() -> None:
    object_: dict[str, Any] = {"type": "object", "properties": {}}
    told: list[str] = []
    tools = tools_from_json(
        [
            {"function": {"name": "a", "description": "A", "x": None}, "y": 0, "type": 5},
            {"name": "b", "description": "B", "parameters": object_, "strict": False, "x": 0},
            {**SPEC_FORM, "x": {}, "schema": object_},
            {"type": "custom", "name": "e", "format": {"type": "text"}},
            {"tools": None},
        ],
        tell=told.append,
    )

    assert [tool.value.identity for tool in tools] == ["a", "b", "d"]
    assert told == [
        'a specification has no place for "y"; left out: a',
        'a specification has no place for "type"; left out: a',
        'a specification has no place for "x"; left out: b, d',
        '"schema" says other types than "typeSignature", which counts: d',
        '"custom" takes a text in place of arguments; left out: $[3]',
    ]


def test_strict_tools_are_marked_in_every_form_that_has_them() -> None:
    tool = create_tool_specification("f", "F", "(n::Integer {optional: true})==>(::Any)")

    for form in ("openai", "openai-functions", "openai-responses"):
        (written,) = tools_to_json([tool], form, strict=True)
        function = written.get("function", written)
        assert function["strict"] is True
        assert function["parameters"]["required"] == ["n"]
    with pytest.raises(ValidationError, match="anthropic has no strict form"):
        tools_to_json([tool], "anthropic", strict=True)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (3, r"^\$: expected a tool or a list of tools, found 3$"),
        ({"tools": [{"description": "D"}]}, r"^\$.tools\[0\]: a tool has a name; .* description$"),
        ([{}], r"^\$\[0\]: a tool has a name; this has no keys$"),
        ([{"function": 1}], r"^\$\[0\].function: expected an object, found 1$"),
        ([{"name": " "}], r'^\$\[0\].name: expected the name of a tool, found " "$'),
        ([{"name": "f", "description": 1}], r"^\$\[0\].description: expected text, found 1$"),
        ([{"name": "f", "parameters": "x"}], r'^\$\[0\].parameters: expected a schema, found "x"$'),
        ([{"name": "f"}, {"name": "f"}], r'^\$\[1\]: there is another tool "f" in the list$'),
        ([{"name": "f", "parameters": {"type": "array"}}],
         r'^\$\[0\]: tool "f": the parameters of a tool are an object, but'),
        ([{"name": "f", "inputSchema": {"$ref": "https://example.com/s"}}],
         r'^\$\[0\]: tool "f": "\$ref" to "https://example.com/s" is not local'),
        ([{"name": "f", "typeSignature": "("}], r"^\$\[0\]: "),
        ({"tools": True}, r"^\$.tools: expected a list of tools, found true$"),
        ({**SPEC_FORM, "schema": "x"}, r'^\$.schema: expected a schema, found "x"$'),
    ],
)  # fmt: skip
def test_a_list_that_cannot_be_read_is_refused_with_its_place(data: Any, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        tools_from_json(data)


def test_an_unknown_form_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValidationError, match='no form "antropic" of tools; did you mean'):
        tools_to_json([], "antropic")


@given(json_values())
def test_whatever_json_is_given_only_our_errors_escape(data: Any) -> None:
    for each in (data, [data], {"tools": data}, {"name": "f", "parameters": data}):
        try:
            tools_from_json(each)
        except GramError as error:
            assert str(error).startswith("$")  # noqa: PT017  # the message is the claim
