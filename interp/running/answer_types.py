"""Runs whose answers are of a Python type: the type is put into the program before they begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from attrs import evolve

import lenses_ext
from gram import Pattern
from lenses_ext.cycles import reached
from lenses_ext.language import tool_spec_of, written_signature
from lenses_ext.names import definitions_of
from lenses_ext.schemas import canonical, differences
from lenses_ext.weak_cache import memo
from lenses_ext.workflows import handoffs

from ..errors import ConfigurationError, ValidationError
from ..json_text import Json, write_json
from ..machine import AgentResponse, answer_schema_of
from ..programs import the_agent
from ..tools import AnswerType, answer_type_of

V = TypeVar("V")

_TEXT: dict[str, Json] = {"type": "string"}


def with_answer(program: Pattern, answer: AnswerType[Any]) -> Pattern:
    """A program whose answer is declared to be of a Python type.

    An agent gets it as its `Answer`, and so do those that it may hand the conversation over to. A
    workflow gets a signature that says it.

    Raises:
        ConfigurationError: the program declares another answer, or its result does not fit.
    """
    known = _typed(program)
    if answer.pattern not in known:
        if lenses_ext.is_agent(program):
            defined = definitions_of(program)

            def leads_to(name: str) -> tuple[str, ...]:
                return handoffs(defined[name]) if name in defined else ()

            names = reached([program.value.identity], leads_to)

            def typed(agent: Pattern) -> Pattern:
                return _agent_with(agent, answer) if agent.value.identity in names else agent

            known[answer.pattern] = lenses_ext.over(lenses_ext.each_agent, typed, program)
        else:
            known[answer.pattern] = _workflow_with(program, answer)
    return known[answer.pattern]


_typed: Callable[[Pattern], dict[Pattern, Pattern]] = memo(lambda _: {})


def declared_answer(
    program: Pattern, answer_type: type[V] | Any, *, by: str
) -> AnswerType[V] | None:
    """The type of the answer of a program that has begun, as it was where it began.

    Raises:
        ConfigurationError: it is not what the program declares.
    """
    if answer_type is None:
        return None
    answer: AnswerType[V] = answer_type_of(answer_type, by=by)
    if with_answer(program, answer) is not program and lenses_ext.is_agent(program):
        raise ConfigurationError(
            "the run has begun, and its program declares no answer: give answer_type="
            f"{answer.name} where it begins"
        )
    return answer


def with_value(response: AgentResponse[Any], answer: AnswerType[V] | None) -> AgentResponse[V]:
    """A response with its value as the Python type that was asked for.

    Raises:
        ValidationError: the answer is not of the type.
    """
    if answer is None:
        return response
    if response.refused:
        return evolve(response, read=())
    said = response.value if response.is_typed else response.content
    return evolve(response, read=(answer.read(said),))


def _agent_with(agent: Pattern, answer: AnswerType[Any]) -> Pattern:
    declared = answer_schema_of(agent)
    if declared is None and written_signature(agent) is None:
        return lenses_ext.put(lenses_ext.agent_answer, answer.pattern, agent)
    declared = _TEXT if declared is None else declared
    if canonical(declared, match="types") == canonical(answer.schema, match="types"):
        return agent
    name = agent.value.identity
    raise ConfigurationError(
        f'the agent "{name}" declares another answer than {answer.name}: '
        f"{write_json(declared)}, not {write_json(answer.schema)}\n"
        "  hint: leave out answer_type, or what the program declares"
    )


def _workflow_with(workflow: Pattern, answer: AnswerType[Any]) -> Pattern:
    name = workflow.value.identity
    try:
        if written_signature(workflow) is None:
            taken = {"type": "object", "properties": {"input": _TEXT}, "required": ["input"]}
            written = lenses_ext.json_schema_to_type_signature(taken, return_schema=answer.schema)
            typed = lenses_ext.put(lenses_ext.agent_type_signature, written, workflow)
            return the_agent(typed, by="run")
        given = lenses_ext.result_schema(tool_spec_of(workflow))
        found = differences(answer.schema, given, match="types", result=True)
        if not found:
            return workflow
        reason = "; ".join(
            f"{'.'.join(['$', *map(str, each.path)])} is {each.implementation}, not {each.spec}"
            for each in found
        )
    except ValidationError as error:
        reason = error.message
    raise ConfigurationError(f'the result of the workflow "{name}" is no {answer.name}: {reason}')
