"""The calls of a frame: checked, answered, and let go when it fails.

A call is run, asked about, or refused with a reason. A result of the wrong type is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from attrs import evolve

from gram import Pattern
from lenses_ext import result_schema, tool_spec_schema, view
from lenses_ext.language import tool_spec_of
from lenses_ext.weak_cache import memo

from ..errors import ProtocolError, ValidationError
from ..files import File
from ..json_text import Json, JsonText, json_or_text, write_json
from .approval import Decision
from .contracts import (
    Parameters,
    check_against,
    has_strict_form,
    parameters_of,
    read_arguments,
    without_stand_ins,
)
from .effects import Ask, At, CallFailed, CallTool, Decided, Effect, Event, ToolReturned
from .messages import ToolCall, ToolInvocation
from .requests import Offers, ask_model, settings_of
from .run_context import RunContext
from .state import (
    NOT_WAITED_FOR,
    AgentFrame,
    CallDropped,
    Ended,
    Frame,
    FrameBegun,
    Happened,
    Outcome,
    Status,
    WorkflowFrame,
)

FORBIDDEN = "the policy of this run forbids it"
"""The reason for not running a call that the policy denies."""

INTERRUPTED = "interrupted: the run ended before this call was answered; it may have run"
"""What the model is told of a call that a run left unanswered."""

_CUT_OFF = "the reply was cut off at its length limit, so this call may be incomplete: not run"

_DEEPEST = 32
"""How many parts the place of a frame has at most: 16 agents that call each other."""

_TOO_DEEP = "agents call each other more than 16 deep: not run"


def checked_call(
    run: RunContext, frame: AgentFrame, offers: Offers, index: int, call: ToolCall
) -> CallTool | Ask | ToolInvocation:
    """The effect of a call, or the invocation that tells the model what is wrong with it.

    The call of a skill has its answer in the program: nobody is asked, and nothing is run.

    Args:
        run: what the frames of the run share.
        frame: the frame of the agent.
        offers: what it offers to its model.
        index: which call of the reply it is.
        call: the call.
    """
    if frame.truncated:
        return refusal(frame, index, _CUT_OFF)
    offer = offers.named(call.name)
    if offer is None:
        known = ", ".join(sorted(offers.by_wire_name)) or "none"
        return refusal(frame, index, f'there is no tool "{call.name}"; the tools are: {known}')
    name, tool, at = offer.name, offer.spec, (*frame.at, index)
    about: dict[str, Any] = {"agent_name": frame.name, "at": at}
    args: Json = call.arguments
    try:
        args = given = read_arguments(name, call.arguments)
        settings = settings_of(run, frame.pattern)
        if settings and settings.get("strictTools", "off") != "off" and has_strict_form(tool):
            args = given = without_stand_ins(view(tool_spec_schema, tool), given)
        args = checked(name, parameters_of(tool), given)
        if offer.use == "skill":
            text = write_json(offer.pattern.value.properties["text"])
            return ToolInvocation(name, args, text, **about)
        if offer.use == "inside" and len(frame.place) > _DEEPEST:
            raise ValidationError(_TOO_DEEP)
        return allowed_call(run, frame, at, name, args, tool)
    except ValidationError as error:
        return ToolInvocation(name, args, error=error.message, **about)


def refusal(frame: AgentFrame, index: int, error: str) -> ToolInvocation:
    """A call of the last reply that is not run, as the model wrote it."""
    call, at = frame.calls[index], (*frame.at, index)
    args = json_or_text(call.arguments)
    return ToolInvocation(call.name, args, error=error, agent_name=frame.name, at=at)


def checked(name: str, parameters: Parameters, args: dict[str, Json]) -> dict[str, Json]:
    """The arguments of a call with defaults.

    Raises:
        ValidationError: they are not of the declared types.
    """
    try:
        return parameters.checked(args)
    except ValidationError as error:
        message = f'arguments of "{name}" are refused:\n{error.message}'
        raise ValidationError(message) from None


def allowed_call(
    run: RunContext, frame: Frame, at: At, name: str, args: dict[str, Json], tool: Pattern
) -> CallTool | Ask:
    """A call as the policy has it: to be run, or to be asked about first.

    Raises:
        ValidationError: it may not be run.
    """
    decision = decision_about(run, frame, name, args, tool)
    if decision == "deny":
        raise ValidationError(_denied(FORBIDDEN))
    return (CallTool if decision == "allow" else Ask)(at, name, write_json(args))


def decision_about(
    run: RunContext, frame: Frame, name: str, args: Mapping[str, Json], tool: Pattern
) -> Decision:
    """What the policy decides of a call in a frame of a tool, an agent or a workflow."""
    schema = parameters_of(tool_spec_of(tool)).schema
    return run.policy.decide(name, args, by=frame.name, schema=schema)


def _denied(reason: str) -> str:
    return f"denied, not run: {reason}" if reason else "denied, not run"


def result_problem(run: RunContext, tool: Pattern, result: JsonText) -> str | None:
    """Why what a tool, an agent or a workflow gave is not of the type it declares, or None.

    Nothing is wrong with any result where the run allows all.
    """
    if not run.check_results:
        return None
    try:
        _check_result(tool)(result)
    except ValidationError as error:
        return f'the result of "{tool.value.identity}" is not what it declares:\n{error.message}'
    return None


def _result_check(tool: Pattern) -> Callable[[JsonText], None]:
    """The check of a tool's results; one that declares no type has nothing to parse them for."""
    schema = result_schema(tool_spec_of(tool))
    if not schema:
        return lambda _: None
    text = write_json(schema)
    return lambda result: check_against(text, result.value)


