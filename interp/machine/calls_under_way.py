"""The calls that a frame waits for: what agents and workflows do alike with the answers to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from attrs import evolve

from gram import Pattern

from ..errors import ProtocolError
from ..files import File
from ..json_text import JsonText
from .call_checks import FORBIDDEN, decision_about, denied, not_run_again, result_problem
from .effects import Ask, CallBegun, CallFailed, CallTool, Decided, Event, Resumed, ToolReturned
from .frames import AgentFrame, WorkflowFrame
from .happened import New
from .messages import ToolInvocation
from .run_context import RunContext

_Kind = TypeVar("_Kind", CallTool, Ask)
_Frame = TypeVar("_Frame", AgentFrame, WorkflowFrame)


def waiting(frame: AgentFrame | WorkflowFrame, event: Event, kind: type[_Kind]) -> _Kind:
    """The call or question that an event answers.

    Raises:
        ProtocolError: the frame waits for none there.
    """
    found = frame.under_way(event.at)
    if not isinstance(found, kind):
        own = [each for each in frame.parts if isinstance(each, CallTool | Ask)]
        raise ProtocolError(f"{event!r} answers no {kind.__name__}: waiting for {own}")
    return found


def call_begun(
    run: RunContext, frame: _Frame, event: CallBegun
) -> tuple[RunContext, _Frame, tuple[New, ...]]:
    """Keep that a call has begun which may run only once."""
    begun = evolve(waiting(frame, event, CallTool), has_begun=True)
    return run, frame.with_waiting(event.at, begun), ()


def answered(
    run: RunContext,
    by: str,
    tool: Pattern | None,
    call: CallTool | Ask,
    event: ToolReturned | CallFailed | Decided,
) -> ToolInvocation:
    """A call with the answer that an event is to it; a decision is a no.

    A result that is not of the declared type is an error.

    Args:
        run: what the frames of the run share.
        by: the name of the agent or workflow that made the call.
        tool: what was called, if the program has it.
        call: the call.
        event: the event.
    """
    result: JsonText | None = None
    error: str | None = None
    files: tuple[File, ...] = ()
    match event:
        case ToolReturned():
            said = JsonText.read(event.result)
            error = None if tool is None else result_problem(run, tool, said)
            if error is None:
                result, files = said, event.files
        case CallFailed():
            error = event.error
        case Decided(reason=reason):
            may_have_run = isinstance(call, Ask) and call.may_have_run
            error = not_run_again(reason) if may_have_run else denied(reason)
    raised = event.exception if isinstance(event, CallFailed) else None
    about: dict[str, Any] = {"agent_name": by, "at": call.at, "files": files, "exception": raised}
    return ToolInvocation(call.name, JsonText.read(call.arguments), result, error, **about)


def taken_up(
    run: RunContext,
    frame: _Frame,
    event: Resumed,
    spec_of: Callable[[Ask], Pattern],
    decided: Callable[[RunContext, _Frame, Decided], tuple[RunContext, _Frame, tuple[New, ...]]],
) -> tuple[RunContext, _Frame, list[New]]:
    """Ask about calls that may have run; decide by another policy what is asked about.

    Args:
        run: what the frames of the run share.
        frame: the frame that goes on.
        event: how it goes on.
        spec_of: the specification of the tool that a question is about.
        decided: takes a decision.
    """
    new: list[New] = []
    by = frame.agent if isinstance(frame, AgentFrame) else frame.workflow
    for part in frame.parts:
        if not isinstance(part, CallTool | Ask) or frame.under_way(part.at) is None:
            continue
        if isinstance(part, CallTool):
            if part.has_begun:
                ask = Ask(part.at, part.name, part.arguments, may_have_run=True)
                frame = frame.with_waiting(part.at, ask)
        elif event.policy:
            decision = decision_about(run, part.name, part.args, by, spec_of(part))
            if decision != "ask":
                decision_of_it = Decided(part.at, decision == "allow", FORBIDDEN)
                run, frame, more = decided(run, frame, decision_of_it)
                new.extend(more)
    return run, frame, new
