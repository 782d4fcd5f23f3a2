"""The calls of a frame: checked, waited for, and let go when it fails.

A call is run, asked about, or refused with a reason. A result of the wrong type is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from attrs import evolve

from gram import Pattern
from lenses_ext import (
    Workflow,
    is_agent,
    is_tool,
    result_schema,
    tool_spec_schema,
    view,
    workflow_of,
)
from lenses_ext.language import tool_spec_of, written_signature
from lenses_ext.weak_cache import memo

from ..errors import ProtocolError, ValidationError
from ..files import File
from ..json_text import Json, JsonText, json_or_text, write_json
from .approval import Decision
from .contracts import (
    check_against,
    has_strict_form,
    parameters_of,
    read_arguments,
    without_stand_ins,
)
from .effects import (
    Ask,
    At,
    CallBegun,
    CallFailed,
    CallTool,
    Decided,
    Effect,
    Event,
    Resumed,
    ToolReturned,
)
from .frames import AgentFrame, Begin, Frame, Outcome, Status, WorkflowFrame
from .happened import NOT_WAITED_FOR, CallDropped, Ended, FrameBegun, Happened, New
from .messages import ToolCall, ToolInvocation, empty_context
from .requests import Offers, arguments_of, ask_model, input_of, settings_of
from .run_context import RunContext

FORBIDDEN = "the policy of this run forbids it"
"""The reason for not running a call that the policy denies."""

INTERRUPTED = "interrupted: the run ended before this call was answered; it may have run"
"""What the model is told of a call that a run left unanswered."""

_CUT_OFF = "the reply was cut off at its length limit, so this call may be incomplete: not run"


DEEPEST = 32
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
        return ToolInvocation(call.name, json_or_text(call.arguments), error=_CUT_OFF)
    offer = offers.named(call.name)
    if offer is None:
        known = ", ".join(sorted(offers.by_wire_name)) or "none"
        error = f'there is no tool "{call.name}"; the tools are: {known}'
        return ToolInvocation(call.name, json_or_text(call.arguments), error=error)
    name, tool = offer.name, offer.spec
    try:
        given = read_arguments(name, call.arguments)
    except ValidationError as error:
        return ToolInvocation(name, call.arguments, error=error.message)
    settings = settings_of(run, frame.agent)
    if settings and settings.get("strictTools", "off") != "off" and has_strict_form(tool):
        given = without_stand_ins(view(tool_spec_schema, tool), given)
    try:
        args = parameters_of(tool).checked(given)
    except ValidationError as error:
        return ToolInvocation(name, given, error=refused(name, error))
    if offer.use == "skill":
        return ToolInvocation(name, args, write_json(offer.pattern.value.properties["text"]))
    if offer.use == "inside" and len(frame.place) > DEEPEST:
        return ToolInvocation(name, args, error=_TOO_DEEP)
    decision = decision_about(run, name, args, frame.agent, tool)
    if decision == "deny":
        return ToolInvocation(name, args, error=denied(FORBIDDEN))
    effect = CallTool if decision == "allow" else Ask
    return effect((*frame.at, index), name, write_json(args))


def refused(name: str, error: ValidationError) -> str:
    """What is said of arguments that are not of the declared types."""
    return f'arguments of "{name}" are refused:\n{error.message}'


def result_problem(run: RunContext, tool: Pattern, result: JsonText) -> str | None:
    """Why what a tool, an agent or a workflow gave is not of the type it declares, or None.

    Nothing is wrong with any result where the run allows all.

    Args:
        run: what the frames of the run share.
        tool: what gave the result.
        result: the result.
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


def decision_about(
    run: RunContext, name: str, args: Mapping[str, Json], by: Pattern, tool: Pattern
) -> Decision:
    """What the policy decides of a call of a tool by an agent or workflow."""
    schema = parameters_of(tool).schema
    return run.policy.decide(name, args, by=by.value.identity, schema=schema)


def denied(reason: str) -> str:
    """What the model is told of a call that may not be run."""
    return f"denied, not run: {reason}" if reason else "denied, not run"


