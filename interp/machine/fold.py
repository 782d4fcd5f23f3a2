"""The interpreter: a pure fold over what the handler answers.

A run begins with `start` and goes from State to State by `step`, one event at a time. Both also
return the effects that are new to do, which a driver performs, and what has happened. Whatever
changes a State is an event, what a caller changes when it resumes the run included, so a State is
always ``fold(start, events)``. Nothing here does I/O, reads a clock or draws a random number, and
nothing is compiled: at every turn the program's pattern is read through lenses.

An event belongs to the frame that its position is in. That frame takes it; where it has ended, the
frame around it takes what it gave, and so on outwards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from attrs import evolve, frozen
from pyrsistent import pmap

from gram import Pattern
from lenses_ext import Model, ProgramLike
from lenses_ext.language import tool_spec_of, written_signature
from lenses_ext.schemas import NotJson
from lenses_ext.weak_cache import memo

from ..errors import ProtocolError, ValidationError
from ..files import File
from ..json_text import Json, write_json
from ..programs import the_agent
from . import agent_frame, workflow_frame
from .approval import ApprovalPolicy, allow_all
from .calls import call_begun, effects_of, expect_readers, frame_begun, frame_ended, refused
from .contracts import own_parameters_of
from .effects import (
    Ask,
    CallBegun,
    CallFailed,
    CallTool,
    CostReached,
    Decided,
    Effect,
    Event,
    ModelReplied,
    Resumed,
    TimeUp,
    ToolReturned,
    checked_settings,
)
from .forms import form_of, form_of_frame
from .frames import Begin, Frame, Status
from .happened import CallDropped, Happened, New
from .limits import Limits
from .limits_reached import cost_is_reached, time_is_up
from .messages import ConversationContext, Given, Message, conversation_of, empty_context, parts_of
from .readings import context_before, pending
from .requests import input_of, parameter_names_of
from .run_context import RunContext
from .state import State


class Step(NamedTuple):
    """What an event leads to.

    Attributes:
        state: the next State.
        effects: what is new to do.
        happened: what has happened, in order.
    """

    state: State
    effects: tuple[Effect, ...]
    happened: tuple[Happened, ...] = ()


def start(
    program: ProgramLike,
    given: Given,
    context: Iterable[Message] = empty_context,
    *,
    agent: str | None = None,
    model: Model | None = None,
    limits: Limits = Limits(),
    policy: ApprovalPolicy = allow_all,
    settings: Mapping[str, Any] | None = None,
    check_results: bool = True,
    run_id: str = "",
    once: Iterable[str] = (),
) -> Step:
    """Begin a run: say something to an agent, or call an agent or a workflow with arguments.

    Args:
        program: a document, its patterns, or the pattern of an agent or workflow that is valid and
            has its references resolved.
        given: what the user says, which is the only parameter's, or the arguments by name; a text
            is not empty. A list of a text and of `File` objects is a text with attachments.
        context: the conversation before, or its messages.
        agent: the name of the agent, where the program has several.
        model: the model to ask instead of the one the program names.
        limits: how much the run may do.
        policy: which tools it may run, and which it asks about.
        settings: settings instead of those that the program has; None as a value leaves one out.
        check_results: whether a tool's result has to be of the type that the program declares.
        run_id: a name for the run, see `State`.
        once: the names of the tools whose calls are never repeated by themselves, whatever is said
            of them when the run goes on.

    Raises:
        ValidationError: the pattern cannot be run, the text is empty or not well-formed, the
            arguments are not of the declared types, or a setting is wrong; or files are attached
            for what does not read them.
    """
    pattern = the_agent(program, agent, by="start")
    given, attachments = parts_of(given)
    changes = checked_settings(settings) or pmap()
    taken = _input(pattern, given, attachments)
    run = RunContext(
        pattern,
        model,
        limits,
        policy,
        changes,
        check_results,
        run_id=run_id,
        given=write_json(given if isinstance(given, str) else dict(given)),
        attachments=attachments,
        once=frozenset(once),
    )
    before = conversation_of(context, by="start")
    return _begun(run, Begin((), pattern, taken, before, attachments))


def start_again(
    state: State, program: Pattern | None = None, context: ConversationContext | None = None
) -> Step:
    """Begin a run as another began.

    Args:
        state: a State of that run.
        program: the program, instead of its own.
        context: the conversation before, instead of the one it had.

    Raises:
        ValidationError: the program does not take what the run was begun with.
    """
    first = state.beginning
    was = first.run
    program = was.program if program is None else program
    kept = {name: getattr(was, name) for name in ("run_id", "given", "attachments", "once")}
    changes = (was.model, was.limits, was.policy, was.settings, was.check_results)
    run = RunContext(program, *changes, **kept)
    before = context_before(first) if context is None else context
    taken = _input(program, was.given.value, was.attachments)
    return _begun(run, Begin((), program, taken, before, was.attachments))


def _begun(run: RunContext, begin: Begin) -> Step:
    happened: list[Happened] = []
    run, frame, _ = _settled(*form_of(begin.pattern).begin(run, begin), happened)
    state = State(run, frame)
    began = (each for each in happened if not isinstance(each, CallDropped))  # nothing has yet
    return Step(state, pending(state), tuple(began))


_is_declared: Callable[[Pattern], bool] = memo(
    lambda program: written_signature(program) is not None
)


def _input(pattern: Pattern, given: str | Mapping[str, Any], attachments: tuple[File, ...]) -> Json:
    """What a program is begun with, if it is what it takes."""
    if attachments:
        expect_readers(pattern)
    if isinstance(given, str):
        if not given.strip():
            raise ValidationError("the user's message is empty")
        try:
            given.encode()
        except UnicodeEncodeError:  # lone surrogates, as for what was typed in another encoding
            message = "the user's message is not UTF-8: no request can carry it"
            raise ValidationError(message) from None
        if not _is_declared(pattern):
            return given
    names = parameter_names_of(pattern)
    if isinstance(given, str) and len(names) != 1:
        several = ", ".join(names) or "nothing"
        name = pattern.value.identity
        raise ValidationError(f'"{name}" takes {several}: give the arguments by name, not a text')
    args = {names[0]: given} if isinstance(given, str) else dict(given)
    try:
        args = write_json(args).value
    except NotJson as error:
        raise ValidationError(f"arguments are JSON: {error}") from None
    try:
        checked = own_parameters_of(tool_spec_of(pattern)).checked(args)
    except ValidationError as error:
        raise ValidationError(refused(pattern.value.identity, error)) from None
    return input_of(pattern, checked)


def step(state: State, event: Event) -> Step:
    """Fold one event into the state; the effects are those that are new to do.

    After `Resumed` these are all that are still to do, since whoever resumes a run has nothing
    under way.

    Raises:
        ProtocolError: the event answers nothing that the state waits for.
    """
    if not isinstance(getattr(event, "at", None), tuple):
        raise ProtocolError(f"{event!r} answers nothing: it has no position")
    happened: list[Happened] = []
    effects: tuple[Effect, ...] = ()
    if isinstance(event, TimeUp | CostReached | Resumed):
        run, frame = _whole_run(state, event, happened)
    else:
        run, frame, effects = _taken(state.run, state.frame, event, happened)
    after = State(run, frame, state.beginning, state.events.append(event))
    if isinstance(event, Resumed):
        effects = pending(after)
    if any(isinstance(each, CallDropped) for each in happened):
        waited_for = {each.at for each in effects_of(state.run, state.frame)}
        happened = [
            each
            for each in happened
            if not isinstance(each, CallDropped) or each.at in waited_for  # else it never began
        ]
    return Step(after, () if run.limit is not None else effects, tuple(happened))


def fold(state: State, events: Iterable[Event]) -> State:
    """Fold some events into a state, one after another.

    Raises:
        ProtocolError: an event answers nothing that the state waits for by then.
    """
    for event in events:
        state = step(state, event).state
    return state


def resume(state: State, limits: Limits | None = None) -> Step:
    """Go on from a state, past the limit it stopped at; see `Resumed` for what else may change."""
    return step(state, Resumed(limits))


# --- the tree of frames

Settled: TypeAlias = tuple[RunContext, Frame, tuple[Effect, ...]]


def _taken(run: RunContext, frame: Frame, event: Event, happened: list[Happened]) -> Settled:
    """Hand an event to the frame that it is for, and what that gave to the frames around it."""
    inner = frame.inner(event.at)
    if inner is None:
        run, frame, new = _transition(frame, event).take(run, frame, event)
        return _settled(run, frame, new, happened)
    run, inner, effects = _taken(run, inner, event, happened)
    return _placed(run, frame, inner, effects, happened)


def _placed(
    run: RunContext,
    frame: Frame,
    inner: Frame,
    effects: tuple[Effect, ...],
    happened: list[Happened],
) -> Settled:
    """Put a frame that went on in its place; where it has ended, take what it gave."""
    outcome = form_of_frame(inner).outcome(inner)
    if outcome is None:
        return run, frame.with_inner(inner), effects
    happened.append(frame_ended(frame, inner, outcome))
    run, frame, new = form_of_frame(frame).inner_ended(run, frame, inner.place, outcome)
    return _settled(run, frame, new, happened)


def _settled(
    run: RunContext, frame: Frame, new: tuple[New, ...], happened: list[Happened]
) -> Settled:
    """Begin the frames that a step begins; what is left to do are effects.

    Of a frame that has ended nothing is left to do.
    """
    effects: list[Effect] = []
    left = deque(new)
    while left:
        each = left.popleft()
        if isinstance(each, Happened):
            happened.append(each)
            continue
        if not isinstance(each, Begin):
            effects.append(each)
            continue
        form = form_of(each.pattern)
        run, inner, begun = form.begin(run, each)
        happened.append(frame_begun(frame, inner))
        run, inner, more = _settled(run, inner, begun, happened)
        outcome = form.outcome(inner)
        if outcome is None:
            frame = frame.with_inner(inner)
            effects.extend(more)
            continue
        happened.append(frame_ended(frame, inner, outcome))
        around = form_of_frame(frame)
        run, frame, following = around.inner_ended(run, frame, each.at, outcome)
        if around.outcome(frame) is not None:
            happened += (each for each in (*left, *following) if isinstance(each, Happened))
            return run, frame, ()
        left.extendleft(reversed(following))
    return run, frame, tuple(effects)


def _transition(frame: Frame, event: Event) -> Transition:
    transition = TRANSITIONS[frame.status].get(type(event))
    if transition is None:
        raise ProtocolError(f"{event!r} answers nothing: it is {frame.status.value}")
    return transition


# --- the whole run


def _whole_run(
    state: State, event: TimeUp | CostReached | Resumed, happened: list[Happened]
) -> tuple[RunContext, Frame]:
    """Take what is about the whole run: it stops here, or all frames go on."""
    if type(event) not in TRANSITIONS[state.status]:
        raise ProtocolError(f"{event!r} answers nothing: the run is {state.status.value}")
    if event.at != ():
        raise ProtocolError(f"{event!r} is at the wrong position: expected ()")
    run = state.run
    if isinstance(event, TimeUp):
        return evolve(run, limit=time_is_up(run.limits)), state.frame
    if isinstance(event, CostReached):
        return evolve(run, limit=cost_is_reached(run, event.expected)), state.frame
    given = {name: getattr(event, name) for name in ("limits", "model", "policy", "check_results")}
    changes = {name: value for name, value in given.items() if value is not None}
    if event.settings:
        changes["settings"] = run.settings.update(event.settings)
    return _gone_on(evolve(run, **changes, limit=None), state.frame, event, happened)


def _gone_on(
    run: RunContext, frame: Frame, event: Resumed, happened: list[Happened]
) -> tuple[RunContext, Frame]:
    """Let a frame and all in it go on, those inside first."""
    for part in frame.parts:
        place = part.at if isinstance(part, CallTool | Ask) else part.place
        inner = frame.inner((*place, 0))
        if inner is not None:
            run, inner = _gone_on(run, inner, event, happened)
            run, frame, _ = _placed(run, frame, inner, (), happened)
    run, frame, new = _transition(frame, event).take(run, frame, event)
    run, frame, _ = _settled(run, frame, new, happened)
    return run, frame


def _unchanged(
    run: RunContext, frame: Frame, _: Event
) -> tuple[RunContext, Frame, tuple[New, ...]]:
    return run, frame, ()


@frozen
class Transition:
    """What an event does to a frame in a status.

    Attributes:
        take: the step it leads to.
        leads_to: the statuses that it may lead to.
    """

    take: Callable[[RunContext, Any, Any], tuple[RunContext, Any, tuple[New, ...]]]
    leads_to: tuple[Status, ...]


_TO_TOOLS_OR_MODEL = (Status.AWAITING_MODEL, Status.AWAITING_TOOLS)
_TO_STEPS = (Status.AWAITING_STEPS, Status.DONE, Status.FAILED, Status.LIMITED)
_STOP = Transition(_unchanged, (Status.LIMITED,))

TRANSITIONS: Final[Mapping[Status, Mapping[type[Event], Transition]]] = {
    Status.AWAITING_MODEL: {
        ModelReplied: Transition(
            agent_frame.model_replied,
            (*_TO_TOOLS_OR_MODEL, Status.DONE, Status.LIMITED, Status.UNUSABLE),
        ),
        TimeUp: _STOP,
        CostReached: _STOP,
        Resumed: Transition(_unchanged, (Status.AWAITING_MODEL,)),
    },
    Status.AWAITING_TOOLS: {
        CallBegun: Transition(call_begun, (Status.AWAITING_TOOLS,)),
        ToolReturned: Transition(agent_frame.tool_answered, _TO_TOOLS_OR_MODEL),
        CallFailed: Transition(agent_frame.tool_answered, _TO_TOOLS_OR_MODEL),
        Decided: Transition(agent_frame.decided, _TO_TOOLS_OR_MODEL),
        TimeUp: _STOP,
        CostReached: _STOP,
        Resumed: Transition(agent_frame.resumed, _TO_TOOLS_OR_MODEL),
    },
    Status.AWAITING_STEPS: {
        CallBegun: Transition(call_begun, (Status.AWAITING_STEPS,)),
        ToolReturned: Transition(workflow_frame.tool_answered, _TO_STEPS),
        CallFailed: Transition(workflow_frame.tool_answered, _TO_STEPS),
        Decided: Transition(workflow_frame.decided, _TO_STEPS),
        TimeUp: _STOP,
        CostReached: _STOP,
        Resumed: Transition(workflow_frame.resumed, _TO_STEPS),
    },
    Status.LIMITED: {
        Resumed: Transition(agent_frame.resumed, (*_TO_TOOLS_OR_MODEL, Status.LIMITED))
    },
    Status.DONE: {Resumed: Transition(_unchanged, (Status.DONE,))},
    Status.UNUSABLE: {Resumed: Transition(_unchanged, (Status.UNUSABLE,))},
    Status.FAILED: {Resumed: Transition(_unchanged, (Status.FAILED,))},
}
"""What may follow what: in each status of a frame, the events that may come and what they lead to.
`TimeUp`, `CostReached` and `Resumed` are about the whole run: they come to all of its frames."""
