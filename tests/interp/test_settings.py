"""Settings of a model: what is sent of them, and under which name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given

from gram import Pattern, loads_one
from interp import ConfigurationError, ScriptedModel, ValidationError, hello_world_tool_library, run
from interp.machine import start
from interp.machine.effects import Request
from interp.machine.messages import empty_context
from interp.models.chat import request_body
from interp.models.providers import CHAT_FIELDS, RESPONSES_FIELDS
from lenses_ext import Model, SettingError, Settings
from lenses_ext.language import SETTINGS
from tests.interp.model_server import ModelServer
from tests.lenses_ext import strategies as strategies

AGENT = loads_one(
    '[a:Agent {instruction: "x", model: "OpenAI/m", '
    "settings: {temperature: 0.2, maxTokens: 500, parallelToolCalls: false}}]"
)


def sent(settings: Mapping[str, Any], tools: tuple[Pattern, ...] = ()) -> dict[str, Any]:
    """The body of a request with some settings."""
    return request_body(Request(Model("A", "b"), "x", empty_context, tools, Settings(settings)))


def test_every_setting_has_a_name_in_the_protocol() -> None:
    # how tools are sent, fields by name, and when a conversation is summarised
    others = {"strictTools", "toolChoice", "extraBody", "compactAt", "compactBy", "contextWindow"}
    assert {*CHAT_FIELDS, *RESPONSES_FIELDS} == set(SETTINGS) - others


@given(strategies.model_settings())
def test_what_is_set_is_sent_and_nothing_else(settings: Settings) -> None:
    names = {CHAT_FIELDS[key] for key in settings if key in CHAT_FIELDS and "Tool" not in key}
    names |= settings.as_json().get("extraBody", {}).keys()

    assert set(sent(settings)) == {"model", "messages"} | names


TOOL = loads_one('[t:Tool {description: "d"} | (::String)]')


@pytest.mark.parametrize(
    ("choice", "tools", "functions"),
    [
        (None, "auto", "auto"),
        ("none", "none", "none"),
        ("required", "required", {"name": "t"}),
        ("t", {"type": "function", "function": {"name": "t"}}, {"name": "t"}),
    ],
)
def test_a_tool_choice_is_sent_in_both_dialects(
    choice: str | None, tools: object, functions: object
) -> None:
    settings = Settings({"toolChoice": choice} if choice else {})
    asked = Request(Model("A", "b"), "x", empty_context, (TOOL,), settings)

    assert request_body(asked)["tool_choice"] == tools
    assert request_body(asked, "functions")["function_call"] == functions
    assert "tool_choice" not in sent(settings)


def test_a_call_is_demanded_once_and_not_again_after_its_result(hello_world: Pattern) -> None:
    model = ScriptedModel([{"function_call": {"name": "sayHello"}}, "done"])
    settings = {"toolChoice": "required"}

    run(hello_world, "hi", hello_world_tool_library, model=model, settings=settings)

    choices = [request_body(request)["tool_choice"] for request in model.requests]
    assert choices == ["required", "auto"]


def test_extra_fields_are_sent_as_they_are_and_leave_ours_alone() -> None:
    extra = {"top_k": 40, "nested": {"a": [1, 2.5, "x"]}}

    body = sent({"extraBody": extra})

    assert {key: body[key] for key in extra} == extra
    for field in ("messages", "stream", "tools"):
        with pytest.raises(SettingError):
            Settings({"extraBody": {field: 1}})


def test_parallel_tool_calls_are_spoken_of_only_where_there_are_tools() -> None:
    assert sent({"parallelToolCalls": False}, (TOOL,))["parallel_tool_calls"] is False
    assert "parallel_tool_calls" not in sent({"parallelToolCalls": False})
    settings = Settings({"parallelToolCalls": False})
    request = Request(Model("A", "b"), "x", empty_context, (TOOL,), settings)
    assert "parallel_tool_calls" not in request_body(request, "functions")  # it has no such field


def test_a_call_changes_the_programs_settings_for_itself(model_server: ModelServer) -> None:
    model_server.will_say("a", "b")
    changes = {"temperature": None, "stop": ["END"], "maxTokens": 7}

    run(AGENT, "hi", settings=changes)

    run(AGENT, "hi")
    changed, own = model_server.requests
    assert (changed["stop"], changed["max_tokens"]) == (["END"], 7)
    assert "temperature" not in changed
    assert (own["temperature"], own["max_tokens"]) == (0.2, 500)
    assert set(own) == {"model", "messages", "temperature", "max_tokens"}


def test_the_settings_stay_for_the_whole_run() -> None:
    model = ScriptedModel([{"function_call": {"name": "nope", "arguments": ""}}, "done"])

    run(AGENT, "hi", model=model, settings={"seed": 3})

    assert [request.settings["seed"] for request in model.requests] == [3, 3]


@pytest.mark.parametrize("settings", [{"temperature": 9}, {"topp": 1}, {"topp": None}])
def test_a_wrong_setting_in_a_call_is_a_validation_error(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        start(AGENT, "hi", settings=settings)


def test_a_state_does_not_follow_the_callers_mapping() -> None:
    settings = {"stop": ["a"]}
    state, (effect,), _ = start(AGENT, "hi", settings=settings)

    settings["stop"].append("b")

    assert list(effect.request.settings["stop"]) == ["a"]  # type: ignore[union-attr]  # the first effect is CallModel
    assert hash(state.run.settings) is not None


def test_a_model_of_ones_own_has_no_base_url() -> None:
    with pytest.raises(ConfigurationError, match="base_url"):
        run(AGENT, "hi", model=ScriptedModel([]), base_url="http://127.0.0.1:9/v1")
