"""What can be read of a State: what it waits for, what has been said, what it answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from gram import expect
from lenses_ext import (
    Memo,
    agent_answer,
    agent_answer_schema,
    agent_instruction,
    agent_model,
    view,
)

from ..messages import (
    AgentResponse,
    ConversationContext,
    FunctionRole,
    Message,
    ToolCall,
    ToolInvocation,
)
from .call_checks import INTERRUPTED
from .effects import At, CallModel, Effect, Request
from .forms import offered_tools
from .state import State, Status


def pending(state: State) -> tuple[Effect, ...]:
    """The effects that a state still needs, such as after it was loaded to go on."""
    expect(state, State, "state", by="pending")
    if state.status is Status.AWAITING_MODEL:
        return (CallModel(state.at, _request(state)),)
    if state.status is Status.AWAITING_TOOLS:
        return tuple(state.waiting[index] for index in sorted(state.waiting))
    return ()


def _request(state: State) -> Request:
    agent = state.agent
    return Request(
        model=state.model or _model(agent),
        instruction=_instruction(agent),
        messages=state.context,
        tools=() if state.stopped else offered_tools(agent),
        settings=state.model_settings,
        answer=_answer(agent),
    )


# What is read of an agent at every turn is read once for each agent.
_instruction = Memo(partial(view, agent_instruction))
_model = Memo(partial(view, agent_model))
_answer = Memo(partial(view, agent_answer))
answer_schema_of = Memo(partial(view, agent_answer_schema))


def response(state: State) -> AgentResponse:
    """What a finished run gives."""
    expect(state, State, "state", by="response")
    return AgentResponse(
        content=state.context[-1].content,
        tools_used=tuple(state.invocations),
        context=state.context,
        usage=state.usage,
        is_typed=_answer(state.agent) is not None and not state.context[-1].refused,
        truncated=state.truncated,
    )


def interrupted_context(state: State) -> ConversationContext:
    """The conversation of a run that did not end, such that it can go on with another message.

    Calls that have no answer yet are answered by an error which says that they were interrupted.
    """
    expect(state, State, "state", by="interrupted_context")
    if not state.calls:
        return state.context
    unanswered = (
        ToolInvocation(call.name, call.arguments, error=INTERRUPTED) for call in state.calls
    )
    answers = dict(enumerate(unanswered)) | dict(state.answers)
    return state.context + told(state.calls, answers)


def told(calls: tuple[ToolCall, ...], answers: Mapping[int, ToolInvocation]) -> Iterator[Message]:
    """The messages that tell a model how its calls were answered, in the order of the calls."""
    for index, call in enumerate(calls):
        answer = answers[index]
        yield Message(FunctionRole(answer.tool_name), _answer_text(answer), call_id=call.id)


def _answer_text(invocation: ToolInvocation) -> str:
    """What the model is told: a text as it is, other results as JSON, an error after its word."""
    if invocation.error is not None:
        return f"error: {invocation.error}"
    text = invocation.result_text
    assert text is not None
    result: str = text.value if text.startswith('"') else str(text)
    return result


def newly_answered(before: State, after: State) -> Iterator[tuple[At, ToolInvocation]]:
    """The calls that a step has answered, with their positions.

    Their tools did, or they are not to be run: refused, denied or over a limit.
    """
    if after.turn == before.turn:
        answers: Mapping[int, ToolInvocation] = after.answers
    else:
        answers = dict(enumerate(after.invocations[len(before.invocations) :]))
    for index in sorted(answers):
        if index not in before.answers:
            yield (*before.at, index), answers[index]
