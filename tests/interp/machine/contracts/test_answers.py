"""Answers that are no objects: asked for inside one, and given as the program declares them."""

from __future__ import annotations

from typing import Any

import pytest

from gram import Pattern, loads_one
from interp import begin, run
from interp.machine.contracts.values import response_format
from tests.interp.model_server import ModelServer


def agent(answer: str) -> Pattern:
    return loads_one(f'[a:Agent {{instruction: "x", model: "OpenAI/m"}} | {answer}]')


NAMES = agent('[:Answer | (:Array {elementType: "Who"}), [Who:Type:Object | (name::String)]]')
WHO = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def streamed(program: Pattern) -> Any:
    begun = begin(program, "hi")
    *_, last = begun.stream()
    return last.response  # type: ignore[union-attr]  # the last observation is Finished


def test_a_type_other_than_an_object_is_asked_for_inside_an_object() -> None:
    format_ = response_format(NAMES.elements[0])

    assert format_["json_schema"] == {
        "name": "answer",
        "schema": {
            "type": "object",
            "properties": {"answer": {"type": "array", "items": {"$ref": "#/$defs/Who"}}},
            "required": ["answer"],
            "additionalProperties": False,
            "$defs": {"Who": WHO},
        },
    }


@pytest.mark.parametrize("said", ['{"answer": [{"name": "Bob"}]}', '[{"name":"Bob"}]'])
@pytest.mark.parametrize("drive", [lambda a: run(a, "hi"), streamed])
def test_the_answer_is_given_without_what_was_around_it(
    model_server: ModelServer, drive: Any, said: str
) -> None:
    model_server.will_say(said)

    response = drive(NAMES)

    assert response.value == [{"name": "Bob"}]
    assert response.context[-1].content == '[{"name":"Bob"}]'


def test_an_object_of_the_programs_own_is_not_taken_apart(model_server: ModelServer) -> None:
    model_server.will_say('{"answer": 5}')

    assert run(agent("[:Answer:Object | (answer::Integer)]"), "hi").value == {"answer": 5}
