"""The interpreter: a pure fold over what the world answers.

``start`` and ``step`` give the next state and the effects it needs; a driver performs these and
feeds the events back. Nothing here does I/O, reads a clock or draws a random number, and nothing
is compiled: at every turn the agent's pattern is read through lenses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from attrs import evolve
from pyrsistent import PMap, pmap

from gram import Pattern, Value
from lenses_ext import (
    Model,
    SettingError,
    Settings,
    agent_answer,
    agent_answer_schema,
    agent_instruction,
    agent_model,
    view,
)

from .answers import answer_problem, correction
from .approval import ApprovalPolicy, allow_all
from .call_checks import checked_call, checked_result, denied
from .effects import (
    Ask,
    CallFailed,
    CallModel,
    CallTool,
    Decided,
    Effect,
    Event,
    ModelReplied,
    Request,
    TimeUp,
    ToolEffect,
    ToolReturned,
)
from .errors import ProtocolError, ValidationError
from .forms import form_of, offered_tools
from .json_text import read_json, write_json
from .limits import Limits, limit_reached, time_is_up
from .messages import (
    AgentResponse,
    ConversationContext,
    FunctionRole,
    Message,
    ToolInvocation,
    UserRole,
    empty_context,
)
from .state import State, Status

Step: TypeAlias = tuple[State, tuple[Effect, ...]]
_Waiting = TypeVar("_Waiting", CallTool, Ask)


def start(
    agent: Pattern,
    text: str,
    context: ConversationContext = empty_context,
    *,
    model: Model | None = None,
    limits: Limits = Limits(),
    policy: ApprovalPolicy = allow_all,
    settings: Mapping[str, Any] | None = None,
    check_results: bool = True,
) -> Step:
    """Begin a run: the user says ``text`` to an agent.

    Args:
        agent: a valid agent with its references resolved.
        text: what the user says; not empty.
        context: the conversation before.
        model: the model to ask instead of the one the program names.
        limits: how much the run may do.
        policy: which tools it may run, and which it asks about.
        settings: settings instead of those that the program has; None as a value leaves one out.
        check_results: whether a tool's result has to be of the type that the program declares.

    Raises:
        ValidationError: the pattern cannot be run, the text is empty or not well-formed, or a
            setting is wrong.
    """
    if not form_of(agent).runs:
        raise ValidationError("only an Agent can be run")
    if not text.strip():
        raise ValidationError("the user's message is empty")
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates, as for what was typed in another encoding
        raise ValidationError("the user's message is not UTF-8: no request can carry it") from None
    said = context.append(Message(UserRole, text))
    state = State(
        agent,
        model,
        limits,
        said,
        policy,
        settings=_changes(settings or {}),
        check_results=check_results,
    )
    return state, pending(state)


def _changes(settings: Mapping[str, Any]) -> PMap[str, Value | None]:
    """Settings as a State keeps them: checked, immutable, None for those to leave out."""
    try:
        given = Settings().with_changes(settings)
    except SettingError as error:
        raise ValidationError(str(error)) from None
    return pmap({key: given.get(key) for key in settings})


def step(state: State, event: Event) -> Step:
    """Fold one answer into the state.

    Raises:
        ProtocolError: the event answers nothing that the state waits for.
    """
    transition = TRANSITIONS[state.status].get(type(event))
    if transition is None or event.turn != state.turn:
        raise ProtocolError(f"{event!r} answers nothing: the run is {state.status.value}")
    return transition(state, event)


def pending(state: State) -> tuple[Effect, ...]:
    """The effects that a state still needs, such as after it was loaded to go on."""
    if state.status is Status.AWAITING_MODEL:
        return (CallModel(state.turn, _request(state)),)
    if state.status is Status.AWAITING_TOOLS:
        return tuple(state.waiting[index] for index in sorted(state.waiting))
    return ()


def resume(state: State, limits: Limits | None = None) -> Step:
    """Go on from a state: with other limits where they are given, past the one it stopped at."""
    if limits:
        state = evolve(state, limits=limits)
    if state.status is not Status.LIMITED:
        return state, pending(state)
    state = evolve(state, stopped=None)
    if state.waiting:  # its time was up while tools were running
        state = evolve(state, status=Status.AWAITING_TOOLS)
    elif state.calls:
        return _call_tools(state)
    else:
        state = evolve(state, status=Status.AWAITING_MODEL)
    return state, pending(state)


def response(state: State) -> AgentResponse:
    """What a finished run gives."""
    return AgentResponse(
        content=state.context[-1].content,
        tools_used=tuple(state.invocations),
        context=state.context,
        usage=state.usage,
        is_typed=view(agent_answer, state.agent) is not None and not state.context[-1].refused,
    )


# --- the model has replied


def _model_replied(state: State, event: ModelReplied) -> Step:
    state = evolve(
        state,
        context=state.context.append(event.message),
        usage=state.usage + event.usage,
        calls=event.message.tool_calls,
        truncated=event.truncated,
    )
    return _call_tools(state) if state.calls else _finished(state)


def _finished(state: State) -> Step:
    """The reply is the answer: done, unless it is not of the type that the agent declares."""
    reply = state.context[-1]
    schema = None if reply.refused else view(agent_answer_schema, state.agent)
    problem = None if schema is None else answer_problem(schema, reply.content)
    if schema is None or problem is None:
        return evolve(state, status=Status.DONE), ()
    if state.corrected:
        return evolve(state, status=Status.UNUSABLE, stopped=problem), ()
    context = state.context.append(correction(schema, problem))
    state = evolve(state, turn=state.turn + 1, context=context, corrected=True)
    return state, pending(state)


def _call_tools(state: State) -> Step:
    """Ask for the calls of the last reply; those that cannot be run are answered at once."""
    if stopped := state.stopped or limit_reached(state):
        return _at_limit(state, stopped)
    asked = {index: checked_call(state, index, call) for index, call in enumerate(state.calls)}
    refused = {index: each for index, each in asked.items() if isinstance(each, ToolInvocation)}
    waiting = {index: each for index, each in asked.items() if not isinstance(each, ToolInvocation)}
    state = evolve(
        state, status=Status.AWAITING_TOOLS, waiting=pmap(waiting), answers=pmap(refused)
    )
    return (state, pending(state)) if waiting else _answered(state)


def _at_limit(state: State, limit: str) -> Step:
    """Stop, or tell the model that its calls are not run and ask for an answer without tools."""
    if state.limits.on_limit == "raise" or state.stopped:
        return evolve(state, status=Status.LIMITED, stopped=limit), ()
    error = f"not run: the run has reached {limit}; answer with what you have"
    refused = (ToolInvocation(call.name, call.arguments, error=error) for call in state.calls)
    return _answered(evolve(state, stopped=limit, answers=pmap(enumerate(refused))))


# --- a tool has answered


def _tool_returned(state: State, event: ToolReturned) -> Step:
    call = _waiting(state, event.index, CallTool)
    return _with_answer(state, call, checked_result(state, call, read_json(event.result)))


def _call_failed(state: State, event: CallFailed) -> Step:
    call = _waiting(state, event.index, CallTool)
    return _with_answer(state, call, ToolInvocation(call.name, call.args, error=event.error))


def _decided(state: State, event: Decided) -> Step:
    ask = _waiting(state, event.index, Ask)
    if event.allowed:
        call = CallTool(ask.turn, ask.index, ask.name, ask.arguments)
        return evolve(state, waiting=state.waiting.set(ask.index, call)), (call,)
    invocation = ToolInvocation(ask.name, ask.args, error=denied(event.reason))
    return _with_answer(state, ask, invocation)


def _waiting(state: State, index: int, kind: type[_Waiting]) -> _Waiting:
    found = state.waiting.get(index)
    if not isinstance(found, kind):
        waiting = [state.waiting[index] for index in sorted(state.waiting)]
        raise ProtocolError(f"no {kind.__name__} {index} is waited for; waiting for {waiting}")
    return found


def _with_answer(state: State, call: ToolEffect, invocation: ToolInvocation) -> Step:
    state = evolve(
        state,
        waiting=state.waiting.remove(call.index),
        answers=state.answers.set(call.index, invocation),
    )
    return (state, ()) if state.waiting else _answered(state)


def _answered(state: State) -> Step:
    """All calls of the turn are answered: tell the model, in the order of the calls."""
    invocations = [state.answers[index] for index in range(len(state.calls))]
    results = (
        Message(FunctionRole(invocation.tool_name), answer_text(invocation), call_id=call.id)
        for call, invocation in zip(state.calls, invocations, strict=True)
    )
    state = evolve(
        state,
        status=Status.AWAITING_MODEL,
        turn=state.turn + 1,
        context=state.context + results,
        calls=(),
        answers=pmap(),
        invocations=state.invocations.extend(invocations),
    )
    return state, pending(state)


def _time_up(state: State, _: TimeUp) -> Step:
    return evolve(state, status=Status.LIMITED, stopped=time_is_up(state.limits)), ()


def answer_text(invocation: ToolInvocation) -> str:
    """What the model is told: a text as it is, other results as JSON, an error after its word."""
    if invocation.error is not None:
        return f"error: {invocation.error}"
    result = invocation.result
    return result if isinstance(result, str) else write_json(result)


def _request(state: State) -> Request:
    agent = state.agent
    return Request(
        model=state.model or view(agent_model, agent),
        instruction=view(agent_instruction, agent),
        messages=state.context,
        tools=() if state.stopped else offered_tools(agent),
        settings=state.model_settings,
        answer=view(agent_answer, agent),
    )


TRANSITIONS: Final[Mapping[Status, Mapping[type[Event], Callable[[State, Any], Step]]]] = {
    Status.AWAITING_MODEL: {ModelReplied: _model_replied, TimeUp: _time_up},
    Status.AWAITING_TOOLS: {
        ToolReturned: _tool_returned,
        CallFailed: _call_failed,
        Decided: _decided,
        TimeUp: _time_up,
    },
    Status.DONE: {},
    Status.LIMITED: {},
    Status.UNUSABLE: {},
}
"""What may follow what: in each status, the events that answer it and what they lead to."""
