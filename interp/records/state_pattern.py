"""Converts a State to a pattern and back: the safe way to save a run and resume it elsewhere.

.. code-block:: text

    [:RunState {status: "awaiting_tools", limits: {iterations: 10, …}, …} |
      [hello_world_agent:Agent {…} | …],
      [:Conversation | (:User {content: "hello"}), …],
      [:ApprovalPolicy {otherwise: "ask"}],
      [:Calls | (:ToolCall {…})],
      [:Waiting | (:Ask {index: 0, tool: "sayHello", args: json`{}`})],
      [:Answered | …], [:Invocations | …]]
    [:RunState {limits: {…}, …} | [newsroom:Workflow …], [:ApprovalPolicy …], [:WorkflowFrame …]]

Where the outermost frame is an agent's, its parts are those of the RunState; the frames in it are
among what waits, see `interp.records.frame_pattern`. Reading a pattern runs no code, unlike
unpickling. The pattern holds everything that is compared between States and the id of the run; it
does not hold the exceptions of tools.
"""

from __future__ import annotations

from typing import Any

from pyrsistent import PMap, pmap

from gram import Pattern, Subject, Value, expect

from ..machine import AgentFrame, ApprovalPolicy, Shared, State, definition
from .conversation_pattern import context_from_pattern, context_to_pattern
from .frame_pattern import (
    AGENT_KEYS,
    AGENT_PARTS,
    agent_elements,
    agent_properties,
    frame_from_pattern,
    frame_to_pattern,
    read_agent,
)
from .pattern_parts import Reader, Written, without_empty, write_text
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

_KEYS = ("model", "runId", "usage", "counted", "called", "limit", "withoutResultChecks")


def state_to_pattern(state: State) -> Pattern:
    """Convert a State to a pattern.

    Raises:
        GramEncodeError: the agent is nested too deeply.
    """
    expect(state, State, "state", by="state_to_pattern")
    shared, frame = state.shared, state.frame
    properties: dict[str, Written | None] = {
        "model": str(shared.model) if shared.model else None,
        "limit": None if shared.limit is None else write_text(shared.limit),
        "runId": shared.run_id,
        **limits_to_properties(shared.limits),
        **settings_to_properties(shared.settings),
        "usage": usage_to_map(shared.usage),
        "counted": usage_to_map(shared.counted),
        "called": pmap(dict[str, Value](shared.called)),
        "withoutResultChecks": not shared.check_results,
    }
    policy = shared.policy.to_pattern()
    elements = [shared.program, policy, frame_to_pattern(frame)]
    if isinstance(frame, AgentFrame):
        properties |= agent_properties(frame)
        if frame.agent != shared.program:
            properties["speaker"] = write_text(frame.agent.value.identity)
        context = context_to_pattern(frame.context)
        elements = [shared.program, context, policy, *agent_elements(frame)]
    return Pattern(Subject("", {RUN_STATE}, without_empty(properties)), elements)


def state_from_pattern(pattern: Pattern) -> State:
    """Read a State from a pattern.

    Raises:
        ValidationError: the pattern is not a State; the fault has its place.
    """
    expect(pattern, Pattern, "pattern", by="state_from_pattern")
    keys = [*_KEYS, "speaker", *AGENT_KEYS, *LIMIT_KEYS, *SETTING_KEYS]
    read = Reader(pattern, RUN_STATE, keys)
    elements = pattern.elements
    if len(elements) == 3:
        program, policy, frame = elements
        return State(_read_shared(read, program, policy), frame_from_pattern(frame))
    if len(elements) != 3 + len(AGENT_PARTS):
        read.refuse("no-state", f"{RUN_STATE} must have {3 + len(AGENT_PARTS)} elements, or 3")
    program, context, policy, *parts = elements
    agent = definition(program, read.text("speaker")) if read.has("speaker") else program
    outermost = read_agent(read, (), agent, context_from_pattern(context), parts)
    return State(_read_shared(read, program, policy), outermost)


def _read_shared(read: Reader, program: Pattern, policy: Pattern) -> Shared:
    called = _read_called(read)
    return Shared(
        program,
        read_model(read),
        read_limits(read),
        ApprovalPolicy.from_pattern(policy),
        read_settings(read),
        not read.flag("withoutResultChecks"),
        read_usage(read, "usage"),
        read_usage(read, "counted"),
        sum(called.values()),
        tuple(sorted(called.items())),
        read.text("limit") if read.has("limit") else None,
        read.text("runId", ""),
    )


def _read_called(read: Reader) -> PMap[str, int]:
    value: Any = read.pattern.value.properties.get("called", pmap())
    if isinstance(value, PMap) and all(type(count) is int for count in value.values()):
        return value
    read.refuse("ill-typed", f"called of {RUN_STATE} must have whole numbers", "called")
