"""What is under way in a frame: what it waits for, and what is let go when it fails."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from .effects import Ask, CallTool, Effect
from .frames import AgentFrame, Frame, Outcome, Status, WorkflowFrame
from .happened import NOT_WAITED_FOR, CallDropped, Ended, FrameBegun, Happened
from .requests import ask_model
from .run_context import RunContext


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
