"""Answers of Python types: declared in the program, read into values, or refused."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import pickle
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import attrs
import pydantic
import pytest

import interp
import lenses_ext
from gram import Document, Pattern
from interp.running import execute_agent
from lenses_ext import parse_program
from tests.interp.model_server import tool_calls


class Color(Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Person:
    name: str
    age: int = 3
    likes: Color | None = None


@attrs.frozen
class Point:
    x: int


class Pet(pydantic.BaseModel):
    name: str = pydantic.Field(min_length=2)
    owner: Person

    @pydantic.field_validator("name")
    @classmethod
    def no_rex(cls, name: str) -> str:
        """Refuses a name by code that no schema says."""
        if name == "Rex":
            raise ValueError("not again")
        return name


class Place(TypedDict):
    name: str
    height: NotRequired[int]


@dataclasses.dataclass
class Tree:
    name: str
    below: list[Tree] = dataclasses.field(default_factory=list)


AGENT = lenses_ext.create_agent_pattern("a", None, "OpenAI/m", "Answer.")


def said(*replies: Any) -> interp.ScriptedModel:
    """A model that says these things."""
    return interp.ScriptedModel(replies)


@pytest.mark.parametrize(
    ("answer_type", "reply", "value"),
    [
        (Person, '{"name": "Bob", "likes": "red"}', Person("Bob", 3, Color.RED)),
        (Pet, '{"name": "Tom", "owner": {"name": "Al"}}', Pet(name="Tom", owner=Person("Al"))),
        (Point, '{"x": 1}', Point(1)),
        (Place, '{"name": "Oslo"}', {"name": "Oslo"}),
        (Tree, '{"name": "a", "below": [{"name": "b"}]}', Tree("a", [Tree("b")])),
        (Color, "red", Color.RED),
        (Color, '"blue"', Color.BLUE),
        (Literal["long", "short"], "long", "long"),
        (list[Person], '[{"name": "Al"}]', [Person("Al")]),
        (dict[str, Point], '{"a": {"x": 2}}', {"a": Point(2)}),
        (tuple[int, str], '[1, "a"]', (1, "a")),
        (Person | None, "null", None),
        (Person | int, "4", 4),
        (str, "Hello.", "Hello."),
        (int, "3.0", 3),
        (bool, "true", True),
        (None, "true", None),
    ],
)
def test_the_value_is_of_the_type(answer_type: Any, reply: str, value: Any) -> None:
    found = interp.run(AGENT, "hi", model=said(reply), answer_type=answer_type).value
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("answer_type", "value"), [(Place | dict[str, str], {"name": "a"}), (Annotated[int, {}], 1)]
)
def test_a_type_may_be_used_again(answer_type: Any, value: Any) -> None:
    for _ in range(2):
        model = said(json.dumps(value))
        assert interp.run(AGENT, "hi", model=model, answer_type=answer_type).value == value


def test_alternatives_are_tried_in_their_order() -> None:
    @attrs.frozen
    class Dot:
        x: int

    one, other = (
        interp.run(AGENT, "hi", model=said('{"x": 1}'), answer_type=each).value
        for each in (Dot | Point, Point | Dot)
    )

    assert (one, other) == (Dot(1), Point(1))


async def awaited(**options: Any) -> interp.AgentResponse:
    return await interp.arun(AGENT, "hi", **options)


async def last_seen(**options: Any) -> interp.AgentResponse:
    seen = [each async for each in interp.astream(AGENT, "hi", **options)]
    return last(seen)


def last(seen: list[Any]) -> interp.AgentResponse:
    """The response at the end of a stream."""
    assert isinstance(seen[-1], interp.Finished)
    return seen[-1].response


def gone_on_with(**options: Any) -> interp.AgentResponse:
    model = options.pop("model")
    begun = interp.begin(AGENT, "hi", **options, model="Offline/rehearsal")
    return interp.Run(begun.state, answer_type=options["answer_type"], model=model).finish()


@pytest.mark.parametrize(
    "way",
    [
        lambda **options: asyncio.run(awaited(**options)),
        lambda **options: last(list(interp.stream(AGENT, "hi", **options))),
        lambda **options: asyncio.run(last_seen(**options)),
        lambda **options: execute_agent(AGENT, "hi", **options),
        lambda **options: interp.begin(AGENT, "hi", **options).finish(),
        gone_on_with,
    ],
)
def test_every_way_to_run_gives_it(way: Any) -> None:
    response = way(model=said('{"name": "Bob"}'), answer_type=Person)
    assert response.value == Person("Bob")
    assert response.content == '{"name": "Bob"}'
    assert pickle.loads(pickle.dumps(response)).value == Person("Bob")


def test_the_program_that_is_recorded_declares_it(tmp_path: Path) -> None:
    file = tmp_path / "a.run.gram"
    interp.run(AGENT, "hi", model=said('{"name": "Bob"}'), answer_type=Person, record=file)

    recorded = interp.load_run(file)

    schema = lenses_ext.view(lenses_ext.agent_answer_schema, recorded.state.agent) or {}
    likes = {"anyOf": [{"type": "string", "enum": ["red", "blue"]}, {"type": "null"}]}
    assert schema["properties"]["age"] == {"type": "integer", "default": 3}
    assert schema["properties"]["likes"] == {**likes, "default": None}
    assert (schema["type"], schema["required"]) == ("object", ["name"])
    assert interp.resume_run(file, answer_type=Person).value == Person("Bob")


def test_a_run_that_is_resumed_gives_it() -> None:
    look = interp.create_tool("look", "Looks", {"type": "object", "properties": {}}, lambda _: 1)
    agent = declaring('[look:Tool {description: "Looks"} | ()==>(::Any)]')
    call = tool_calls(("1", "look", {}))
    with pytest.raises(interp.ApprovalNeeded) as stopped:
        interp.run(agent, "hi", [look], model=said(call), answer_type=Person, policy=interp.ask_all)
    assert stopped.value.log is not None

    options: Any = {"model": said('{"name": "Bob"}'), "approve": lambda _: True}
    response = interp.resume_run(stopped.value.log, [look], answer_type=Person, **options)

    assert response.value == Person("Bob")


def test_who_takes_a_conversation_over_answers_in_the_type() -> None:
    desk = parse_program(
        """[triage:Agent {instruction: "Sort.", model: "OpenAI/m"} | (triage)-[:HANDOFF]->(billing)]
           [billing:Agent {description: "Bills.", instruction: "Bill.", model: "OpenAI/m"}]"""
    )
    model = said(tool_calls(("1", "billing", {})), "Bob!", '{"name": "Bob"}')

    response = interp.run(desk, "hi", agent="triage", model=model, answer_type=Person)

    assert response.value == Person("Bob")
    assert model.requests[1].answer is not None


# --- what a program declares already


def declaring(answer: str) -> Document:
    """A program with an agent that declares an answer."""
    return parse_program(f'[a:Agent {{instruction: "x", model: "OpenAI/m"}} | {answer}]')


@pytest.mark.parametrize(
    ("program", "answer_type"),
    [
        ("(:Answer:Integer {description: 'How many'})", int),
        ('(:Answer:String {enum: ["blue", "red"]})', Color),
        ("(x::Text)==>(::String)", str),
        ("(x::Text)==>(::Array {elementType: 'Integer'})", list[int]),
        ("[somebody:Answer:Object | (height:Integer {optional: true}), (name:Text)]", Place),
    ],
)
def test_an_equal_type_may_be_declared(program: str, answer_type: Any) -> None:
    begun = interp.begin(declaring(program), "hi", model=said(), answer_type=answer_type)
    assert begun.state.agent == declaring(program).patterns[0]


@pytest.mark.parametrize(
    "program",
    [
        "(:Answer:Integer)", "(:Answer:Any)", "(:Answer:Object)", "(x::Text)==>(::String)",
        "[:Answer:Object | (name:Text), (height:Integer)]",
    ],
)  # fmt: skip
def test_another_declared_type_is_refused_before_anything_is_asked(program: str) -> None:
    model = said()
    refused = 'agent "a" declares another answer than Place'
    with pytest.raises(interp.ConfigurationError, match=refused):
        interp.run(declaring(program), "hi", model=model, answer_type=Place)
    assert model.requests == []


@pytest.mark.parametrize(
    ("answer_type", "message"),
    [
        (bytes, "bytes has no JSON form"),
        (3, "3 has no JSON form"),
        ("Person", "Person has no JSON form"),
        ({"type": "object"}, "has no JSON form"),
        (Person("Bob"), "has no JSON form"),
        (dict[int, str], "keys of a JSON object are str"),
        (list[complex], "complex has no JSON form"),
    ],
)
def test_what_is_no_type_of_answers_is_refused(answer_type: Any, message: str) -> None:
    with pytest.raises(interp.ConfigurationError, match=f"run: .*{message}"):
        interp.run(AGENT, "hi", model=said(), answer_type=answer_type)
    with pytest.raises(interp.ConfigurationError, match=f"answer_of: .*{message}"):
        interp.answer_of(answer_type)


def test_a_run_that_began_without_it_cannot_get_it() -> None:
    state = interp.begin(AGENT, "hi", model=said()).state
    with pytest.raises(interp.ConfigurationError, match="give answer_type=Person where it begins"):
        interp.Run(state, answer_type=Person)


# --- what is answered


def test_what_the_type_itself_refuses_is_an_error() -> None:
    reply = '{"name": "Rex", "owner": {"name": "Al"}}'
    no_pet = r"the answer is no Pet: name: .*not again"
    with pytest.raises(interp.ValidationError, match=no_pet) as found:
        interp.run(AGENT, "hi", model=said(reply), answer_type=Pet)
    assert found.value.state is not None
    assert found.value.state.context[-1].content == reply


def test_a_refusal_has_no_value() -> None:
    refusal = interp.Message(interp.AssistantRole, "I would rather not.", refused=True)
    response = interp.run(AGENT, "hi", model=said(refusal), answer_type=Person)
    assert response.refused
    with pytest.raises(interp.ValidationError, match=r"refused.*I would rather not"):
        assert response.value


# --- workflows


def flow(answer: str, signature: str = "") -> Pattern:
    """A workflow of one agent."""
    agent = f'[a:Agent {{instruction: "x", model: "OpenAI/m"}} | {answer}]'
    return parse_program(f"[w:Workflow | {signature} {agent}]").patterns[0]


@pytest.mark.parametrize(
    ("answer", "signature"),
    [
        ("[:Answer:Object | (name:Text), (height:Integer)]", ""),
        ("(:Answer:Any)", ""),
        ("(:Answer:Object)", "(x::Text)==>(::Object),"),
    ],
)
def test_the_result_of_a_workflow_is_of_the_type(answer: str, signature: str) -> None:
    model = said('{"name": "Oslo", "height": 23}')
    response = interp.run(flow(answer, signature), "hi", model=model, answer_type=Place)
    assert response.value == {"name": "Oslo", "height": 23}


@pytest.mark.parametrize(
    ("answer", "signature"),
    [
        ("(:Answer:Integer)", ""),
        ("(:Answer:Integer)", "(x::Text)==>(::Integer),"),
        ("(x::Text)==>(::String)", ""),
    ],
)
def test_a_result_that_does_not_fit_is_refused_before_asking(answer: str, signature: str) -> None:
    model = said()
    with pytest.raises(interp.ConfigurationError, match='result of the workflow "w" is no Place'):
        interp.run(flow(answer, signature), "hi", model=model, answer_type=Place)
    assert model.requests == []


@pytest.mark.parametrize(
    ("signature", "kind"),
    [("", interp.WorkflowError), ("(x::Text)==>(::Object),", interp.ValidationError)],
)
def test_a_result_of_unknown_type_is_checked_later(signature: str, kind: type[Exception]) -> None:
    with pytest.raises(kind, match='missing required "name"'):
        interp.run(flow("(:Answer:Object)", signature), "hi", model=said("{}"), answer_type=Place)


def test_the_answer_of_a_type_is_gram() -> None:
    made = lenses_ext.create_agent_pattern("a", None, "A/b", "x", answer=interp.answer_of(Place))
    answer = "[::Answer::Object | (name::String), (height::Integer {optional: true})]"
    assert (
        lenses_ext.write_program(made) == f'[a:Agent {{instruction: "x", model: "A/b"}} | {answer}]'
    )
