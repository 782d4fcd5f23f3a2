"""The interpreter: a pure fold over what the world answers.

A run begins with `start` and goes from State to State by `step`, one event at a time. Both also
return the effects that are new to do; a driver performs these and feeds the events back. Whatever
changes a State is an event, what a caller changes when it resumes the run included, so a State is
always ``fold(start, events)``. Nothing here does I/O, reads a clock or draws a random number, and
nothing is compiled: at every turn the agent's pattern is read through lenses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from attrs import frozen
from pyrsistent import pmap

from gram import Pattern, expect
from lenses_ext import Model, ProgramLike

from ..errors import ProtocolError, ValidationError
from ..json_text import JsonText
from ..messages import (
    ConversationContext,
    Message,
    ToolInvocation,
    Usage,
    UserRole,
    empty_context,
)
from ..programs import the_agent
from .answers import answer_problem, correction
from .approval import ApprovalPolicy, allow_all
from .call_checks import FORBIDDEN, checked_call, checked_result, denied, not_run_again
from .effects import (
    Ask,
    At,
    CallFailed,
    CallTool,
    Decided,
    Effect,
    Event,
    ModelReplied,
    Resumed,
    TimeUp,
    ToolEffect,
    ToolReturned,
    checked_settings,
)
from .limits import Limits, limit_reached, time_is_up
from .readings import answer_schema_of, pending, told
from .state import State, Status

Step: TypeAlias = tuple[State, tuple[Effect, ...]]
_Waiting = TypeVar("_Waiting", CallTool, Ask)


def start(
    program: ProgramLike,
    text: str,
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
    """Begin a run: the user says ``text`` to an agent.

    Args:
        program: a document, its patterns, or the pattern of an agent that is valid and has its
            references resolved.
        text: what the user says; not empty.
        context: the conversation before.
        agent: the name of the agent, where the program has several.
        model: the model to ask instead of the one the program names.
        limits: how much the run may do.
        policy: which tools it may run, and which it asks about.
        settings: settings instead of those that the program has; None as a value leaves one out.
        check_results: whether a tool's result has to be of the type that the program declares.
        run_id: a name for the run, see `State`.

    Raises:
        ValidationError: the pattern cannot be run, the text is empty or not well-formed, or a
            setting is wrong.
    """
    pattern = the_agent(program, agent, by="start")
    expect(text, str, "text", by="start")
    expect(context, ConversationContext, "context", by="start")
    expect(limits, Limits, "limits", by="start")
    state = first_state(
        pattern,
        text,
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
    agent: Pattern,
    text: str,
    context: ConversationContext,
    *,
    model: Model | None,
    limits: Limits,
    policy: ApprovalPolicy,
    settings: Mapping[str, Any] | None,
    check_results: bool,
    run_id: str,
) -> State:
    """The State in which a run of a valid agent begins; see `start`."""
    if not text.strip():
        raise ValidationError("the user's message is empty")
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates, as for what was typed in another encoding
        raise ValidationError("the user's message is not UTF-8: no request can carry it") from None
    return State(
        agent,
        model,
        limits,
        context.append(Message(UserRole, text)),
        policy,
        settings=checked_settings(settings) or pmap(),
        check_results=check_results,
        run_id=run_id,
    )


def step(state: State, event: Event) -> Step:
    """Fold one event into the state; the effects are those that are new to do.

    After `Resumed` these are all that are still to do, since whoever resumes a run has nothing
    under way.

    Raises:
        ProtocolError: the event answers nothing that the state waits for.
    """
    expect(state, State, "state", by="step")
    transition = TRANSITIONS[state.status].get(type(event))
    if transition is None:
        raise ProtocolError(f"{event!r} answers nothing: the run is {state.status.value}")
    _expect_position(state, event)
    return transition.take(state, event)


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


def _expect_position(state: State, event: Event) -> None:
    if isinstance(event, TimeUp | Resumed):
        expected, place = event.at == (), "()"
    elif isinstance(event, ModelReplied):
        expected, place = event.at == state.at, str(state.at)
    else:
        in_turn = isinstance(event.at, tuple) and event.at[:-1] == state.at
        expected, place = in_turn, f"({state.turn}, the call's index)"
    if not expected:
        raise ProtocolError(f"{event!r} is at the wrong position: expected {place}")


def resume(state: State, limits: Limits | None = None) -> Step:
    """Go on from a state, past the limit it stopped at; see `Resumed` for what else may change."""
    expect(state, State, "state", by="resume")
    expect(limits, (Limits, type(None)), "limits", by="resume")
    return step(state, Resumed(limits))


def _resumed(state: State, event: Resumed) -> Step:
    """Make the changes; a run that stopped at a limit waits again for what it waited for."""
    given = {name: getattr(event, name) for name in ("limits", "model", "policy", "check_results")}
    changes = {name: value for name, value in given.items() if value is not None}
    if event.settings:
        changes["settings"] = state.settings.update(event.settings)
    state = state.changed(**changes) if changes else state
    if state.status is Status.LIMITED:
        state = state.changed(stopped=None)
        if state.calls and not state.waiting:
            return _call_tools(state)
        # Its time was up while it waited.
        status = Status.AWAITING_TOOLS if state.waiting else Status.AWAITING_MODEL
        state = state.changed(status=status)
    if event.policy is not None:
        for ask in state.asks:
            decision = event.policy.decide(ask.name, ask.args)
            if decision != "ask":
                state, _ = _decided(state, Decided(ask.at, decision == "allow", FORBIDDEN))
    for at in event.ask_about:
        call = _waiting(state, event, at, CallTool)
        ask = Ask(at, call.name, call.arguments, may_have_run=True)
        state = state.changed(waiting=state.waiting.set(at[-1], ask))
    return state, pending(state)


# --- the model has replied


def _model_replied(state: State, event: ModelReplied) -> Step:
    state = state.changed(
        context=state.context.append(event.message),
        usage=state.usage + event.usage,
        counted=state.counted + _known(event.usage),
        calls=event.message.tool_calls,
        truncated=event.truncated,
        status=Status.DONE,  # unless it calls tools, or is no answer
    )
    return _call_tools(state) if state.calls else _finished(state)


def _known(usage: Usage) -> Usage:
    return Usage(usage.input_tokens or 0, usage.output_tokens or 0)


def _finished(state: State) -> Step:
    """The reply is the answer: done, unless it is not of the type that the agent declares."""
    reply = state.context[-1]
    schema = None if reply.refused else answer_schema_of(state.agent)
    problem = None if schema is None else answer_problem(schema, reply.content)
    if schema is None or problem is None:
        return state, ()
    if state.truncated:
        problem = f"the reply was cut off at its length limit\n{problem}"
    if state.corrected:
        return state.changed(status=Status.UNUSABLE, stopped=problem), ()
    context = state.context.append(correction(schema, problem))
    status = Status.AWAITING_MODEL
    state = state.changed(status=status, turn=state.turn + 1, context=context, corrected=True)
    return state, pending(state)


def _call_tools(state: State) -> Step:
    """Ask for the calls of the last reply; those that cannot be run are answered at once."""
    if stopped := state.stopped or limit_reached(state):
        return _at_limit(state, stopped)
    asked = {index: checked_call(state, index, call) for index, call in enumerate(state.calls)}
    refused = {index: each for index, each in asked.items() if isinstance(each, ToolInvocation)}
    waiting = {index: each for index, each in asked.items() if not isinstance(each, ToolInvocation)}
    if not waiting:
        return _answered(state, refused)
    state = state.changed(
        status=Status.AWAITING_TOOLS, waiting=pmap(waiting), answers=pmap(refused)
    )
    return state, tuple(waiting.values())


def _at_limit(state: State, limit: str) -> Step:
    """Stop, or tell the model that its calls are not run and ask for an answer without tools."""
    if state.limits.on_limit == "raise" or state.stopped:
        return state.changed(status=Status.LIMITED, stopped=limit), ()
    error = f"not run: the run has reached {limit}; answer with what you have"
    refused = (ToolInvocation(call.name, call.arguments, error=error) for call in state.calls)
    return _answered(state.changed(stopped=limit), dict(enumerate(refused)))


# --- a tool has answered


def _tool_returned(state: State, event: ToolReturned) -> Step:
    call = _waiting(state, event, event.at, CallTool)
    return _with_answer(state, call, checked_result(state, call, JsonText.read(event.result)))


def _call_failed(state: State, event: CallFailed) -> Step:
    call = _waiting(state, event, event.at, CallTool)
    invocation = ToolInvocation.of_texts(
        call.name, call.arguments, error=event.error, exception=event.exception
    )
    return _with_answer(state, call, invocation)


def _decided(state: State, event: Decided) -> Step:
    ask = _waiting(state, event, event.at, Ask)
    if event.allowed:
        call = CallTool(ask.at, ask.name, ask.arguments)
        return state.changed(waiting=state.waiting.set(ask.at[-1], call)), (call,)
    error = not_run_again(event.reason) if ask.may_have_run else denied(event.reason)
    invocation = ToolInvocation.of_texts(ask.name, ask.arguments, error=error)
    return _with_answer(state, ask, invocation)


def _waiting(state: State, event: Event, at: At, kind: type[_Waiting]) -> _Waiting:
    found = state.waiting.get(at[-1]) if at and at[:-1] == state.at else None
    if not isinstance(found, kind):
        waiting = [state.waiting[index] for index in sorted(state.waiting)]
        raise ProtocolError(f"{event!r} answers no {kind.__name__}: waiting for {waiting}")
    return found


def _with_answer(state: State, call: ToolEffect, invocation: ToolInvocation) -> Step:
    index = call.at[-1]
    if len(state.waiting) == 1:
        return _answered(state, dict(state.answers.iteritems()) | {index: invocation})
    waiting, answers = state.waiting.remove(index), state.answers.set(index, invocation)
    return state.changed(waiting=waiting, answers=answers), ()


def _answered(state: State, answers: Mapping[int, ToolInvocation]) -> Step:
    """All calls of the turn are answered: tell the model, in the order of the calls."""
    invocations = [answers[index] for index in range(len(state.calls))]
    state = state.changed(
        status=Status.AWAITING_MODEL,
        turn=state.turn + 1,
        context=state.context + told(state.calls, answers),
        calls=(),
        waiting=pmap(),
        answers=pmap(),
        invocations=state.invocations.extend(invocations),
    )
    return state, pending(state)


def _time_up(state: State, _: TimeUp) -> Step:
    return state.changed(status=Status.LIMITED, stopped=time_is_up(state.limits)), ()


@frozen
class Transition:
    """What an event does in a status.

    Attributes:
        take: the step it leads to.
        leads_to: the statuses that it may lead to.
    """

    take: Callable[[State, Any], Step]
    leads_to: tuple[Status, ...]


_TO_TOOLS_OR_MODEL = (Status.AWAITING_TOOLS, Status.AWAITING_MODEL)
_STOP = Transition(_time_up, (Status.LIMITED,))

TRANSITIONS: Final[Mapping[Status, Mapping[type[Event], Transition]]] = {
    Status.AWAITING_MODEL: {
        ModelReplied: Transition(_model_replied, tuple(Status)),
        TimeUp: _STOP,
        Resumed: Transition(_resumed, (Status.AWAITING_MODEL,)),
    },
    Status.AWAITING_TOOLS: {
        ToolReturned: Transition(_tool_returned, _TO_TOOLS_OR_MODEL),
        CallFailed: Transition(_call_failed, _TO_TOOLS_OR_MODEL),
        Decided: Transition(_decided, _TO_TOOLS_OR_MODEL),
        TimeUp: _STOP,
        Resumed: Transition(_resumed, _TO_TOOLS_OR_MODEL),
    },
    Status.LIMITED: {
        Resumed: Transition(_resumed, (*_TO_TOOLS_OR_MODEL, Status.LIMITED)),
    },
    Status.DONE: {Resumed: Transition(_resumed, (Status.DONE,))},
    Status.UNUSABLE: {Resumed: Transition(_resumed, (Status.UNUSABLE,))},
}
"""What may follow what: in each status, the events that may come and what they lead to."""
