"""Observations: what a run shows while it goes on.

Observations never reach the machine: a run that is watched ends in the state it would end in
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, Union

from attrs import field, frozen

from ..call_text import call_text, short_repr
from ..errors import ApprovalNeeded, LimitError, ModelError, WorkflowError
from ..machine import (
    At,
    CallTool,
    Event,
    ModelReplied,
    State,
    Status,
    newly_answered,
    response,
)
from ..messages import AgentResponse, ToolInvocation


@frozen
class TextDelta:
    """A piece of what the model says, with the position of its request.

    Text of a turn that then calls tools is not the answer but said beside the calls.
    """

    at: At
    text: str = field(repr=short_repr)


@frozen
class SaidBeforeCalls:
    """The whole text of a reply that also calls tools; nothing of the calls has begun yet."""

    at: At
    text: str = field(repr=short_repr)


@frozen
class ToolStarted:
    """A tool is about to be run."""

    call: CallTool


@frozen
class ToolFinished:
    """A tool call has its answer; tools that run at once finish in any order.

    A call that was not run, because it was wrong or not allowed, has no `ToolStarted` before.
    """

    at: At
    invocation: ToolInvocation


@frozen
class Finished:
    """The run is done; always the last observation."""

    response: AgentResponse


Observation: TypeAlias = Union[TextDelta, SaidBeforeCalls, ToolStarted, ToolFinished, Finished]


def observations(before: State, event: Event, after: State) -> Iterator[Observation]:
    """What there is to see of a step."""
    if isinstance(event, ModelReplied) and event.message.tool_calls and event.message.content:
        yield SaidBeforeCalls(event.at, event.message.content)
    for at, invocation in newly_answered(before, after, event.at):
        yield ToolFinished(at, invocation)


def finished(state: State) -> Finished:
    """What a run ends with when nothing is left to do.

    Raises:
        ApprovalNeeded: calls wait for approval.
        LimitError: a limit was reached.
        ModelError: the answer is not of the type that the program declares.
        WorkflowError: a step of the workflow failed.
    """
    if state.asks:
        calls = ", ".join(call_text(ask.name, ask.arguments) for ask in state.asks)
        raise ApprovalNeeded(f"the run waits for approval of {calls}")
    if state.status is Status.LIMITED:
        raise LimitError(f"the run stopped after {state.stopped}")
    if state.status is Status.FAILED:
        raise WorkflowError(f"the workflow failed: {state.stopped}")
    if state.status is Status.UNUSABLE:
        raise ModelError(f"the model's answer is not what the program declares: {state.stopped}")
    return Finished(response(state))
