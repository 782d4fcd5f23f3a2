"""Observations: what a run shows while it goes on.

Observations never reach the machine: a run that is watched ends in the state it would end in
otherwise.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeAlias, Union

from attrs import field, frozen

from .. import machine
from ..concurrency import in_loop_of_user, in_waiting_thread
from ..errors import ApprovalNeeded, LimitError, ModelError, WorkflowError
from ..shown import short_repr, visible_text
from ..tools import is_async


@frozen
class TextDelta:
    """A piece of what the model says, with the position of its request.

    Text of a turn that then calls tools is not the answer but said beside the calls.
    """

    at: machine.At
    text: str = field(repr=short_repr)


@frozen
class ReasoningDelta:
    """A piece of what the model shows of its reasoning, with the position of its request."""

    at: machine.At
    text: str = field(repr=short_repr)


Delta: TypeAlias = TextDelta | ReasoningDelta
"""A piece of a reply that is still coming."""


@frozen
class SaidBeforeCalls:
    """The whole text of a reply that also calls tools; nothing of the calls has begun yet."""

    at: machine.At
    text: str = field(repr=short_repr)


@frozen
class ToolStarted:
    """A tool is about to be run."""

    call: machine.CallTool


@frozen
class ToolProgress:
    """How far a call is, as its tool reports it while it runs.

    Attributes:
        at: the position of the call.
        name: the name of the tool.
        done: how much is done, in units that the tool chooses.
        total: how much there is to do, or None if the tool does not know.
        message: what the tool says beside it.
    """

    at: machine.At
    name: str
    done: float
    total: float | None = None
    message: str = ""

    def __str__(self) -> str:
        return machine.progress_text(self.done, self.total, self.message)


@frozen
class Finished:
    """The run is done; always the last observation."""

    response: machine.AgentResponse


Observation: TypeAlias = Union[
    TextDelta,
    ReasoningDelta,
    SaidBeforeCalls,
    ToolStarted,
    ToolProgress,
    machine.ToolFinished,
    machine.AgentStarted,
    machine.AgentFinished,
    Finished,
]
"""What there is to see of a run while it happens."""


def seen_in(event: machine.Event, happened: Iterable[machine.Happened]) -> Iterator[Observation]:
    """What there is to see of a step."""
    reply = event.message if isinstance(event, machine.ModelReplied) else None
    if reply and reply.tool_calls and reply.content:
        yield SaidBeforeCalls(event.at, reply.content)
    for each in happened:
        match each:
            case machine.ToolFinished() | machine.AgentStarted() | machine.AgentFinished():
                yield each


def finished(state: machine.State) -> Finished:
    """What a run ends with when nothing is left to do.

    Raises:
        LimitError: a limit was reached, also where calls wait for approval: it is not enough to
            approve them.
        ApprovalNeeded: calls wait for approval.
        ModelError: the answer is not of the type that the program declares.
        WorkflowError: a step of the workflow failed.
    """
    status = state.status
    calls = ", ".join(_asked(state, ask) for ask in state.asks)
    if status is machine.Status.LIMITED:
        waiting = f"; it waits for approval of {calls}, too" if calls else ""
        raise LimitError(f"the run stopped after {state.stopped}{waiting}")
    if calls:
        raise ApprovalNeeded(f"the run waits for approval of {calls}")
    if status is machine.Status.FAILED:
        raise WorkflowError(f"the workflow failed: {state.stopped}")
    if status is machine.Status.UNUSABLE:
        raise ModelError(f"the model's answer is not what the program declares: {state.stopped}")
    return Finished(machine.response(state))


def _asked(state: machine.State, ask: machine.Ask) -> str:
    """A call that waits for approval, with who makes it if that is not the outermost agent."""
    call = visible_text(machine.call_text(ask.name, ask.arguments))
    by = machine.path_of_names(state, ask.at)
    is_outermost = len(by) == 1 and isinstance(state.frame, machine.AgentFrame)
    return call if is_outermost else f"{call} for {'/'.join(by)}"


Observer: TypeAlias = Callable[[machine.Effect, machine.Event], Union[Awaitable[None], None]]
"""Called with every effect and the event that answered it, after the event has been folded.

It may be a coroutine function, or an object with an async ``__call__``."""

Watcher: TypeAlias = Callable[
    [Union[machine.Effect, None], machine.Event, machine.Step], Union[Awaitable[None], None]
]
"""Called after each step with the effect, the event that answered it and the step they led to.

The effect is None where the caller changed the run, which is a `Resumed`. The events that a
watcher is given are the whole run: folded over the State it began with, they give every State."""


async def called_for_user(function: Callable[..., Any], *given: object) -> Any:
    """What a function of the user gives: a plain one is called where somebody waits for the run."""
    if is_async(function):
        return await in_loop_of_user(partial(function, *given))
    found = await in_waiting_thread(partial(function, *given))
    return await in_loop_of_user(lambda: found) if inspect.isawaitable(found) else found
