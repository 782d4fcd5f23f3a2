"""Answers of a declared type: how each provider is asked for one, and how it is read."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import interp
from gram import Pattern, loads_one
from interp import OpenAIModel, ScriptedModel, TextDelta, begin, hello_world_tool_library, run
from interp.machine import start
from interp.models.providers import AnswerMode
from tests.interp.model_server import ModelServer, function_call, tool_calls

OBJECT = "[person:Answer:Object | (name::String), (age::Integer)]"
INTEGER = "(:Answer:Integer)"
HELLO = (
    '[sayHello:Tool {description: "Returns a friendly greeting message for the given name"} | '
    '(personName::Text {default: "world"})==>(::String)]'
)
BOB = {"name": "Bob", "age": 18}


def agent(answer: str, tools: str = "", settings: str = "") -> Pattern:
    """An agent with an answer's type, with tools and with settings."""
    elements = ", ".join(each for each in (answer, tools) if each)
    settings = f", settings: {{{settings}}}" if settings else ""
    return loads_one(f'[a:Agent {{instruction: "x", model: "OpenAI/m"{settings}}} | {elements}]')


def asked(server: ModelServer, at: int) -> set[str]:
    """What a request had of tools and schemas."""
    return set(server.requests[at]) & {"tools", "response_format"}


def answered(
    pattern: Pattern, server: ModelServer, mode: AnswerMode, *, streaming: bool = False
) -> tuple[Any, str]:
    """The value that a run gives, and the words that it streams."""
    model = OpenAIModel(server.url, "key", answers=mode)
    begun = begin(pattern, "hi", hello_world_tool_library, model=model)
    try:
        if not streaming:
            return begun.finish().value, ""
        seen = list(begun.stream())
    finally:
        model.close()
    assert isinstance(seen[-1], interp.Finished)
    words = "".join(each.text for each in seen if isinstance(each, TextDelta))
    return seen[-1].response.value, words


CALL = tool_calls(("c1", "sayHello", {}))


@pytest.mark.parametrize("streaming", [False, True])
def test_tools_and_a_schema_go_in_one_request_where_a_server_takes_both(
    model_server: ModelServer, streaming: bool
) -> None:
    model_server.will_say(CALL, json.dumps(BOB))
    assert answered(agent(OBJECT, HELLO), model_server, "with_tools", streaming=streaming) == (
        BOB,
        json.dumps(BOB) if streaming else "",
    )
    assert asked(model_server, 0) == asked(model_server, 1) == {"tools", "response_format"}


@pytest.mark.parametrize("streaming", [False, True])
def test_the_schema_comes_once_no_tool_is_called(
    model_server: ModelServer, streaming: bool
) -> None:
    model_server.will_say(CALL, "Bob is eighteen.", json.dumps(BOB))

    value, words = answered(agent(OBJECT, HELLO), model_server, "after_tools", streaming=streaming)

    assert value == BOB
    assert words == (json.dumps(BOB) if streaming else "")
    sent = [asked(model_server, at) for at in range(3)]
    assert sent == [{"tools"}, {"tools"}, {"response_format"}]
    roles = [message["role"] for message in model_server.requests[2]["messages"]]
    assert roles == ["system", "user", "assistant", "tool"]


def test_an_answer_that_is_right_without_the_schema_is_not_asked_for_again(
    model_server: ModelServer,
) -> None:
    model_server.will_say("```json\n18\n```")
    assert answered(agent(INTEGER, HELLO), model_server, "after_tools")[0] == 18
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(
    ("answer", "given", "value"), [(OBJECT, BOB, BOB), (INTEGER, {"answer": 18}, 18)]
)
def test_an_answer_may_be_a_tool(
    model_server: ModelServer, answer: str, given: Any, value: Any, streaming: bool
) -> None:
    both = tool_calls(("c1", "sayHello", {}), ("c2", "final_answer", given))
    model_server.will_say(both, tool_calls(("c3", "final_answer", given)))

    found, words = answered(agent(answer, HELLO), model_server, "as_tool", streaming=streaming)

    assert (found, words and json.loads(words)) == (value, value if streaming else "")
    names = [tool["function"]["name"] for tool in model_server.requests[0]["tools"]]
    assert names == ["sayHello", "final_answer"]
    calls = model_server.requests[1]["messages"][2]["tool_calls"]
    assert [call["function"]["name"] for call in calls] == ["sayHello"]


