"""Observations: what a run shows while it goes on.

Observations never reach the machine: a run that is watched ends in the state it would end in
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, Union

from attrs import field, frozen

from ..call_text import short_repr
from ..machine import At, CallTool, Event, ModelReplied, State, newly_answered
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
