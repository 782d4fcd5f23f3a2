"""What the model of an agent is asked, read from the agent's pattern at every turn."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from attrs import evolve

from gram import Pattern, Subject
from gram.trees import WALK_SUBJECT
from lenses_ext import (
    Model,
    Settings,
    agent_answer,
    agent_answer_schema,
    agent_instruction,
    agent_models,
    agent_settings,
    is_agent,
    result_schema,
    tool_spec_schema,
    view,
)
from lenses_ext.labels import ANSWER
from lenses_ext.language import tool_spec_of, written_signature
from lenses_ext.weak_cache import memo

from ..json_text import Json
from .contracts import is_text_schema
from .effects import CallModel, Request
from .frames import AgentFrame
from .long_conversations import INSTRUCTION, sent, to_read, to_summarise
from .messages import ConversationContext
from .offers import offers_of, summary_writer
from .run_context import RunContext


def ask_model(run: RunContext, frame: AgentFrame) -> CallModel:
    """The request of an agent's turn."""
    agent = frame.agent
    if frame.summarising:
        return _ask_for_summary(run, frame)
    models, instruction, settings, answer = _asked(agent)
    models = _in_order(run, models)
    request = Request(
        model=models[0],
        instruction=instruction,
        messages=ConversationContext(sent(frame)) if frame.summarised else frame.context,
        tools=() if frame.stopped else offers_of(run.program, agent).specs,
        settings=settings.with_changes(run.settings) if run.settings else settings,
        answer=answer,
        fallbacks=models[1:],
        agent=agent.value.identity,
    )
    return CallModel(frame.at, request)


def _ask_for_summary(run: RunContext, frame: AgentFrame) -> CallModel:
    """The request for a summary: to the agent that is named for it, or to the same model."""
    writer = summary_writer(frame.agent)
    asked = _asked(writer or frame.agent)
    models = _in_order(run, asked.models)
    instruction = INSTRUCTION if writer is None else asked.instruction
    settings = settings_of(run, writer or frame.agent).with_changes({"toolChoice": None})
    read = ConversationContext((to_read(frame),))
    request = Request(
        models[0],
        instruction,
        read,
        settings=settings,
        fallbacks=models[1:],
        agent=(writer or frame.agent).value.identity,
    )
    return CallModel(frame.at, request, is_for_summary=True)


def _in_order(run: RunContext, models: tuple[Model, ...]) -> tuple[Model, ...]:
    """The models of an agent as they are asked: the one for all, or those that could be asked."""
    if run.model is not None:
        return (run.model,)
    return tuple(sorted(models, key=lambda model: model in run.passed)) if run.passed else models


def going_on(run: RunContext, frame: AgentFrame) -> tuple[AgentFrame, CallModel]:
    """The request of an agent's next turn: for a summary, where the conversation is too long."""
    frame = evolve(frame, summarising=to_summarise(frame, settings_of(run, frame.agent)))
    return frame, ask_model(run, frame)


def settings_of(run: RunContext, agent: Pattern) -> Settings:
    """The settings that hold: the program's, changed by those of the run."""
    of_the_agent = _asked(agent).settings
    return of_the_agent.with_changes(run.settings) if run.settings else of_the_agent


class _Asked(NamedTuple):
    """What is read of an agent at every turn, once for each agent."""

    models: tuple[Model, ...]
    instruction: str
    settings: Settings
    answer: Pattern | None


def _read_asked(agent: Pattern) -> _Asked:
    settings = view(agent_settings, agent) or Settings()
    models, instruction = view(agent_models, agent), view(agent_instruction, agent)
    return _Asked(models, instruction, settings, answer_of(agent))


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


def is_text_answer(agent: Pattern) -> bool:
    """Whether an agent's answer is a text, as it is unless the program declares another type."""
    schema = answer_schema_of(agent)
    return schema is None or is_text_schema(schema)


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