@pytest.mark.parametrize(
    ("setting", "first", "second"),
    [
        ("", "required", "required"),
        ('toolChoice: "required"', "required", "required"),
        ('toolChoice: "sayHello"', "sayHello", "required"),
        ('toolChoice: "auto"', "auto", "auto"),
    ],
)
def test_a_model_that_answers_by_a_tool_has_to_call_one(
    model_server: ModelServer, setting: str, first: str, second: str
) -> None:
    model_server.will_say(CALL, tool_calls(("c2", "final_answer", {"answer": 18})))
    pattern = agent(INTEGER, HELLO, settings=setting)
    assert answered(pattern, model_server, "as_tool")[0] == 18
    choices = [request["tool_choice"] for request in model_server.requests]
    named = [each if isinstance(each, str) else each["function"]["name"] for each in choices]
    assert named == [first, second]


def test_the_answer_s_tool_has_a_name_that_no_other_has(model_server: ModelServer) -> None:
    other = '[final_answer:Tool {description: "d"} | (::String)]'
    model = OpenAIModel(model_server.url, "key", answers="as_tool")
    body = model.body(first_request(agent(INTEGER, other)))
    assert [tool["function"]["name"] for tool in body["tools"]] == ["final_answer", "final_answer_"]


def first_request(pattern: Pattern) -> Any:
    """The first request of a run."""
    _, (effect,), _ = start(pattern, "hi")
    return effect.request  # type: ignore[union-attr]  # the first effect is CallModel


def test_a_server_that_takes_no_schema_gets_it_in_the_instruction(
    model_server: ModelServer,
) -> None:
    model_server.will_say('{"name": "Bob"}', json.dumps(BOB))
    model = OpenAIModel(model_server.url, "key", answers_as="json_object")

    response = run(agent(OBJECT), "hi", model=model)
    model.close()

    assert response.value == BOB
    body = model_server.requests[0]
    assert body["response_format"] == {"type": "json_object"}
    assert '"age":{"type":"integer"}' in body["messages"][0]["content"]
    assert "missing required" in model_server.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    "text",
    [
        "18", '{"answer": 18}', "```json\n18\n```", "```\n18\n```",
        'Here it is:\n```json\n{"answer": 18}\n```\nDone.', "<think>Is it 17?</think>18",
        '<think>\nIs it {"answer": 17}?\n</think>\n\n```json\n18\n```',
        "<thinking>Hm</thinking>\n18", "Hm, 17 or 18?</think>\n18",
        "<think>17?</think>\n<think>No.</think>\n18", "[THINK]17?[/THINK]18",
        "```json\r\n18\r\n```\r\n", '```json {"answer": 18} ```',
    ],
)  # fmt: skip
def test_fences_and_thinking_around_an_answer_are_left_out(text: str) -> None:
    assert run(agent(INTEGER), "hi", model=ScriptedModel([text])).value == 18


@pytest.mark.parametrize(
    "text", ["```json\n17\n```\n```json\n18\n```", "It is 18.", "```json\n{\n```"]
)
def test_an_answer_is_not_guessed(text: str) -> None:
    model = ScriptedModel([text, "18"])
    assert run(agent(INTEGER), "hi", model=model).value == 18
    assert len(model.requests) == 2


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_object_around_an_answer_is_never_streamed(
    model_server: ModelServer, asynchronous: bool
) -> None:
    model_server.will_say('{"answer": 18}')
    model = OpenAIModel(model_server.url, "key")
    begun = begin(agent(INTEGER), "hi", model=model)

    async def watched() -> list[Any]:
        try:
            return [each async for each in begun.astream()]
        finally:
            await model.aclose()

    seen = asyncio.run(watched()) if asynchronous else list(begun.stream())
    model.close()

    assert "".join(each.text for each in seen if isinstance(each, TextDelta)) == "18"


def test_the_older_dialect_has_an_answer_s_tool_too(model_server: ModelServer) -> None:
    model_server.will_say(function_call("final_answer", BOB))
    model = OpenAIModel(model_server.url, "key", "functions", answers="as_tool")
    response = run(agent(OBJECT, HELLO), "hi", hello_world_tool_library, model=model)
    model.close()
    assert response.value == BOB
