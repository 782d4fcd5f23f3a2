"""Converts a State to a pattern and back: the safe way to save a run and resume it elsewhere.

.. code-block:: text

    [:RunState {status: "awaiting_tools", limits: {iterations: 10, …}, …} |
      [hello_world_agent:Agent {…} | …],
      [:Conversation | (:User {content: "hello"}), …],
      [:ApprovalPolicy {otherwise: "ask"}],
      [:Calls | (:ToolCall {…})],
      [:Waiting | (:Ask {index: 0, tool: "sayHello", args: json`{}`})],
      [:Answered | …], [:Invocations | …]]

Reading a pattern runs no code, unlike unpickling. The pattern holds everything that is compared
between States and the id of the run; it does not hold the exceptions of tools.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyrsistent import pmap, pvector

from gram import Pattern, Subject, Value, expect

from ..machine import ApprovalPolicy, Ask, CallTool, State, Status, ToolEffect
from ..messages import ToolInvocation
from .conversation_pattern import (
    call_from_pattern,
    call_to_pattern,
    context_from_pattern,
    context_to_pattern,
)
from .pattern_parts import Reader, expect_one_of, without_empty, write_json_text, write_text
from .response_pattern import invocation_from_pattern, invocation_to_pattern
from .run_parts import (
    LIMIT_KEYS,
    SETTING_KEYS,
    limits_to_properties,
    read_limits,
    read_model,
    read_settings,
    read_usage,
    settings_to_properties,
    usage_to_map,
)

RUN_STATE = "RunState"

_PARTS = ("Calls", "Waiting", "Answered", "Invocations")
_EFFECTS: dict[str, type[ToolEffect]] = {"CallTool": CallTool, "Ask": Ask}
_USAGES = ("usage", "counted")
_FLAGS = ("truncated", "corrected", "withoutResultChecks")
_KEYS = ("status", "model", "turn", "stopped", "runId", *LIMIT_KEYS, *SETTING_KEYS)


def state_to_pattern(state: State) -> Pattern:
    """Convert a State to a pattern.

    Raises:
        GramEncodeError: the agent is nested too deeply.
    """
    expect(state, State, "state", by="state_to_pattern")
    properties: dict[str, Value | None] = {
        "status": state.status.name.lower(),
        "model": str(state.model) if state.model else None,
        "turn": state.turn,
        "stopped": None if state.stopped is None else write_text(state.stopped),
        "runId": state.run_id,
        **limits_to_properties(state.limits),
        **settings_to_properties(state.settings),
        "usage": usage_to_map(state.usage),
        "counted": usage_to_map(state.counted),
        "truncated": state.truncated,
        "corrected": state.corrected,
        "withoutResultChecks": not state.check_results,
    }
    parts = (
        map(call_to_pattern, state.calls),
        (_effect_to_pattern(state.waiting[index]) for index in sorted(state.waiting)),
        (_with_index(index, state.answers[index]) for index in sorted(state.answers)),
        map(invocation_to_pattern, state.invocations),
    )
    elements = [
        state.agent,
        context_to_pattern(state.context),
        state.policy.to_pattern(),
        *(Pattern(Subject("", {label}), each) for label, each in zip(_PARTS, parts, strict=True)),
    ]
    return Pattern(Subject("", {RUN_STATE}, without_empty(properties)), elements)


def state_from_pattern(pattern: Pattern) -> State:
    """Read a State from a pattern.

    Raises:
        ValidationError: the pattern is not a State; the fault has its place.
    """
    expect(pattern, Pattern, "pattern", by="state_from_pattern")
    read = Reader(pattern, RUN_STATE, [*_KEYS, *_USAGES, *_FLAGS])
    if len(pattern.elements) != 3 + len(_PARTS):
        read.refuse("no-state", f"{RUN_STATE} must have {3 + len(_PARTS)} elements")
    agent, context, policy, *parts = pattern.elements
    calls, waiting, answers, invocations = (
        _elements(part, label) for part, label in zip(parts, _PARTS, strict=True)
    )
    turn = read.number("turn")
    return State(
        agent,
        read_model(read),
        read_limits(read),
        context_from_pattern(context),
        ApprovalPolicy.from_pattern(policy),
        _status(read),
        turn,
        tuple(map(call_from_pattern, calls)),
        read.flag("truncated"),
        pmap(dict(_effect_from_pattern(each, turn) for each in waiting)),
        pmap(dict(map(_indexed_invocation, answers))),
        pvector(map(invocation_from_pattern, invocations)),
        read_usage(read, "usage"),
        read_usage(read, "counted"),
        read.text("stopped") if read.has("stopped") else None,
        read_settings(read),
        read.flag("corrected"),
        not read.flag("withoutResultChecks"),
        read.text("runId", ""),
    )


# --- calls


def _effect_to_pattern(effect: ToolEffect) -> Pattern:
    label = next(label for label, kind in _EFFECTS.items() if isinstance(effect, kind))
    properties: dict[str, Value] = {
        "index": effect.at[-1],
        "tool": write_text(effect.name),
        "args": write_json_text(effect.arguments),
    }
    if isinstance(effect, Ask) and effect.may_have_run:
        properties["mayHaveRun"] = True
    return Pattern(Subject("", {label}, properties))


def _effect_from_pattern(pattern: Pattern, turn: int) -> tuple[int, Any]:
    label = expect_one_of(_EFFECTS, pattern)
    more = ["mayHaveRun"] if label == "Ask" else []
    read = Reader(pattern, label, ["index", "tool", "args", *more])
    read.without_elements()
    arguments = read.json_text("args")
    read.parsed(arguments, "args")
    index = read.number("index")
    parts = ((turn, index), read.text("tool"), arguments)
    return index, Ask(*parts, read.flag("mayHaveRun")) if more else CallTool(*parts)


def _with_index(index: int, invocation: ToolInvocation) -> Pattern:
    return Pattern(Subject("", {"Answer"}, {"index": index}), [invocation_to_pattern(invocation)])


def _indexed_invocation(pattern: Pattern) -> tuple[int, ToolInvocation]:
    read = Reader(pattern, "Answer", ["index"])
    if len(pattern.elements) != 1:
        read.refuse("no-answer", "an Answer must have one element, its ToolInvocation")
    return read.number("index"), invocation_from_pattern(pattern.elements[0])


def _elements(pattern: Pattern, label: str) -> Iterable[Pattern]:
    Reader(pattern, label)
    return pattern.elements


def _status(read: Reader) -> Status:
    names = {status.name.lower(): status for status in Status}
    name = read.text("status")
    if name not in names:
        read.refuse("unknown-status", f'"{name}" is not a status; known: {", ".join(names)}')
    return names[name]
