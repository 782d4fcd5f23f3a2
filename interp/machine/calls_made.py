"""Which calls a frame has made: what a response shows as the tools that were used."""

from __future__ import annotations

from lenses_ext import workflow_of

from .effects import At
from .frames import AgentFrame, Frame, WorkflowFrame
from .messages import ToolInvocation


def calls_made(frame: Frame) -> tuple[ToolInvocation, ...]:
    """The calls that a frame has made and that are answered.

    Those of an agent are its own: what happens inside an agent that it called is that call's
    matter. A workflow makes those of its tools and of its agents, in the order of the rounds, the
    nodes and the items, whatever ended first.
    """
    if isinstance(frame, AgentFrame):
        of_turn = (each.made_by(frame.name, (*frame.at, at)) for at, each in frame.answers)
        return (*frame.invocations, *of_turn)
    made = calls_by_place(frame)
    order = {name: place for place, name in enumerate(workflow_of(frame.workflow).order)}

    def turn(at: At) -> list[int]:
        return [each if isinstance(each, int) else order[each] for each in at[len(frame.place) :]]

    return tuple(call for at in sorted(made, key=turn) for call in made[at])


def calls_by_place(frame: WorkflowFrame) -> dict[At, tuple[ToolInvocation, ...]]:
    """The calls that the steps of a workflow have made, by the places of the steps."""
    made = dict(frame.made)
    for part in frame.parts:
        if isinstance(part, AgentFrame | WorkflowFrame) and (calls := calls_made(part)):
            made[part.place] = calls
    return made
