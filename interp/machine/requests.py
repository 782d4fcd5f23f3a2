"""What the model of an agent is asked, read from the agent's pattern at every turn."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from gram import WALK_SUBJECT, Pattern, Subject
from lenses_ext import (
    ANSWER,
    Model,
    Settings,
    agent_answer,
    agent_answer_schema,
    agent_instruction,
    agent_model,
    agent_settings,
    is_agent,
    memo,
    result_schema,
    tool_spec_of,
    tool_spec_schema,
    view,
    written_signature,
)

from ..json_text import Json
from .effects import CallModel, Request
from .frames import AgentFrame
from .offers import offers_of
from .run_context import RunContext


def ask_model(run: RunContext, frame: AgentFrame) -> CallModel:
    """The request of an agent's turn."""
    agent = frame.agent
    model, instruction, settings, answer = _asked(agent)
    request = Request(
        model=run.model or model,
        instruction=instruction,
        messages=frame.context,
        tools=() if frame.stopped else offers_of(run.program, agent).specs,
        settings=settings.with_changes(run.settings) if run.settings else settings,
        answer=answer,
    )
    return CallModel(frame.at, request)


def settings_of(run: RunContext, agent: Pattern) -> Settings:
    """The settings that hold: the program's, changed by those of the run."""
    of_the_agent = _asked(agent).settings
    return of_the_agent.with_changes(run.settings) if run.settings else of_the_agent


class _Asked(NamedTuple):
    """What is read of an agent at every turn, once for each agent."""

    model: Model
    instruction: str
    settings: Settings
    answer: Pattern | None


def _read_asked(agent: Pattern) -> _Asked:
    settings = view(agent_settings, agent) or Settings()
    model, instruction = view(agent_model, agent), view(agent_instruction, agent)
    return _Asked(model, instruction, settings, answer_of(agent))


_asked = memo(_read_asked)


def _read_answer(agent: Pattern) -> Pattern | None:
    declared = view(agent_answer, agent)
    signature = written_signature(agent)
    if declared is not None or signature is None:
        return declared
    schema = result_schema(tool_spec_of(agent)) or {}
    if {*schema} <= {"type", "description"} and schema.get("type") == "string":
        return None
    last = signature.elements[-1] if signature.value == WALK_SUBJECT else signature
    _, *shapes = tool_spec_of(agent).elements
    return Pattern(Subject("", {ANSWER}), [last.elements[1], *shapes])


answer_of = memo(_read_answer)
"""The type of an agent's answer, by its `Answer` or its signature; None if that is a text."""

_answer_schema: Callable[[Pattern], Json] = memo(partial(view, agent_answer_schema))


def answer_schema_of(agent: Pattern) -> Json:
    """The JSON Schema of an agent's answer, None if that is a text."""
    if answer_of(agent) is None:
        return None
    return _answer_schema(agent) or result_schema(tool_spec_of(agent)) or {}  # Any: just JSON


def input_of(pattern: Pattern, args: dict[str, Json]) -> Json:
    """What an agent or workflow is given: a text or a workflow's only argument, else a record."""
    names = parameter_names_of(pattern)
    if len(names) != 1 or names[0] not in args:
        return args
    only = args[names[0]]
    return only if isinstance(only, str) or not is_agent(pattern) else args


def arguments_of(pattern: Pattern, given: Json) -> Json:
    """The arguments that a value is to what takes it: one parameter, or the fields of a record.

    Fields that are no parameters are left out. A value that is no record stays as it is, for
    whoever checks the arguments.
    """
    names = parameter_names_of(pattern)
    if len(names) == 1:
        return {names[0]: given}
    if not names:
        return {}
    if isinstance(given, dict):
        return {name: each for name, each in given.items() if name in names}
    return given


parameter_names_of: Callable[[Pattern], tuple[str, ...]] = memo(
    lambda pattern: tuple(view(tool_spec_schema, tool_spec_of(pattern)).get("properties", {}))
)
"""The names of the parameters of an agent, a workflow or a tool."""
