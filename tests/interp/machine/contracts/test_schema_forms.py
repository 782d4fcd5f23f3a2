"""Schemas in the forms of others: strict ones, and those of OpenAPI 3.0.

A tool receives the same arguments from a strict model and from any other.
"""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given

import interp
from gram import Pattern, loads_one
from interp.machine import validate_tool_args
from interp.machine.contracts.schema_forms import (
    from_openapi_schema,
    has_strict_form,
    strict_schema,
    without_stand_ins,
)
from interp.machine.contracts.values import check
from interp.machine.effects import Request
from interp.machine.messages import empty_context
from lenses_ext import Model, Settings, json_schema_to_type_signature, tool_spec_schema, view
from lenses_ext.schemas import resolve_ref
from tests.by_day import given_few
from tests.interp.model_server import ModelServer, tool_calls
from tests.lenses_ext import strategies as strategies

FITS = loads_one(
    '[search:Tool {description: "Finds."} | (query::String)==>(limit::Integer {default: 10})'
    "==>(range::Range {optional: true})==>(::Any), [Range:Object | (from::Integer), "
    "(to::Integer {optional: true})]]"
)
FREE = loads_one('[note:Tool {description: "Notes."} | (data::Object)==>(::Any)]')


def as_strict_models_give(schema: Any, value: Any, root: Any) -> Any:
    """A value with a null for each property that it leaves out."""
    if "$ref" in schema:
        return as_strict_models_give(resolve_ref(schema["$ref"], root), value, root)
    if "anyOf" in schema:
        schema = next(each for each in schema["anyOf"] if accepts(each, value, root))
    if isinstance(value, list):
        return [as_strict_models_give(schema["items"], item, root) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: as_strict_models_give(below, value[key], root) if key in value else None
        for key, below in schema["properties"].items()
    }


def accepts(schema: Any, value: Any, root: Any) -> bool:
    """Whether a part of a schema accepts a value."""
    return jsonschema_rs.is_valid({**schema, "$defs": root["$defs"]}, value)


@given_few(strategies.strict_arguments())
def test_a_tool_receives_what_was_meant(case: tuple[dict[str, Any], dict[str, Any]]) -> None:
    schema, args = case
    given_ = as_strict_models_give(schema, args, schema)
    before = copy.deepcopy(given_)

    check(strict_schema(schema, "t"), given_)
    assert without_stand_ins(schema, given_) == args
    assert validate_tool_args(schema, without_stand_ins(schema, given_)) == validate_tool_args(
        schema, args
    )
    assert given_ == before


@given(strategies.parameter_schemas())
def test_any_schema_has_a_strict_form_or_an_error_of_ours(schema: dict[str, Any]) -> None:
    with suppress(interp.ToolError):  # only our error escapes
        made = strict_schema({"type": "object", "properties": {}, **schema}, "t")
        assert made["required"] == list(made["properties"])
        assert made["additionalProperties"] is False


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "object"}, "$ takes any other property"),
        ({"properties": {"a": True}}, "$.a takes any value"),
        ({"properties": {"a": {}}}, "$.a takes any value"),
        ({"properties": {"a": {"type": "array"}}}, "the items of $.a may be anything"),
        ({"properties": {"a": {"type": "string", "minLength": 1}}}, '"minLength" at $.a'),
        ({"properties": {"a": {"type": "string", "format": "uri"}}}, '"format" at $.a'),
        ({"properties": {"a": {"allOf": []}}}, '"allOf" at $.a'),
        ({"properties": {}, "required": ["b"]}, '$ requires "b" of any type'),
        ({"properties": {}, "additionalProperties": {}}, "$ takes any other property"),
    ],
)
def test_what_has_no_strict_form_is_named(schema: dict[str, Any], reason: str) -> None:
    with pytest.raises(interp.ToolError) as caught:
        strict_schema({"type": "object", **schema}, "t")
    assert str(caught.value) == f'tool "t" has no strict form: {reason}'


