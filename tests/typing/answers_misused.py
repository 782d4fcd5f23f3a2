"""Answers of Python types that type checkers refuse to misuse: each line marked ``# E:``."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, TypedDict, assert_type

from pydantic import BaseModel

from gram import Pattern
from interp import AgentResponse, Run, arun, begin, resume_run, run


@dataclass
class Person:
    name: str


class Pet(BaseModel):
    name: str


class Place(TypedDict):
    name: str


class Size(Enum):
    LONG = "long"


def the_value_is_of_the_type(agent: Pattern) -> None:
    assert_type(run(agent, "hi", answer_type=Person).value, Person)
    assert_type(run(agent, "hi", answer_type=Pet, agent="a", at_once=1).value.name, str)
    assert_type(run(agent, "hi", answer_type=Place).value["name"], str)
    assert_type(run(agent, "hi", answer_type=Size).value, Size)
    assert_type(run(agent, "hi", answer_type=list[Person]).value, list[Person])
    assert_type(run(agent, "hi", answer_type=int).value, int)
    assert_type(begin(agent, "hi", answer_type=Person), Run[Person])
    assert_type(begin(agent, "hi", answer_type=Person).finish().value, Person)
    assert_type(resume_run("a.run.gram", answer_type=Person).value, Person)


async def it_is_so_in_a_loop(agent: Pattern) -> None:
    assert_type((await arun(agent, "hi", answer_type=Person)).value, Person)


def without_a_class_it_is_any(agent: Pattern) -> None:
    assert_type(run(agent, "hi").value, Any)
    assert_type(run(agent, "hi", answer_type=int | str).value, Any)
    assert_type(run(agent, "hi", answer_type=Literal["long", "short"]).value, Any)
    response: AgentResponse = run(agent, "hi")
    assert_type(response.value, Any)


def the_value_is_misused(agent: Pattern) -> None:
    assert run(agent, "hi", answer_type=Person).value.age  # E: "Person" has no attribute "age"
    number: int = run(agent, "hi", answer_type=Person).value  # E: expression has type "Person"
    run(agent, "hi", answer_type=Person, at_one=1)  # E: Unexpected keyword argument "at_one"
    assert number
