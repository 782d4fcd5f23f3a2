"""Answers of a declared type: asked for, checked, corrected once."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, example, given

import interp
from gram import loads_one
from tests.interp import strategies
from tests.interp.model_server import ModelServer

AGENT = loads_one(
    '[a:Agent {instruction: "x", model: "OpenAI/m"} | '
    "[person:Answer:Object | (name::String), (age::Integer)]]"
)
GOOD = '{"name": "Bob", "age": 18}'


def test_the_type_is_sent_as_a_response_format(model_server: ModelServer) -> None:
    model_server.will_say(GOOD)

    response = interp.run(AGENT, "Who?")

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


def test_an_agent_without_a_declared_answer_has_no_value() -> None:
    agent = loads_one('[a:Agent {instruction: "x", model: "OpenAI/m"}]')
    assert interp.run(agent, "hi", model=interp.ScriptedModel([GOOD])).value is None


def test_a_violation_is_reported_to_the_model_once() -> None:
    model = interp.ScriptedModel(['{"name": 1}', GOOD])
    response = interp.run(AGENT, "Who?", model=model)
    told = model.requests[1].messages[-1].content
    assert response.value == {"name": "Bob", "age": 18}
    assert '$: missing required "age"' in told
    assert '$.name: 1 is not of type "string"' in told
    assert [message.content for message in response.context] == ["Who?", '{"name": 1}', told, GOOD]


@pytest.mark.parametrize("reply", ["no JSON", "NaN", '{"a": 1, "a": 2}', "[" * 100_000, "null"])
def test_a_second_violation_is_a_model_error(reply: str) -> None:
    with pytest.raises(interp.ModelError, match="not what the program declares"):
        interp.run(AGENT, "Who?", model=interp.ScriptedModel([reply, reply]))


def test_a_correction_does_not_count_as_a_round_of_tool_calls() -> None:
    agent = loads_one(
        '[a:Agent {instruction: "x", model: "OpenAI/m"} | (:Answer:Integer), '
        '[count:Tool {description: "Counts"} | (::Integer)]]'
    )
    count = interp.create_tool("count", "Counts", {"type": "object", "properties": {}}, lambda _: 5)
    call = {"function_call": {"name": "count", "arguments": "{}"}}

    def ask(*replies: object) -> interp.AgentResponse:
        library, model = interp.ToolLibrary.of([count]), interp.ScriptedModel(replies)
        return interp.run(
            agent, "How many?", library, model=model, limits=interp.Limits(iterations=1)
        )

    assert ask("five", call, "5").value == 5
    with pytest.raises(interp.LimitError, match="1 round of tool calls"):
        ask("five", call, call, "5")


CHOSEN_BY_NAME = '[:Answer | (:Size), [Size:Type:String {enum: ["long", "short"]}]]'
SIZE = '(:Answer:String {enum: ["long", "short"]})'


def said(*replies: str, answer: str = "(:Answer:String)") -> interp.AgentResponse:
    """The response of an agent whose model says these things."""
    agent = loads_one(f'[a:Agent {{instruction: "x", model: "OpenAI/m"}} | {answer}]')
    return interp.run(agent, "Well?", model=interp.ScriptedModel(replies))


@pytest.mark.parametrize("reply", ["long", '"long"', " long\n", "<think>short?</think>long"])
@pytest.mark.parametrize("answer", [SIZE, SIZE.replace("Answer", "Answer:Type"), CHOSEN_BY_NAME])
def test_a_choice_is_answered_by_its_text(answer: str, reply: str) -> None:
    response = said(reply, answer=answer)
    assert (response.value, response.content, response.is_text) == ("long", "long", True)
    assert response.context[-1].content == "long"


def test_a_text_that_is_no_choice_is_reported_once() -> None:
    agent = loads_one(f'[a:Agent {{instruction: "x", model: "OpenAI/m"}} | {SIZE}]')
    model = interp.ScriptedModel(["Long!", "long"])
    assert interp.run(agent, "Well?", model=model).value == "long"
    told = model.requests[1].messages[-1].content
    assert '"Long!" is not one of' in told
    assert "Answer again with the text alone" in told


@given(strategies.json_texts().filter(str.strip))
@example("123")
@example('{"answer": 5}')
@example("Here:\n```json\n{}\n```")
@example('"a" "b"')
def test_a_reply_that_is_no_json_string_is_the_text_itself(text: str) -> None:
    assume(not is_a_string(text))
    assert said(text).value == text


@given(strategies.json_texts().filter(str.strip))
@example('"long"')  # decoded once
def test_a_json_string_is_the_text_that_it_is_of(text: str) -> None:
    assert said(json.dumps(text)).value == text


def test_half_a_character_is_no_text() -> None:
    with pytest.raises(interp.ModelError, match="half of a character"):
        said("\ud800", "\ud800")


def is_a_string(text: str) -> bool:
    """Whether a text is a JSON string."""
    try:
        return isinstance(json.loads(text), str)
    except ValueError:
        return False


@pytest.mark.parametrize("reply", ["long", '"long"'])
def test_a_workflow_chooses_by_a_text(reply: str) -> None:
    flow = loads_one(
        """[w:Workflow |
            [ask:Agent {instruction: "x", model: "OpenAI/m"} |
                (input::Text)==>(::String {enum: ["long", "short"]})],
            [more:Agent {instruction: "x", model: "OpenAI/m"}],
            [less:Agent {instruction: "x", model: "OpenAI/m"}],
            (ask)-[:WHEN {is: "long"}]->(more), (ask)-[:OTHERWISE]->(less)]"""
    )

    used = interp.run(flow, "Well?", model=interp.ScriptedModel([reply, "done"]))

    assert used.content == "done"
