"""What can be read of a State: what it waits for, what has been said, what it answers."""

from __future__ import annotations

from collections.abc import Iterator

from lenses_ext import workflow_of

from ..json_text import json_or_text, write_json
from .agent_frame import told
from .calls import INTERRUPTED, effects_of, frame_begun
from .effects import Ask, At, CallModel, CallTool, Effect
from .frames import AgentFrame, Frame, Status, WorkflowFrame
from .happened import FrameBegun
from .messages import AgentResponse, ConversationContext, ToolInvocation
from .requests import answer_of, is_text_answer
from .state import State


def pending(state: State, *, past_limit: bool = False) -> tuple[Effect, ...]:
    """The effects that a state still needs, such as after it was loaded to go on.

    Args:
        state: the state.
        past_limit: also those that a run at a limit needs once it goes on past it.
    """
    if state.status is Status.LIMITED and not past_limit:
        return ()
    return tuple(effects_of(state.run, state.frame))


def waits_for(state: State, effect: Effect) -> bool:
    """Whether the answer to an effect is still waited for.

    It is not when a workflow has failed meanwhile that the effect was a part of.
    """
    frame = frame_at(state, effect.at)
    if isinstance(effect, CallModel):
        is_asked = isinstance(frame, AgentFrame) and frame.status is Status.AWAITING_MODEL
        return is_asked and frame.at == effect.at
    return type(frame.under_way(effect.at)) is type(effect)


def is_of_plain_agent(at: At) -> bool:
    """Whether a position is that of a request or a call of an outermost agent."""
    return len(at) < 3 and type(at[0]) is type(at[-1]) is int


def says_result(state: State, at: At) -> bool:
    """Whether what a model says at a position is what the run gives, unless it calls tools.

    It is where the outermost agent speaks, or one that is a step whose text is the result. In a
    loop nobody knows which round is the last.
    """
    frame: Frame | None = state.frame
    while isinstance(frame, WorkflowFrame):
        node, flow = frame.node_at(at), workflow_of(frame.workflow)
        arrows = flow.result.arrows
        if node is None or frame.is_loop or flow.result.is_record or frame.live[node[0]].is_each:
            return False
        if not any(each.source == node[0] and not each.is_choice for each in arrows):
            return False
        frame = frame.inner(at)
        if isinstance(frame, AgentFrame) and answer_of(frame.agent) is not None:
            return False
    if not isinstance(frame, AgentFrame) or frame.summarising:
        return False
    return len(at) - len(frame.place) in (1, 2)


def frame_at(state: State, at: At) -> Frame:
    """The innermost frame that a position is in."""
    frame = state.frame
    while (inner := frame.inner(at)) is not None:
        frame = inner
    return frame


def path_of_names(state: State, at: At) -> tuple[str, ...]:
    """Who acts at a position, by its place in the program: names from the outermost on.

    Turns, rounds and items of lists are no part of it. An agent inside is named as it was called, a
    step as its node. Who speaks there under another name, such as after a handover, comes last.
    """
    frame = state.frame
    names = [state.agent.value.identity]
    while (inner := frame.inner(at)) is not None:
        if isinstance(frame, WorkflowFrame):
            names.append(frame.node_of(at)[0])
        else:
            names.append(frame.call_at(inner.place).name)
        frame = inner
    return tuple(names) if frame.name == names[-1] else (*names, frame.name)


def response(state: State) -> AgentResponse:
    """What a finished run gives."""
    last, frame = state.context[-1], state.frame
    if isinstance(frame, AgentFrame):
        is_typed = answer_of(frame.agent) is not None and not last.refused
        is_text = is_typed and is_text_answer(frame.agent)
    else:
        is_typed = frame.result is not None and frame.result != write_json(last.content)
        is_text = False
    return AgentResponse(
        content=last.content,
        tools_used=state.tools_used,
        context=state.context,
        usage=state.usage,
        is_typed=is_typed,
        is_text=is_text,
        truncated=isinstance(frame, AgentFrame) and frame.truncated,
        unfinished=isinstance(frame, WorkflowFrame) and frame.unfinished,
    )


def context_before(state: State) -> ConversationContext:
    """The conversation that a run was begun with, without what it was given."""
    first = state.beginning
    own = 2 if first.status is Status.DONE else 1  # its input, and its result if it has ended
    return first.context[:-own]


def interrupted_context(state: State) -> ConversationContext:
    """The conversation of a run that did not end, such that it can go on with another message.

    Calls that have no answer yet are answered by an error which says that they were interrupted.
    """
    frame = state.frame
    if not isinstance(frame, AgentFrame) or not frame.calls:
        return frame.context
    unanswered = (
        ToolInvocation(call.name, json_or_text(call.arguments), error=INTERRUPTED)
        for call in frame.calls
    )
    answers = dict(enumerate(unanswered)) | dict(frame.answers)
    return frame.context + told(frame.calls, answers)


def frames_inside(state: State) -> Iterator[FrameBegun]:
    """The agents and workflows inside a run that have begun and not ended, those around first."""
    yield from _inside(state.frame)


def _inside(frame: Frame) -> Iterator[FrameBegun]:
    for part in frame.parts:
        if not isinstance(part, CallTool | Ask):
            yield frame_begun(frame, part)
            yield from _inside(part)
