"""Requests to the Responses API: what each part of a program becomes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gram import loads_one
from interp import Message, OpenAIModel
from interp.machine import AssistantRole, CallModel, FunctionRole, Request, ToolCall, start
from lenses_ext import Settings

AGENT = """
[a:Agent {instruction: "Be kind.", model: "OpenAI/m", settings: {%s}} |
  [t:Tool {description: "Adds."} | (x::Integer)==>(y::Integer {default: 1})==>(::Integer)]%s]
"""


def request_of(settings: str = "", answer: str = "", said: str = "hi") -> Request:
    """The first request of a program."""
    _, (effect,), _ = start(loads_one(AGENT % (settings, answer)), said)
    assert isinstance(effect, CallModel)
    return effect.request


def model(address: str = "http://127.0.0.1:1/v1") -> OpenAIModel:
    return OpenAIModel(address, "k", "responses")


def test_nothing_is_kept_by_the_server_and_reasoning_is_asked_for() -> None:
    body = model().body(request_of())

    assert body["store"] is False
    assert body["include"] == ["reasoning.encrypted_content"]
    assert "previous_response_id" not in body
    assert body["instructions"] == "Be kind."
    assert body["input"] == [{"role": "user", "content": "hi"}]


def test_a_tool_is_flat_says_whether_it_is_strict_and_what_it_gives() -> None:
    (tool,) = model().body(request_of())["tools"]

    assert (tool["type"], tool["name"], tool["description"]) == ("function", "t", "Adds.")
    assert tool["strict"] is False
    assert tool["output_schema"] == {"type": "integer"}
    assert tool["parameters"]["required"] == ["x"]
    (strict,) = model().body(request_of('strictTools: "on"'))["tools"]
    assert (strict["strict"], strict["parameters"]["required"]) == (True, ["x", "y"])


def test_settings_are_fields_at_their_places() -> None:
    body = model().body(
        request_of(
            'maxTokens: 9, temperature: 0.5, topP: 0.5, reasoningEffort: "low", '
            'reasoningSummary: "auto", verbosity: "low", parallelToolCalls: false, '
            'extraBody: {service_tier: "flex"}'
        )
    )

    assert body["max_output_tokens"] == 9
    assert (body["temperature"], body["top_p"]) == (0.5, 0.5)
    assert body["reasoning"] == {"effort": "low", "summary": "auto"}
    assert body["text"] == {"verbosity": "low"}
    assert body["parallel_tool_calls"] is False
    assert body["service_tier"] == "flex"


def test_a_setting_without_a_field_is_left_out_and_told(caplog: pytest.LogCaptureFixture) -> None:
    body = model().body(request_of("seed: 3"))

    assert "seed" not in body
    assert "no field for the setting seed" in caplog.text


@pytest.mark.parametrize(
    ("choice", "sent"),
    [("auto", "auto"), ("required", "required"), ("t", {"type": "function", "name": "t"})],
)
def test_a_choice_of_tools_is_a_word_or_a_function(choice: str, sent: object) -> None:
    assert model().body(request_of(f'toolChoice: "{choice}"'))["tool_choice"] == sent


def test_a_declared_answer_is_a_format_of_the_text() -> None:
    body = model().body(request_of(answer=", (:Answer:Object)"))

    found = body["text"]["format"]
    assert (found["type"], found["name"], found["strict"]) == ("json_schema", "answer", False)
    assert found["schema"]["type"] == "object"


def test_calls_and_results_are_items_with_one_id() -> None:
    call = ToolCall("c1", "t", '{"x": 1}')
    said = [
        Message(AssistantRole, "One moment.", (call,)),
        Message(FunctionRole("t"), "2", call_id="c1"),
    ]
    request = request_of()
    body = model().body(
        Request(request.model, "x", request.messages + said, request.tools, Settings())
    )

    assert body["input"][1:] == [
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "One moment."}],
        },
        {"type": "function_call", "call_id": "c1", "name": "t", "arguments": '{"x": 1}'},
        {"type": "function_call_output", "call_id": "c1", "output": "2"},
    ]


def test_arguments_that_are_no_object_go_back_as_an_empty_one() -> None:
    said = [Message(AssistantRole, "", (ToolCall("c1", "t", '{"x": '),))]
    request = request_of()
    body = model().body(Request(request.model, "x", request.messages + said))

    assert body["input"][1]["arguments"] == "{}"


def test_the_bytes_are_the_json_of_the_body() -> None:
    asked = request_of('reasoningEffort: "low"', ", (:Answer:Object)", said="é\U0001f600")
    wire = model()._wire

    assert json.loads(wire.content(asked, streaming=False)) == wire.body(asked)
    streamed: dict[str, Any] = json.loads(wire.content(asked, streaming=True))
    assert streamed == wire.body(asked) | {"stream": True}


@pytest.mark.parametrize("field", ["input", "instructions", "store", "text", "include"])
def test_extra_fields_do_not_replace_those_that_a_run_depends_on(field: str) -> None:
    with pytest.raises(ValueError, match="extraBody"):
        Settings({"extraBody": {field: 1}})
