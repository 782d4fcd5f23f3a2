"""The interpreter: a pure fold over what the world answers.

``start`` and ``step`` give the next state and the effects it needs; a driver performs these and
feeds the events back. Nothing here does I/O, reads a clock or draws a random number, and nothing
is compiled: at every turn the agent's pattern is read through lenses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

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
    agent_settings,
    tool_spec_name,
    view,
    wire_name,
)

from .answers import answer_problem, correction
from .arguments import parameters_of, read_arguments
from .effects import (
    CallFailed,
    CallModel,
    CallTool,
    Effect,
    Event,
    ModelReplied,
    Request,
    ToolReturned,
)
from .errors import ProtocolError, ValidationError
from .forms import form_of, offered_tools
from .json_text import read_json, write_json
from .limits import Limits
from .messages import (
    AgentResponse,
    ConversationContext,
    FunctionRole,
    Message,
    ToolCall,
    ToolInvocation,
    UserRole,
    empty_context,
)
from .state import State, Status

_CUT_OFF = "the reply was cut off at its length limit, so this call may be incomplete: not run"

Step: TypeAlias = tuple[State, tuple[Effect, ...]]


def start(
    agent: Pattern,
    text: str,
    context: ConversationContext = empty_context,
    *,
    model: Model | None = None,
    limits: Limits = Limits(),
    settings: Mapping[str, Any] | None = None,
) -> Step:
    """Begin a run: the user says ``text`` to an agent.

    Args:
        agent: a valid agent with its references resolved.
        text: what the user says; not empty.
        context: the conversation before.
        model: the model to ask instead of the one the program names.
        limits: how much the run may do.
        settings: settings instead of those that the program has; None as a value leaves one out.

    Raises:
        ValidationError: the pattern cannot be run, the text is empty, or a setting is wrong.
    """
    if not form_of(agent).runs:
        raise ValidationError("only an Agent can be run")
    if not text.strip():
        raise ValidationError("the user's message is empty")
    said = context.append(Message(UserRole, text))
    state = State(agent, model, limits, said, settings=_changes(settings or {}))
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
    return tuple(state.waiting[index] for index in sorted(state.waiting))


def resume(state: State, limits: Limits | None = None) -> Step:
    """Go on from a state: with other limits where one is given, past the one it stopped at."""
    state = evolve(state, limits=limits or state.limits, stopped=None)
    return _call_tools(state) if state.status is Status.LIMITED else (state, pending(state))


def response(state: State) -> AgentResponse:
    """What a finished run gives."""
    return AgentResponse(
        content=state.context[-1].content,
        tools_used=tuple(iter(state.invocations)),
        context=state.context,
        usage=state.usage,
        is_typed=view(agent_answer, state.agent) is not None,
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
    schema = view(agent_answer_schema, state.agent)
    problem = None if schema is None else answer_problem(schema, state.context[-1].content)
    if schema is None or problem is None:
        return evolve(state, status=Status.DONE), ()
    if state.corrected:
        return evolve(state, status=Status.UNUSABLE, stopped=problem), ()
    context = state.context.append(correction(schema, problem))
    state = evolve(state, turn=state.turn + 1, context=context, corrected=True)
    return state, pending(state)


def _call_tools(state: State) -> Step:
    """Ask for the calls of the last reply; those that cannot be run are answered at once."""
    if stopped := _limit_reached(state):
        return evolve(state, status=Status.LIMITED, stopped=stopped), ()
    asked = [_checked(state, index, call) for index, call in enumerate(state.calls)]
    waiting = {index: each for index, each in enumerate(asked) if isinstance(each, CallTool)}
    refused = {index: each for index, each in enumerate(asked) if isinstance(each, ToolInvocation)}
    state = evolve(
        state, status=Status.AWAITING_TOOLS, waiting=pmap(waiting), answers=pmap(refused)
    )
    return (state, pending(state)) if waiting else _answered(state)


def _limit_reached(state: State) -> str | None:
    limits = state.limits
    if state.turn >= limits.iterations:
        return f"{limits.iterations} rounds of tool calls (limit: iterations)"
    if len(state.invocations) + len(state.calls) > limits.tool_calls:
        return f"{limits.tool_calls} tool calls (limit: tool_calls)"
    return None


def _checked(state: State, index: int, call: ToolCall) -> CallTool | ToolInvocation:
    """The effect of a call, or the invocation that tells the model what is wrong with it."""
    if state.truncated:
        return ToolInvocation(call.name, call.arguments, error=_CUT_OFF)
    tools = {wire_name(view(tool_spec_name, tool)): tool for tool in offered_tools(state.agent)}
    tool = tools.get(wire_name(call.name))
    if tool is None:
        known = ", ".join(sorted(tools)) or "none"
        error = f'there is no tool "{call.name}"; the tools are: {known}'
        return ToolInvocation(call.name, call.arguments, error=error)
    name = view(tool_spec_name, tool)
    try:
        given = read_arguments(name, call.arguments)
    except ValidationError as error:
        return ToolInvocation(name, call.arguments, error=str(error))
    try:
        args = parameters_of(tool).checked(given)
    except ValidationError as error:
        return ToolInvocation(name, given, error=f'arguments of "{name}" are refused:\n{error}')
    return CallTool(state.turn, index, name, write_json(args))


# --- a tool has answered


def _tool_returned(state: State, event: ToolReturned) -> Step:
    call = _waiting(state, event.index)
    return _with_answer(state, call, ToolInvocation(call.name, call.args, read_json(event.result)))


def _call_failed(state: State, event: CallFailed) -> Step:
    call = _waiting(state, event.index)
    return _with_answer(state, call, ToolInvocation(call.name, call.args, error=event.error))


def _waiting(state: State, index: int) -> CallTool:
    if index not in state.waiting:
        raise ProtocolError(f"call {index} is not waited for; waiting for {sorted(state.waiting)}")
    return state.waiting[index]


def _with_answer(state: State, call: CallTool, invocation: ToolInvocation) -> Step:
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
        tools=offered_tools(agent),
        settings=(view(agent_settings, agent) or Settings()).with_changes(state.settings),
        answer=view(agent_answer, agent),
    )


TRANSITIONS: Final[Mapping[Status, Mapping[type[Event], Callable[[State, Any], Step]]]] = {
    Status.AWAITING_MODEL: {ModelReplied: _model_replied},
    Status.AWAITING_TOOLS: {ToolReturned: _tool_returned, CallFailed: _call_failed},
    Status.DONE: {},
    Status.LIMITED: {},
    Status.UNUSABLE: {},
}
"""What may follow what: in each status, the events that answer it and what they lead to."""
