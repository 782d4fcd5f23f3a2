"""Answers of a declared type: asked for, checked, corrected once."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given

from gram import loads_one
from interp import (
    AgentResponse,
    AssistantRole,
    LimitError,
    Limits,
    Message,
    ModelError,
    ModelReplied,
    ScriptedModel,
    Status,
    ToolLibrary,
    create_tool,
    hello_world_tool_library,
    run,
    start,
    step,
    tool,
)
from interp.machine.answers import answer_problem
from tests.interp import strategies
from tests.interp.model_server import ModelServer, tool_calls

AGENT = loads_one(
    '[a:Agent {instruction: "x", model: "OpenAI/m"} | '
    "[person:Answer:Object | (name::String), (age::Integer)]]"
)
GOOD = '{"name": "Bob", "age": 18}'


def test_the_type_is_sent_as_a_response_format(model_server: ModelServer) -> None:
    model_server.will_say(GOOD)

    response = run(AGENT, "Who?")

    assert response.value == {"name": "Bob", "age": 18}
    assert response.content == GOOD
    assert model_server.requests[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {
            "name": "person",
            "schema": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
                "required": ["name", "age"],
            },
        },
    }


def test_the_value_is_a_fresh_copy() -> None:
    response = run(AGENT, "Who?", model=ScriptedModel([GOOD]))

    response.value.clear()

    assert response.value == {"name": "Bob", "age": 18}


def test_an_agent_without_a_declared_answer_has_no_value() -> None:
    agent = loads_one('[a:Agent {instruction: "x", model: "OpenAI/m"}]')

    assert run(agent, "hi", model=ScriptedModel([GOOD])).value is None


def test_a_violation_is_reported_to_the_model_once() -> None:
    model = ScriptedModel(['{"name": 1}', GOOD])

    response = run(AGENT, "Who?", model=model)

    told = model.requests[1].messages[-1].content
    assert response.value == {"name": "Bob", "age": 18}
    assert '$: missing required "age"' in told
    assert '$.name: 1 is not of type "string"' in told
    assert [message.content for message in response.context] == ["Who?", '{"name": 1}', told, GOOD]


@pytest.mark.parametrize("reply", ["no JSON", "NaN", '{"a": 1, "a": 2}', "[" * 100_000, "null"])
def test_a_second_violation_is_a_model_error(reply: str) -> None:
    with pytest.raises(ModelError, match="not what the program declares"):
        run(AGENT, "Who?", model=ScriptedModel([reply, reply]))


def test_after_a_correction_the_model_may_still_call_tools(model_server: ModelServer) -> None:
    @tool
    def count() -> int:
        """Counts"""
        return 18

    agent = loads_one(
        '[a:Agent {instruction: "x", model: "OpenAI/m"} | (:Answer:Integer), '
        '[count:Tool {description: "Counts"} | (::Integer)]]'
    )
    model_server.will_say("eighteen", tool_calls(("c", "count", {})), "18")

    assert run(agent, "How many?", ToolLibrary.of([count])).value == 18


def test_a_correction_does_not_count_as_a_round_of_tool_calls() -> None:
    agent = loads_one(
        '[a:Agent {instruction: "x", model: "OpenAI/m"} | (:Answer:Integer), '
        '[count:Tool {description: "Counts"} | (::Integer)]]'
    )
    count = create_tool("count", "Counts", {"type": "object", "properties": {}}, lambda _: 5)
    call = {"function_call": {"name": "count", "arguments": "{}"}}

    def ask(*replies: object) -> AgentResponse:
        library, model = ToolLibrary.of([count]), ScriptedModel(replies)
        return run(agent, "How many?", library, model=model, limits=Limits(iterations=1))

    assert ask("five", call, "5").value == 5
    with pytest.raises(LimitError, match="1 round of tool calls"):
        ask("five", call, call, "5")


def test_a_run_that_ends_so_waits_for_nothing() -> None:
    state, _, _ = start(AGENT, "Who?")
    state, _, _ = step(state, ModelReplied((0,), Message(AssistantRole, "x")))
    state, effects, _ = step(state, ModelReplied((1,), Message(AssistantRole, "y")))

    assert (state.status, effects) == (Status.UNUSABLE, ())
    assert state.stopped is not None
    assert "not JSON" in state.stopped


def is_a_string(text: str) -> bool:
    """Whether a text is a JSON string that UTF-8 can carry."""
    try:
        value = json.loads(text)
        return isinstance(value, str) and value.encode() is not None
    except ValueError:  # an error of encoding is one, too
        return False


@given(
    strategies.message_texts()
    | strategies.message_texts().map(json.dumps)  # half a character among them, escaped
    | strategies.odd_json().map(json.dumps)
)
@example('"\\ud800"')
@example('"\\ud83d\\ude00"')
@example(' "a"\n')
@example('"a" "b"')
def test_exactly_a_json_string_is_an_answer_of_type_string(text: str) -> None:
    problem = answer_problem({"type": "string"}, text)

    assert (problem is None) == is_a_string(text)
    assert problem != ""


def test_the_rehearsal_answers_in_the_declared_type() -> None:
    response = run(AGENT, "My name is Bob, 18", model="Offline/rehearsal")

    assert response.value == {"name": "Bob", "age": 18}


def test_the_rehearsal_calls_tools_before_it_answers() -> None:
    agent = loads_one(
        '[a:Agent {instruction: "x", model: "OpenAI/m"} | (:Answer:Text), [sayHello:Tool '
        '{description: "Returns a friendly greeting message for the given name"} | '
        '(personName::Text {default: "world"})==>(::String)]]'
    )

    response = run(agent, "hello!", hello_world_tool_library, model="Offline/rehearsal")

    assert response.value == "hello!"
    assert len(response.tools_used) == 1
