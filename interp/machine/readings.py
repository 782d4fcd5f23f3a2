"""What can be read of a State: what it waits for, what has been said, what it answers."""

from __future__ import annotations

from collections.abc import Iterator

from lenses_ext import workflow_of

from ..json_text import write_json
from .agent_step import refusal, told
from .effects import At, CallModel, Effect
from .frame_step import INTERRUPTED, AgentStarted, effects_of, frame_begun
from .messages import AgentResponse, ConversationContext
from .requests import answer_of, is_text_answer
from .state import AgentFrame, Frame, State, Status, WorkflowFrame


def pending(state: State, *, past_limit: bool = False) -> tuple[Effect, ...]:
    """The effects that a state still needs, such as after it was loaded to go on.

    Args:
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


def says_result(state: State, at: At) -> bool:
    """Whether what a model says at a position is what the run gives, unless it calls tools.

    It is where the outermost agent speaks, or one that is a step whose text is the result. In a
    loop nobody knows which round is the last.
    """
    frame = state.frame
    while isinstance(frame, WorkflowFrame):
        inner, result = frame.inner(at), workflow_of(frame.pattern).result
        if inner is None or frame.is_loop or result.is_record:
            return False
        node = frame.node_of(at)
        if frame.live[node].is_each:
            return False
        if not any(each.source == node and not each.is_choice for each in result.arrows):
            return False
        if isinstance(inner, AgentFrame) and answer_of(inner.pattern) is not None:
            return False
        frame = inner
    if not isinstance(frame, AgentFrame) or frame.summarising:
        return False
    return len(at) - len(frame.place) in (1, 2)


def streams_result(state: State, at: At) -> bool:
    """Whether what a model says at a position may be shown word by word, see `says_result`.

    An answer of a declared type is shown when it is known to be of that type.
    """
    if not says_result(state, at):
        return False
    frame = frame_at(state, at)
    return isinstance(frame, AgentFrame) and answer_of(frame.pattern) is None


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
    while (inner := frame.inner(at)) is not None and inner.call is not None:
        names.append(inner.call.name)
        frame = inner
    return tuple(names) if frame.name == names[-1] else (*names, frame.name)


def response(state: State) -> AgentResponse:
    """What a finished run gives."""
    last, frame = state.context[-1], state.frame
    is_typed = is_text = False
    if isinstance(frame, AgentFrame):
        is_typed = answer_of(frame.pattern) is not None and not last.refused
        is_text = is_typed and is_text_answer(frame.pattern)
    elif isinstance(frame, WorkflowFrame):
        is_typed = frame.result is not None and frame.result != write_json(last.content)
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
    unanswered = (refusal(frame, index, INTERRUPTED) for index in range(len(frame.calls)))
    answers = dict(enumerate(unanswered)) | dict(frame.answers)
    return frame.context + told(frame.calls, answers)


def frames_inside(state: State) -> Iterator[AgentStarted]:
    """The agents and workflows inside a run that have begun and not ended, those around first."""
    left = [(state.frame, part) for part in reversed(state.frame.parts)]
    while left:
        around, part = left.pop()
        if isinstance(part, Frame):
            yield frame_begun(around, part)
            left += [(part, each) for each in reversed(part.parts)]
