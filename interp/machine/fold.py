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
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from attrs import evolve
from pyrsistent import pmap

from gram import Pattern
from gram.errors import expect
from gram.words import counted
from lenses_ext import Model, ProgramLike
from lenses_ext.labels import AGENT, LOOP, WORKFLOW
from lenses_ext.language import tool_spec_of, written_signature
from lenses_ext.schemas import NotJson

from ..errors import ProtocolError, ValidationError
from ..files import File
from ..json_text import Json, write_json
from ..programs import the_agent
from . import effects
from .agent_step import AgentStep
from .approval import ApprovalPolicy, allow_all
from .contracts.values import own_parameters_of
from .effects import CostReached, Effect, Event, Resumed, TimeUp
from .frame_step import FrameStep, Happened, checked, frame_begun, frame_ended
from .messages import ConversationContext, Given, Message, conversation_of, empty_context, parts_of
from .readings import context_before, pending
from .requests import input_of, parameter_names_of
from .run_context import Limits, RunContext
from .state import Begin, Frame, State, Status
from .workflow_step import WorkflowStep, expect_readers

FORMS: Final[Mapping[str, type[FrameStep[Any]]]] = {
    AGENT: AgentStep,
    WORKFLOW: WorkflowStep,
    LOOP: WorkflowStep,
}
"""How what carries a label begins, and takes what comes: a new kind of pattern is a new row.

A tool has no frame: calling it is an effect."""


def _form_of(pattern: Pattern) -> type[FrameStep[Any]]:
    return next(FORMS[label] for label in sorted(pattern.value.labels) if label in FORMS)


class Step(NamedTuple):
    """The next State, the effects that are new to do, and what has happened, in order."""

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
    expect(given, (str, Mapping, Sequence), "given", by="start")
    given, attachments = parts_of(given)
    changes = effects.checked_settings(settings) or pmap()
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
    begin = Begin(pattern, taken, conversation_of(context, by="start"), attachments)
    happened: list[Happened] = []
    run, frame, _ = _settled(_form_of(pattern).begun(run, begin), happened)
    state = State(run, frame)
    return Step(state, pending(state), tuple(happened))


def start_again(
    state: State, program: Pattern | None = None, context: ConversationContext | None = None
) -> Step:
    """Begin a run as another began.

    Args:
        program: the program, instead of its own.
        context: the conversation before, instead of the one it had.

    Raises:
        ValidationError: the program does not take what the run was begun with.
    """
    first = state.beginning
    was, given = first.run, first.run.given.value
    names = ("model", "limits", "policy", "settings", "check_results", "run_id", "once")
    return start(
        was.program if program is None else program,
        [given, *was.attachments] if was.attachments else given,
        context_before(first) if context is None else context,
        **{name: getattr(was, name) for name in names},
    )


def _input(pattern: Pattern, given: str | Mapping[str, Any], attachments: tuple[File, ...]) -> Json:
    """What a program is begun with, if it is what it takes."""
    if attachments:
        expect_readers(pattern)
    if isinstance(given, str):
        if not given.strip():
            of_files = " but for its files: say what to do with them" if attachments else ""
            raise ValidationError(f"the user's message is empty{of_files}")
        try:
            given.encode()
        except UnicodeEncodeError:  # lone surrogates, as for what was typed in another encoding
            message = "the user's message is not UTF-8: no request can carry it"
            raise ValidationError(message) from None
        if written_signature(pattern) is None:
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
    parameters = own_parameters_of(tool_spec_of(pattern))
    return input_of(pattern, checked(pattern.value.identity, parameters, args))


def step(state: State, event: Event) -> Step:
    """Fold one event into the state; the effects are those that are new to do.

    After `Resumed` these are all that are still to do, since whoever resumes a run has nothing
    under way.

    Raises:
        ProtocolError: the event answers nothing that the state waits for.
    """
    at = getattr(event, "at", None)
    if not isinstance(at, tuple) or not all(isinstance(part, int | str) for part in at):
        raise ProtocolError(f"{event!r} answers nothing: it has no position")
    happened: list[Happened] = []
    fold_in = _whole_run if isinstance(event, TimeUp | CostReached | Resumed) else _taken
    run, frame, to_do = fold_in(state.run, state.frame, event, happened)
    after = State(run, frame, state.beginning, state.events.append(event))
    if isinstance(event, Resumed):
        to_do = pending(after)
    return Step(after, () if run.limit is not None else to_do, tuple(happened))


def fold(state: State, events: Iterable[Event]) -> State:
    """Fold some events into a state, one after another.

    Raises:
        ProtocolError: an event answers nothing that the state waits for by then.
    """
    for event in events:
        state = step(state, event).state
    return state


# --- the tree of frames

Settled: TypeAlias = tuple[RunContext, Frame, tuple[Effect, ...]]


