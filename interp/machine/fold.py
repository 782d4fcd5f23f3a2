"""The interpreter: a pure fold over what the world answers.

A run begins with `start` and goes from State to State by `step`, one event at a time. Both also
return the effects that are new to do; a driver performs these and feeds the events back. Whatever
changes a State is an event, what a caller changes when it resumes the run included, so a State is
always ``fold(start, events)``. Nothing here does I/O, reads a clock or draws a random number, and
nothing is compiled: at every turn the program's pattern is read through lenses.

An event belongs to the frame that its position is in. That frame takes it; where it has ended, the
frame around it takes what it gave, and so on outwards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias, Union

from attrs import evolve, frozen
from pyrsistent import pmap

from gram import Pattern, expect
from lenses_ext import Model, NotJson, ProgramLike, is_agent, memo, tool_spec_of, written_signature

from ..errors import ProtocolError, ValidationError
from ..json_text import Json, write_json
from ..programs import the_agent
from . import agent_frame, workflow_frame
from .approval import ApprovalPolicy, allow_all
from .call_checks import refused
from .contracts import own_parameters_of
from .effects import (
    Ask,
    CallFailed,
    CallTool,
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
from .frames import AgentFrame, Begin, Frame, New, Outcome, Passed, Status
from .limits import Limits
from .limits_reached import time_is_up
from .messages import ConversationContext, empty_context
from .readings import frame_at, pending
from .requests import input_of, parameter_names_of
from .shared import Shared
from .state import State

Step: TypeAlias = tuple[State, tuple[Effect, ...]]

Given: TypeAlias = Union[str, Mapping[str, Any]]
"""What an agent or workflow is called with: a text for its only parameter, or the arguments."""


def start(
    program: ProgramLike,
    given: Given,
    context: ConversationContext = empty_context,
    *,
    agent: str | None = None,
    model: Model | None = None,
    limits: Limits = Limits(),
    policy: ApprovalPolicy = allow_all,
    settings: Mapping[str, Any] | None = None,
    check_results: bool = True,
    run_id: str = "",
) -> Step:
    """Begin a run: say something to an agent, or call an agent or a workflow with arguments.

    Args:
        program: a document, its patterns, or the pattern of an agent or workflow that is valid and
            has its references resolved.
        given: what the user says, which is the only parameter's, or the arguments by name; a text
            is not empty.
        context: the conversation before.
        agent: the name of the agent, where the program has several.
        model: the model to ask instead of the one the program names.
        limits: how much the run may do.
        policy: which tools it may run, and which it asks about.
        settings: settings instead of those that the program has; None as a value leaves one out.
        check_results: whether a tool's result has to be of the type that the program declares.
        run_id: a name for the run, see `State`.

    Raises:
        ValidationError: the pattern cannot be run, the text is empty or not well-formed, the
            arguments are not of the declared types, or a setting is wrong.
    """
    pattern = the_agent(program, agent, by="start")
    expect(given, (str, Mapping), "given", by="start")
    expect(context, ConversationContext, "context", by="start")
    expect(limits, Limits, "limits", by="start")
    state = first_state(
        pattern,
        given,
        context,
        model=model,
        limits=limits,
        policy=policy,
        settings=settings,
        check_results=check_results,
        run_id=run_id,
    )
    return state, pending(state)


def first_state(
    program: Pattern,
    given: Given,
    context: ConversationContext,
    *,
    model: Model | None,
    limits: Limits,
    policy: ApprovalPolicy,
    settings: Mapping[str, Any] | None,
    check_results: bool,
    run_id: str,
) -> State:
    """The State in which a run of a valid program begins; see `start`."""
    changes = checked_settings(settings) or pmap()
    shared = Shared(program, model, limits, policy, changes, check_results, run_id=run_id)
    return _begun(shared, Begin((), program, _input(program, given), context), [])


def _begun(shared: Shared, begin: Begin, ended: Endings) -> State:
    if is_agent(begin.pattern):  # what it asks is read of the State
        return State(shared, agent_frame.first_frame(shared, begin))
    shared, frame, _ = _settled(*form_of(begin.pattern).begin(shared, begin), ended)
    return State(shared, frame)


_is_declared: Callable[[Pattern], bool] = memo(
    lambda program: written_signature(program) is not None
)


def _input(pattern: Pattern, given: Given) -> Json:
    """What a program is begun with, if it is what it takes."""
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


def begun_with(state: State, program: Pattern, context: ConversationContext | None = None) -> State:
    """A State that a run began with, for another program with the same input.

    Args:
        state: the State.
        program: the program.
        context: the conversation before, instead of the one it had.
    """
    return _begun_again(state, program, context, [])


def endings_at_start(state: State) -> Endings:
    """What ended inside a run as soon as it began, those inside first; see `all_endings`.

    Of a State that is not the first of a run there are none.
    """
    expect(state, State, "state", by="endings_at_start")
    if isinstance(state.frame, AgentFrame):  # one begins nothing before its first reply
        return []
    ended: Endings = []
    again = _begun_again(state, state.shared.program, None, ended)
    return ended if again.frame == state.frame else []


def _begun_again(
    state: State, program: Pattern, context: ConversationContext | None, ended: Endings
) -> State:
    shared = evolve(state.shared, program=program)
    given = getattr(state.frame, "given", None)
    said = state.context[-1].content if given is None else given.value
    own = 2 if state.status is Status.DONE else 1  # its input, and its result if it has ended
    before = state.context[:-own] if context is None else context
    return _begun(shared, Begin((), program, said, before), ended)


def step(state: State, event: Event) -> Step:
    """Fold one event into the state; the effects are those that are new to do.

    After `Resumed` these are all that are still to do, since whoever resumes a run has nothing
    under way.

    Raises:
        ProtocolError: the event answers nothing that the state waits for.
    """
    expect(state, State, "state", by="step")
    return _stepped(state, event, [])


def step_with_endings(state: State, event: Event) -> tuple[State, tuple[Effect, ...], Endings]:
    """`step`, and with it what `all_endings` gives, folded once."""
    ended: Endings = []
    return (*_stepped(state, event, ended), ended)


def _stepped(state: State, event: Event, ended: Endings) -> Step:
    if isinstance(event, TimeUp | Resumed):
        return _whole_run(state, event, ended)
    if not isinstance(getattr(event, "at", None), tuple):
        raise ProtocolError(f"{event!r} answers nothing: it has no position")
    shared, frame, effects = _taken(state.shared, state.frame, event, ended)
    return State(shared, frame), () if shared.limit is not None else effects


def endings(state: State, event: Event) -> list[Ending]:
    """The frames inside a run that an event ends, and how, those inside first.

    Those that a workflow no longer waits for when it fails are not among them.

    Raises:
        ProtocolError: the event answers nothing that the state waits for.
    """
    return [each for each in all_endings(state, event) if not isinstance(each, Passed)]


def all_endings(state: State, event: Event) -> Endings:
    """The same with what has `Passed`."""
    expect(state, State, "state", by="endings")
    return step_with_endings(state, event)[2]


def fold(state: State, events: Iterable[Event]) -> State:
    """Fold some events into a state, one after another.

    Raises:
        ProtocolError: an event answers nothing that the state waits for by then.
    """
    expect(state, State, "state", by="fold")
    expect(events, Iterable, "events", by="fold")
    for event in events:
        state, _ = step(state, event)
    return state


def resume(state: State, limits: Limits | None = None) -> Step:
    """Go on from a state, past the limit it stopped at; see `Resumed` for what else may change."""
    expect(state, State, "state", by="resume")
    expect(limits, (Limits, type(None)), "limits", by="resume")
    return step(state, Resumed(limits))


# --- the tree of frames

Settled: TypeAlias = tuple[Shared, Frame, tuple[Effect, ...]]

Ending: TypeAlias = tuple[Frame, Outcome]
"""A frame that has ended, and how."""

Endings: TypeAlias = list[Union[Ending, Passed]]
"""What a step has ended, those inside first; each step adds to a list of its own."""


def _taken(shared: Shared, frame: Frame, event: Event, ended: Endings) -> Settled:
    """Hand an event to the frame that it is for, and what that gave to the frames around it."""
    inner = frame.inner(event.at)
    if inner is None:
        shared, frame, new = _transition(frame, event).take(shared, frame, event)
        return _settled(shared, frame, new, ended)
    shared, inner, effects = _taken(shared, inner, event, ended)
    return _placed(shared, frame, inner, effects, ended)


def _placed(
    shared: Shared, frame: Frame, inner: Frame, effects: tuple[Effect, ...], ended: Endings
) -> Settled:
    """Put a frame that went on in its place; where it has ended, take what it gave."""
    outcome = form_of_frame(inner).outcome(inner)
    if outcome is None:
        return shared, frame.with_inner(inner), effects
    ended.append((inner, outcome))
    shared, frame, new = form_of_frame(frame).inner_ended(shared, frame, inner.place, outcome)
    return _settled(shared, frame, new, ended)


def _settled(shared: Shared, frame: Frame, new: tuple[New, ...], ended: Endings) -> Settled:
    """Begin the frames that a step begins; what is left to do are effects.

    Of a frame that has ended nothing is left to do.
    """
    effects: list[Effect] = []
    left = deque(new)
    while left:
        each = left.popleft()
        if isinstance(each, Passed):
            ended.append(each)
            continue
        if not isinstance(each, Begin):
            effects.append(each)
            continue
        shared, inner, more = _settled(*form_of(each.pattern).begin(shared, each), ended)
        outcome = form_of_frame(inner).outcome(inner)
        if outcome is None:
            frame = frame.with_inner(inner)
            effects.extend(more)
            continue
        ended.append((inner, outcome))
        form = form_of_frame(frame)
        shared, frame, following = form.inner_ended(shared, frame, each.at, outcome)
        if form.outcome(frame) is not None:
            ended.extend(each for each in (*left, *following) if isinstance(each, Passed))
            return shared, frame, ()
        left.extendleft(reversed(following))
    return shared, frame, tuple(effects)


def _transition(frame: Frame, event: Event) -> Transition:
    transition = TRANSITIONS[frame.status].get(type(event))
    if transition is None:
        raise ProtocolError(f"{event!r} answers nothing: it is {frame.status.value}")
    return transition


# --- the whole run


def _whole_run(state: State, event: TimeUp | Resumed, ended: Endings) -> Step:
    """Take what is about the whole run: it stops, or goes on with changes."""
    if type(event) not in TRANSITIONS[state.status]:
        raise ProtocolError(f"{event!r} answers nothing: the run is {state.status.value}")
    if event.at != ():
        raise ProtocolError(f"{event!r} is at the wrong position: expected ()")
    shared = state.shared
    if isinstance(event, TimeUp):
        return State(evolve(shared, limit=time_is_up(shared.limits)), state.frame), ()
    given = {name: getattr(event, name) for name in ("limits", "model", "policy", "check_results")}
    changes = {name: value for name, value in given.items() if value is not None}
    if event.settings:
        changes["settings"] = shared.settings.update(event.settings)
    shared = evolve(shared, **changes, limit=None)
    for at in event.ask_about:
        found = frame_at(state, at).under_way(at)
        if not isinstance(found, CallTool):
            raise ProtocolError(f"{event!r} answers no CallTool at {at}")
    shared, frame = _gone_on(shared, state.frame, event, ended)
    after = State(shared, frame)
    return after, pending(after)


def _gone_on(shared: Shared, frame: Frame, event: Resumed, ended: Endings) -> tuple[Shared, Frame]:
    """Let a frame and all in it go on, those inside first."""
    for part in frame.parts:
        place = part.at if isinstance(part, CallTool | Ask) else part.place
        inner = frame.inner((*place, 0))
        if inner is not None:
            shared, inner = _gone_on(shared, inner, event, ended)
            shared, frame, _ = _placed(shared, frame, inner, (), ended)
    shared, frame, new = _transition(frame, event).take(shared, frame, event)
    shared, frame, _ = _settled(shared, frame, new, ended)
    return shared, frame


def _unchanged(shared: Shared, frame: Frame, _: Event) -> tuple[Shared, Frame, tuple[New, ...]]:
    return shared, frame, ()


@frozen
class Transition:
    """What an event does to a frame in a status.

    Attributes:
        take: the step it leads to.
        leads_to: the statuses that it may lead to.
    """

    take: Callable[[Shared, Any, Any], tuple[Shared, Any, tuple[New, ...]]]
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
        Resumed: Transition(_unchanged, (Status.AWAITING_MODEL,)),
    },
    Status.AWAITING_TOOLS: {
        ToolReturned: Transition(agent_frame.tool_returned, _TO_TOOLS_OR_MODEL),
        CallFailed: Transition(agent_frame.call_failed, _TO_TOOLS_OR_MODEL),
        Decided: Transition(agent_frame.decided, _TO_TOOLS_OR_MODEL),
        TimeUp: _STOP,
        Resumed: Transition(agent_frame.resumed, _TO_TOOLS_OR_MODEL),
    },
    Status.AWAITING_STEPS: {
        ToolReturned: Transition(workflow_frame.tool_answered, _TO_STEPS),
        CallFailed: Transition(workflow_frame.tool_answered, _TO_STEPS),
        Decided: Transition(workflow_frame.decided, _TO_STEPS),
        TimeUp: _STOP,
        Resumed: Transition(workflow_frame.resumed, _TO_STEPS),
    },
    Status.LIMITED: {
        Resumed: Transition(agent_frame.resumed, (*_TO_TOOLS_OR_MODEL, Status.LIMITED)),
    },
    Status.DONE: {Resumed: Transition(_unchanged, (Status.DONE,))},
    Status.UNUSABLE: {Resumed: Transition(_unchanged, (Status.UNUSABLE,))},
    Status.FAILED: {Resumed: Transition(_unchanged, (Status.FAILED,))},
}
"""What may follow what: in each status of a frame, the events that may come and what they lead to.
`TimeUp` and `Resumed` are about the whole run: they come to all of its frames."""