STRING, NULLABLE = {"type": "string"}, {"type": ["string", "null"]}
FEW: dict[str, Any] = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
}
MORE = {**FEW, "properties": {**FEW["properties"], "y": STRING}}
ITSELF = {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}


@pytest.mark.parametrize(
    ("schema", "given_", "meant"),
    [
        # what the tool allows, and what is refused later
        ({"properties": {"a": NULLABLE, "b": {"anyOf": [NULLABLE]}}}, {"a": None, "b": None}, ...),
        ({"properties": {"a": STRING}, "required": ["a"]}, {"a": None}, ...),
        # a branch is chosen by what it has of its own
        (
            {"properties": {"a": {"anyOf": [FEW, MORE]}}},
            {"a": {"x": 1, "y": None}},
            {"a": {"x": 1}},
        ),
        ({"properties": {"a": {"anyOf": [FEW, MORE]}}}, {"a": {"x": 1}}, ...),
        # a type that refers to nothing but itself
        ({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": ITSELF}}, {"a": {}}, ...),
    ],
)
def test_a_null_that_stands_for_nothing_is_left_out_and_no_other(
    schema: dict[str, Any], given_: Any, meant: Any
) -> None:
    found = without_stand_ins({"type": "object", **schema}, given_)
    assert found == (given_ if meant is ... else meant)


def test_a_null_in_a_choice_is_read_by_the_branch_that_was_chosen() -> None:
    def branch(kind: str, key: str) -> dict[str, Any]:
        own = {"kind": {"const": kind}, key: {"type": "integer"}}
        return {"type": "object", "properties": own, "required": ["kind"]}

    either = {"anyOf": [branch("x", "n"), branch("y", "m")]}
    schema = {"type": "object", "properties": {"a": either}, "required": ["a"]}

    for kind, key, other in (("x", "n", "m"), ("y", "m", "n")):
        assert without_stand_ins(schema, {"a": {"kind": kind, key: None}}) == {"a": {"kind": kind}}
        # what the chosen branch does not have stays, to be judged by the tool's own schema
        stays = {"a": {"kind": kind, other: None}}
        assert without_stand_ins(schema, stays) == stays


@pytest.mark.parametrize("const", [{"const": "x"}, {"type": "string", "const": "x"}])
def test_what_may_be_left_out_may_be_null(const: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"a": const, "b": {"enum": ["x"]}}}
    check(strict_schema(schema, "t"), {"a": None, "b": None})


def test_types_that_hold_each_other_are_read_in_no_time() -> None:
    either = {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}, {"type": "null"}]}

    def node(kind: str) -> dict[str, Any]:
        own = {"c": either, "n": {"type": "null"}, "x": {"type": kind}, "y": {"type": "string"}}
        return {"type": "object", "properties": own, "required": ["c", "n", "x"]}

    defs = {"A": node("integer"), "B": node("string")}
    schema = {"type": "object", "properties": {"a": either}, "required": ["a"], "$defs": defs}
    given_, meant = None, None
    for level in range(40):
        x: Any = level if level % 2 else str(level)
        given_ = {"c": given_, "n": None, "x": x, "y": None}
        meant = {"c": meant, "n": None, "x": x}

    assert without_stand_ins(schema, {"a": given_}) == {"a": meant}


# --- on the wire


def strict_flags(model: interp.OpenAIModel, setting: str | None, *tools: Pattern) -> list[Any]:
    settings = Settings({} if setting is None else {"strictTools": setting})
    body = model.body(Request(Model("A", "b"), "x", empty_context, tools, settings))
    assert "strictTools" not in body
    return [each["function"].get("strict") for each in body["tools"]]


OPENAI = interp.OpenAIModel("https://api.openai.com/v1", "k")
OTHER = interp.OpenAIModel("http://127.0.0.1:9/v1", "k")


