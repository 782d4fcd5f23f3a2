"""The lenses onto an agent: one line each, in the names of the specification.

An agent is a pattern labelled ``Agent``; its identity is its name, its properties say who it is
and which model it runs on, its elements are its tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gram import GramEncodeError, Pattern, Subject

from .answer import answer_schema
from .errors import FocusError
from .labels import AGENT, ANSWER, TOOLS
from .model import Model
from .optics import computed, lens_of, put, view
from .pattern_optics import (
    each_of,
    elements_with,
    identity,
    labelled,
    optional_prop,
    prop,
    with_property,
    without_property,
)
from .settings import SettingError, Settings
from .signatures.errors import SignatureError

_model_text = prop("agent_model", "model", str)


def _get_model(agent: Pattern) -> Model:
    text = view(_model_text, agent)
    try:
        return Model.parse(text)
    except GramEncodeError as error:
        raise FocusError("agent_model", "value.properties.model", agent, error.msg) from None


def _set_model(agent: Pattern, model: Model | str) -> Pattern:
    try:
        named = Model.parse(model) if isinstance(model, str) else model
    except GramEncodeError as error:
        raise FocusError("agent_model", "value.properties.model", agent, error.msg) from None
    if not isinstance(named, Model):
        reason = f"expected Model or str, found {type(named).__name__}"
        raise FocusError("agent_model", "value.properties.model", agent, reason)
    return put(_model_text, str(named), agent)


def _get_settings(agent: Pattern) -> Settings | None:
    written = agent.value.properties.get("settings")
    return None if written is None else _settings(agent, written)


def _set_settings(agent: Pattern, settings: Settings | Mapping[str, Any] | None) -> Pattern:
    if settings is None:
        return without_property(agent, "settings")
    kept = _settings(agent, settings).values_by_name
    return with_property("agent_settings", agent, "settings", kept)


def _settings(agent: Pattern, values: Any) -> Settings:
    try:
        return Settings(values)
    except SettingError as error:
        path = "value.properties.settings"
        raise FocusError("agent_settings", path, agent, str(error)) from None


_answers = elements_with("agent_answer", [ANSWER])


def _get_answer(agent: Pattern) -> Pattern | None:
    found = view(_answers, agent)
    if len(found) > 1:
        raise FocusError("agent_answer", "elements", agent, f"{len(found)} answers")
    return found[0] if found else None


def _set_answer(agent: Pattern, answer: Pattern | None) -> Pattern:
    _get_answer(agent)
    return put(_answers, () if answer is None else (answer,), agent)


def _get_answer_schema(agent: Pattern) -> dict[str, Any] | None:
    answer = _get_answer(agent)
    try:
        return None if answer is None else answer_schema(answer)
    except SignatureError as error:
        raise FocusError("agent_answer_schema", "elements", agent, str(error)) from error


# fmt: off
#                   kind           name                 where           when absent
agent_name        = identity(      "agent_name")                        # FocusError
agent_description = optional_prop( "agent_description", "description", str)  # None
agent_instruction = prop(          "agent_instruction", "instruction", str)  # FocusError
agent_model       = lens_of(       "agent_model",       _get_model, _set_model)  # FocusError
agent_settings    = lens_of(       "agent_settings",    _get_settings, _set_settings)  # None
agent_answer      = lens_of(       "agent_answer",      _get_answer, _set_answer)  # None
agent_answer_schema = computed(    "agent_answer_schema", _get_answer_schema)  # None
agent_tool_specs  = elements_with( "agent_tool_specs",  TOOLS)          # ()
each_agent_tool   = each_of(       "each_agent_tool",   agent_tool_specs)
as_agent          = labelled(      "as_agent",          [AGENT])
# fmt: on


def create_agent_pattern(
    name: str,
    description: str | None,
    model: Model | str,
    instruction: str,
    tool_specs: Iterable[Pattern] = (),
) -> Pattern:
    """The pattern of an agent.

    Args:
        name: its identity.
        description: what it is for, or None.
        model: a `Model`, or its text ``provider/name``.
        instruction: what it is told to do.
        tool_specs: the specifications of its tools.

    Raises:
        FocusError: a part is of the wrong type or cannot be written.

    >>> from gram import dumps
    >>> dumps(create_agent_pattern("a", None, "OpenAI/gpt-5.6-luna", "Be kind."))
    '(a:Agent {instruction: "Be kind.", model: "OpenAI/gpt-5.6-luna"})'
    """
    blank = Pattern(Subject("?", {AGENT}, {"instruction": "", "model": "?/?"}))
    agent = put(agent_name, name, blank)
    agent = put(agent_description, description, agent)
    agent = put(agent_instruction, instruction, agent)
    agent = _set_model(agent, model)
    return put(agent_tool_specs, tuple(tool_specs), agent)