_check_result = memo(_result_check)


def effects_of(run: RunContext, frame: Frame) -> Iterator[Effect]:
    """The effects that a frame waits for, and all frames in it."""
    for part in (frame, *frame.all_parts()):
        if not isinstance(part, Frame):
            yield part
        elif isinstance(part, AgentFrame) and part.status is Status.AWAITING_MODEL:
            yield ask_model(run, part)


def dropped(run: RunContext, frame: Frame) -> Iterator[Happened]:
    """What happens to all that is under way in a frame when it is waited for no more."""
    for part in frame.parts:
        if not isinstance(part, Frame):
            yield CallDropped(part)
            continue
        if isinstance(part, AgentFrame) and part.status is Status.AWAITING_MODEL:
            yield CallDropped(ask_model(run, part))
        yield from dropped(run, part)
        if isinstance(part, WorkflowFrame) and part.is_loop:
            given = (part.name, part.name, part.given, None, NOT_WAITED_FOR, True)
            yield Ended(part.at, "round", *given)
        yield evolve(frame_ended(frame, part, Outcome(None, NOT_WAITED_FOR)), was_dropped=True)


def frame_begun(around: Frame, frame: Frame) -> FrameBegun:
    """What there is to say of a frame that has begun inside another."""
    call = frame.call
    assert call is not None, "it is inside another"
    name = call.name if isinstance(around, AgentFrame) else frame.name
    return FrameBegun(call.at, name, around.name, call.arguments, frame)


def frame_ended(around: Frame, frame: Frame, outcome: Outcome) -> Ended:
    """What there is to say of a frame that has ended inside another."""
    begun = frame_begun(around, frame)
    is_agent = isinstance(frame, AgentFrame)
    return Ended(
        begun.at,
        "agent" if is_agent else "workflow",
        begun.name,
        begun.by,
        begun.given,
        outcome.said,
        outcome.error,
        unfinished=isinstance(frame, WorkflowFrame) and frame.unfinished,
    )


_Kind = TypeVar("_Kind", CallTool, Ask)


def waiting(frame: Frame, event: Event, kind: type[_Kind]) -> _Kind:
    """The call or question that an event answers.

    Raises:
        ProtocolError: the frame waits for none there.
    """
    found = frame.under_way(event.at)
    if not isinstance(found, kind):
        own = [each for each in frame.parts if not isinstance(each, Frame)]
        raise ProtocolError(f"{event!r} answers no {kind.__name__}: waiting for {own}")
    return found


def answered(
    run: RunContext,
    frame: Frame,
    tool: Pattern,
    call: CallTool | Ask,
    event: ToolReturned | CallFailed | Decided,
) -> ToolInvocation:
    """A call of a frame with the answer that an event is to it; a decision is a no.

    A result that is not of the type that the tool declares is an error.
    """
    result: JsonText | None = None
    error: str | None = None
    files: tuple[File, ...] = ()
    match event:
        case ToolReturned():
            said = JsonText.read(event.result)
            error = result_problem(run, tool, said)
            if error is None:
                result, files = said, event.files
        case CallFailed():
            error = event.error
        case Decided(reason=reason):
            error = _denied(reason)
            if isinstance(call, Ask) and call.may_have_run:
                error = f"{INTERRUPTED}; not run again{reason and f': {reason}'}"
    raised = event.exception if isinstance(event, CallFailed) else None
    about: dict[str, Any] = {"agent_name": frame.name, "at": call.at, "exception": raised}
    args = JsonText.read(call.arguments)
    return ToolInvocation(call.name, args, result, error, files=files, **about)