@pytest.mark.parametrize(
    ("model", "setting", "flags"),
    [
        (OPENAI, None, [None, None]),
        (OPENAI, "off", [None, None]),
        (OPENAI, "auto", [True, None]),
        (OPENAI, "on", [True, None]),
        (OTHER, "auto", [None, None]),
        (OTHER, "on", [True, None]),
    ],
)
def test_tools_are_strict_where_it_is_asked_and_they_can_be(
    model: interp.OpenAIModel, setting: str | None, flags: list[Any]
) -> None:
    assert [has_strict_form(FITS), has_strict_form(FREE)] == [True, False]
    assert strict_flags(model, setting, FITS, FREE) == flags


def test_the_older_dialect_has_no_strict_functions() -> None:
    model = interp.OpenAIModel("https://api.openai.com/v1", "k", "functions")
    settings = Settings({"strictTools": "on"})
    body = model.body(Request(Model("A", "b"), "x", empty_context, (FITS,), settings))
    assert body["functions"][0]["parameters"] == view(tool_spec_schema, FITS)


def search_agent(settings: str) -> Pattern:
    return loads_one(
        '[finder:Agent {instruction: "Find.", model: "OpenAI/m", settings: {'
        + settings
        + '}} | [search:Tool {description: "Finds."} | (query::String)==>(limit::Integer '
        "{default: 10})==>(order::String {optional: true})==>(::Any)]]"
    )


CALL = {"query": "a", "limit": None, "order": None}


def received(agent: Pattern, model: Any = None) -> tuple[list[Any], str | None]:
    """What the tool was called with, and the error that the model was told."""
    calls: list[Any] = []
    schema = view(tool_spec_schema, agent.elements[0])
    search = interp.create_tool("search", "Finds.", schema, lambda args: calls.append(args))
    response = interp.run(agent, "hi", interp.ToolLibrary.of([search]), model=model)
    return calls, response.tools_used[0].error


def test_a_tool_receives_the_same_arguments_from_a_strict_model(model_server: ModelServer) -> None:
    model_server.will_say(tool_calls(("c", "search", CALL)), "done")
    calls, error = received(search_agent('strictTools: "on"'))
    assert (calls, error) == ([{"query": "a", "limit": 10}], None)
    (function,) = (each["function"] for each in model_server.requests[0]["tools"])
    assert function["strict"] is True
    assert function["parameters"]["required"] == ["query", "limit", "order"]


def test_a_null_for_an_optional_parameter_is_refused_unless_tools_are_strict() -> None:
    reply = {"function_call": {"name": "search", "arguments": '{"query": "a", "order": null}'}}
    calls, error = received(search_agent("seed: 1"), interp.ScriptedModel([reply, "done"]))
    assert calls == []
    assert error is not None
    assert "$.order" in error


# --- OpenAPI 3.0


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"type": "string", "nullable": False}, {"type": "string"}),
        ({"type": "string", "nullable": True, "enum": ["a"]},
         {"type": ["string", "null"], "enum": ["a", None]}),
        ({"$ref": "#/x", "nullable": True, "description": "D"},
         {"description": "D", "anyOf": [{"$ref": "#/x"}, {"type": "null"}]}),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"maximum": 1, "exclusiveMaximum": False}, {"maximum": 1}),
        ({"example": 3, "xml": {"name": "x"}}, {"examples": [3]}),
        (
            {
                "properties": {"nullable": {"type": "string"}},
                "items": {"anyOf": [{"type": "string", "nullable": True}]},
            },
            {
                "properties": {"nullable": {"type": "string"}},
                "items": {"anyOf": [{"type": ["string", "null"]}]},
            },
        ),
    ],
)  # fmt: skip
def test_what_openapi_writes_in_its_own_way(written: dict[str, Any], meant: dict[str, Any]) -> None:
    assert from_openapi_schema(written) == meant


def test_a_flag_of_another_type_is_refused_with_its_place() -> None:
    with pytest.raises(
        interp.ValidationError, match=r"^\$.items.nullable: expected true or false, found"
    ):
        from_openapi_schema({"items": {"nullable": "yes"}})


@given(strategies.parameter_schemas())
def test_a_json_schema_stays_valid(schema: dict[str, Any]) -> None:
    assert json_schema_to_type_signature(schema)
    assert json_schema_to_type_signature(from_openapi_schema(schema))