def not_run_again(reason: str) -> str:
    """What the model is told of a call that may have run, and may not be run again."""
    return f"{INTERRUPTED}; not run again: {reason}" if reason else f"{INTERRUPTED}; not run again"


def effects_of(run: RunContext, frame: Frame) -> Iterator[Effect]:
    """The effects that a frame waits for, and all frames in it."""
    if isinstance(frame, AgentFrame) and frame.status is Status.AWAITING_MODEL:
        yield ask_model(run, frame)
    for part in frame.parts:
        if isinstance(part, CallTool | Ask):
            yield part
        else:
            yield from effects_of(run, part)


def dropped(run: RunContext, frame: Frame) -> Iterator[Happened]:
    """What happens to all that is under way in a frame when it is waited for no more."""
    for part in frame.parts:
        if isinstance(part, CallTool | Ask):
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
    """What there is to say of a frame that has begun inside another, which still has it."""
    name = frame.name
    if isinstance(around, AgentFrame):
        call = around.call_at(frame.place)
        name, given = call.name, call.arguments
    else:
        node, index = around.node_of(frame.place)
        given = str(around.live[node].items[index])
    return FrameBegun(frame.place, name, around.name, given, frame)


def frame_ended(around: Frame, frame: Frame, outcome: Outcome) -> Ended:
    """What there is to say of a frame that has ended inside another, which still has it."""
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


def pattern_of(frame: WorkflowFrame, name: str) -> Pattern:
    """The agent, tool or workflow that a node uses."""
    used = workflow_of(frame.workflow).nodes[name].pattern
    assert used is not None, "a program is checked before it runs"
    return used


def has_files(flow: Workflow, name: str) -> bool:
    """Whether what is attached to the input of a workflow goes to a node, too.

    It does where ``()`` leads to the node, and where a choice carries on what such a node has.
    """
    return any(
        arrow.source is None or (arrow.is_choice and has_files(flow, arrow.source))
        for arrow in flow.nodes[name].input.arrows
    )


def expect_readers(pattern: Pattern) -> None:
    """Check that what files are attached to goes to agents alone.

    Raises:
        ValidationError: it goes to a tool of a workflow.
    """
    if is_agent(pattern):
        return
    flow = workflow_of(pattern)
    for name, node in flow.nodes.items():
        if node.pattern is None or not has_files(flow, name):
            continue
        if is_tool(node.pattern):
            workflow = pattern.value.identity
            raise ValidationError(
                f'"{name}", a tool, gets the input of "{workflow}": files are for agents alone'
            )
        expect_readers(node.pattern)


def begun_use(
    run: RunContext, frame: WorkflowFrame, name: str, place: At, given: Json
) -> CallTool | Ask | Begin:
    """What is to be done for a use of a node.

    Raises:
        ValidationError: it may not be used, or not with what it is given.
    """
    used = pattern_of(frame, name)
    if not is_tool(used):
        kept = frame.kept.get(name, empty_context)
        if not kept and written_signature(used) is not None:
            given = input_of(used, _arguments(used, given))
        flow = workflow_of(frame.workflow)
        files = frame.attachments if not frame.round and has_files(flow, name) else ()
        return Begin(place, used, given, kept, files)
    args = _arguments(used, given)
    tool = used.value.identity
    decision = decision_about(run, tool, args, frame.workflow, tool_spec_of(used))
    if decision == "deny":
        raise ValidationError(denied(FORBIDDEN))
    effect = CallTool if decision == "allow" else Ask
    return effect(place, tool, write_json(args))


def _arguments(used: Pattern, given: Json) -> dict[str, Json]:
    """The arguments of what is used, with defaults."""
    args = arguments_of(used, given)
    name = used.value.identity
    if not isinstance(args, dict):
        raise ValidationError(f'"{name}" takes a record, found {write_json(args)[:80]}')
    try:
        return parameters_of(tool_spec_of(used)).checked(args)
    except ValidationError as error:
        raise ValidationError(refused(name, error)) from None