def _taken(run: RunContext, frame: Frame, event: Event, happened: list[Happened]) -> Settled:
    """Hand an event to the frame that it is for, and what that gave to the frames around it."""
    inner = frame.inner(event.at)
    if inner is None:
        return _settled(_stepped(run, frame, event), happened)
    around = _form_of(frame.pattern)(run, frame)
    to_do = _placed(around, _taken(run, inner, event, happened), happened)
    return _settled(around, happened, to_do)


def _stepped(run: RunContext, frame: Frame, event: Event) -> FrameStep[Any]:
    take = TRANSITIONS[frame.status].get(type(event))
    if take is None:
        raise ProtocolError(f"{event!r} answers nothing: it is {frame.status.value}")
    made = _form_of(frame.pattern)(run, frame)
    take(made, event)
    return made


def _settled(
    made: FrameStep[Any], happened: list[Happened], inside: Iterable[Effect] = ()
) -> Settled:
    """Begin the frames that a step begins; what is left to do are effects.

    Of a frame that has ended nothing is left to do.
    """
    to_do = [*inside]
    while made.new:
        each = made.new.popleft()
        if isinstance(each, Happened):
            happened.append(each)
        elif made.frame.has_ended:
            continue
        elif isinstance(each, Begin):
            begun = _form_of(each.pattern).begun(made.run, each)
            happened.append(frame_begun(made.frame, begun.frame))
            to_do += _placed(made, _settled(begun, happened), happened)
        else:
            to_do.append(each)
    return made.run, made.frame, () if made.frame.has_ended else tuple(to_do)


def _placed(
    around: FrameStep[Any], settled: Settled, happened: list[Happened]
) -> tuple[Effect, ...]:
    """Put a frame that went on in its place; where it has ended, take what it gave."""
    around.run, inner, to_do = settled
    if not inner.has_ended or inner.call is None:
        around.put(inner.place, inner)
        return to_do
    outcome = _form_of(inner.pattern)(around.run, inner).outcome()
    happened.append(frame_ended(around.frame, inner, outcome))
    left, around.new = around.new, deque()
    around.inner_ended(inner.call, outcome)
    if around.frame.has_ended:
        around.new.extendleft(reversed(left))
    else:
        around.new.extend(left)
    return ()


# --- the whole run


def _whole_run(run: RunContext, frame: Frame, event: Any, happened: list[Happened]) -> Settled:
    """Take what is about the whole run: it stops here, or all frames go on."""
    status = Status.LIMITED if run.limit is not None else frame.status
    if type(event) not in TRANSITIONS[status]:
        raise ProtocolError(f"{event!r} answers nothing: the run is {status.value}")
    if event.at != ():
        raise ProtocolError(f"{event!r} is at the wrong position: expected ()")
    if isinstance(event, TimeUp):
        seconds = counted(run.limits.run_seconds or 0, "second")
        return evolve(run, limit=f"{seconds} (limit: run_seconds)"), frame, ()
    if isinstance(event, CostReached):
        return evolve(run, limit=run.cost_is_reached(event.expected)), frame, ()
    given = {name: getattr(event, name) for name in ("limits", "model", "policy", "check_results")}
    changes = {name: value for name, value in given.items() if value is not None}
    if event.settings:
        changes["settings"] = run.settings.update(event.settings)
    return _gone_on(evolve(run, **changes, limit=None), frame, event, happened)


def _gone_on(run: RunContext, frame: Frame, event: Resumed, happened: list[Happened]) -> Settled:
    """Let a frame and all in it go on, those inside first."""
    for place in frame.in_order(frame.waiting):
        inner = frame.waiting.get(place)
        if isinstance(inner, Frame):
            around = _form_of(frame.pattern)(run, frame)
            _placed(around, _gone_on(run, inner, event, happened), happened)
            run, frame, _ = _settled(around, happened)
    return _settled(_stepped(run, frame, event), happened)


_Row: TypeAlias = Mapping[type[Event], Callable[[Any, Any], None]]

_AWAITING: Final[_Row] = {
    effects.CallBegun: FrameStep.call_begun,
    effects.ToolReturned: FrameStep.tool_answered,
    effects.CallFailed: FrameStep.tool_answered,
    effects.Decided: FrameStep.decided,
    TimeUp: FrameStep.unchanged,
    CostReached: FrameStep.unchanged,
    Resumed: FrameStep.resumed,
}

TRANSITIONS: Final[Mapping[Status, _Row]] = {
    Status.AWAITING_MODEL: {
        effects.ModelReplied: AgentStep.model_replied,
        TimeUp: FrameStep.unchanged,
        CostReached: FrameStep.unchanged,
        Resumed: FrameStep.unchanged,
    },
    Status.AWAITING_TOOLS: _AWAITING,
    Status.AWAITING_STEPS: _AWAITING,
    Status.LIMITED: {Resumed: FrameStep.resumed},
    Status.DONE: {Resumed: FrameStep.unchanged},
    Status.UNUSABLE: {Resumed: FrameStep.unchanged},
    Status.FAILED: {Resumed: FrameStep.unchanged},
}
"""What may follow what: in each status of a frame, the events that may come and what takes them.
`TimeUp`, `CostReached` and `Resumed` are about the whole run: they come to all of its frames."""
