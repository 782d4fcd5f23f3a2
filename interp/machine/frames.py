"""Frames: how far each agent and each workflow of a run has come.

A run is a tree of frames. The outermost one is what was started; a frame inside another is an agent
or a workflow that was called by a model, or that is a step of a workflow. Each has its own place,
with which all its positions begin.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias, Union

from attrs import evolve, frozen
from pyrsistent import PMap, pmap

from gram import Pattern
from lenses_ext import workflow_of

from ..files import File
from ..json_text import Json, JsonText
from .effects import Ask, At, CallTool
from .long_tuple import LongTuple
from .messages import ConversationContext, ToolCall, ToolInvocation, empty_context


class Status(Enum):
    """What a frame waits for, and what a run does."""

    AWAITING_MODEL = "awaiting the model's reply"
    AWAITING_TOOLS = "awaiting tools"
    AWAITING_STEPS = "awaiting its steps"
    DONE = "done"
    LIMITED = "stopped at a limit"
    UNUSABLE = "stopped at an answer that is not of the declared type"
    FAILED = "failed"


@frozen
class AgentFrame:
    """How far one agent has come.

    Attributes:
        place: what all its positions begin with.
        agent: who speaks; another one than at first once it has handed over.
        context: the conversation so far.
        status: what it waits for.
        turn: how many times the model has been asked before; the next part of its positions.
        calls: the tool calls of this turn, in the order of the reply.
        truncated: the last reply was cut off at its length limit, so none of its calls is run.
        waiting: what has been begun for these calls and is not answered yet, by their indices:
            tools to be run, or to be asked about first, and agents and workflows.
        answers: the invocations of the calls that are answered, by their indices.
        invocations: the invocations of the turns before.
        stopped: which limit was reached, or what is wrong with the answer, or None. Where the
            model is still awaited, it is asked for a last answer without tools.
        corrected: the model has been told what was wrong with its answer.
        summarised: how many messages of the context its last summary covers.
        summarising: how many the summary has to cover that the model is asked for; 0 where it is
            asked to go on.
        failures: how often that has failed.
        summaries: how many turns were for summaries: they are no rounds.
        length: how many tokens the last request and its reply had.
        counted: how many messages of the context that counts.
    """

    place: At
    agent: Pattern
    context: ConversationContext
    status: Status = Status.AWAITING_MODEL
    turn: int = 0
    calls: tuple[ToolCall, ...] = ()
    truncated: bool = False
    waiting: PMap[int, CallTool | Ask | Called] = pmap()
    answers: PMap[int, ToolInvocation] = pmap()
    invocations: LongTuple[ToolInvocation] = LongTuple()
    stopped: str | None = None
    corrected: bool = False
    summarised: int = 0
    summarising: int = 0
    failures: int = 0
    summaries: int = 0
    length: int = 0
    counted: int = 0

    @property
    def name(self) -> str:
        """The name of the agent that speaks."""
        return self.agent.value.identity

    @property
    def at(self) -> At:
        """The position of this turn."""
        return (*self.place, self.turn)

    @property
    def parts(self) -> tuple[CallTool | Ask | Frame, ...]:
        """What is under way in it, in the order of the calls."""
        waiting = (self.waiting[index] for index in sorted(self.waiting))
        return tuple(each.frame if isinstance(each, Called) else each for each in waiting)

    @property
    def calls_made(self) -> tuple[ToolInvocation, ...]:
        """Its own calls that are answered; what happens inside an agent is that call's matter."""
        of_turn = (
            self.answers[index].made_by(self.name, (*self.at, index))
            for index in sorted(self.answers)
        )
        return (*self.invocations, *of_turn)

    def under_way(self, at: At) -> CallTool | Ask | None:
        """Its own call at a position, if it is not answered yet."""
        found = self._waits_for(at) if len(at) == len(self.place) + 2 else None
        return None if isinstance(found, Called) else found

    def inner(self, at: At) -> Frame | None:
        """The frame in it that a position is in, or None where it is its own."""
        found = self._waits_for(at) if len(at) > len(self.place) + 2 else None
        return found.frame if isinstance(found, Called) else None

    def _waits_for(self, at: At) -> CallTool | Ask | Called | None:
        """What is under way for the call that a position is in."""
        turn = len(self.place) + 1
        index = at[turn] if at[:turn] == self.at else None
        return self.waiting.get(index) if isinstance(index, int) else None

    def with_inner(self, frame: Frame) -> AgentFrame:
        """The same with a frame in it that has begun, or has gone on."""
        return self.with_waiting(frame.place, Called(self.call_at(frame.place), frame))

    def call_at(self, place: At) -> CallTool:
        """The call of an agent or workflow that takes or has a place, and is not answered yet."""
        found = self.waiting[int(place[-1])]
        call = found.call if isinstance(found, Called) else found
        assert isinstance(call, CallTool)
        return call

    def with_waiting(self, at: At, each: CallTool | Ask | Called) -> AgentFrame:
        """The same with one call waited for in another way."""
        return evolve(self, waiting=self.waiting.set(int(at[-1]), each))


@frozen
class Called:
    """An agent or a workflow that a model has called, and how far it has come."""

    call: CallTool
    frame: Frame


@frozen
class BegunNode:
    """A node of a workflow that has begun: one use of it, or one for each item of a list.

    Attributes:
        given: what the node is given.
        items: what each use is given; one where the node is not mapped.
        is_each: whether the node is mapped over a list.
        others: what every item is given besides, a record, or None.
        begun: how many of the items have begun.
        live: what is under way, by the number of the item: a tool, a question, or a frame.
        results: what those gave that have ended.
    """

    given: JsonText
    items: tuple[JsonText, ...]
    is_each: bool = False
    others: JsonText | None = None
    begun: int = 0
    live: PMap[int, CallTool | Ask | Frame] = pmap()
    results: PMap[int, JsonText] = pmap()


@frozen
class EndedNode:
    """A node that has ended.

    Attributes:
        said: what it gave; None for one that was skipped.
        given: what it was given, where a choice of it passes that on.
    """

    said: JsonText | None = None
    given: JsonText | None = None


@frozen
class WorkflowFrame:
    """How far one workflow has come.

    Attributes:
        place: what all its positions begin with.
        workflow: its pattern.
        given: its input, a JSON value; in a loop that of this round.
        context: the conversation before, with the input, and the result when it is done; empty in
            a frame inside another.
        status: what it waits for.
        round: how many rounds of a loop are over; the next part of its positions.
        live: the nodes that have begun, by name.
        ended: the nodes of this round that have ended, by name.
        kept: in a loop, the conversations of its agents, by the names of their nodes.
        result: what it gave, when it is done.
        stopped: what went wrong, or None.
        unfinished: whether it is a loop that was out of rounds, or a step of it was in this round.
        made: the calls of the steps that have ended, by their places.
        is_loop: whether it is a loop, whose positions have the round.
        attachments: the files that are attached to its input; those of a loop to the first.
    """

    place: At
    workflow: Pattern
    given: JsonText
    context: ConversationContext = empty_context
    status: Status = Status.AWAITING_STEPS
    round: int = 0
    live: PMap[str, BegunNode] = pmap()
    ended: PMap[str, EndedNode] = pmap()
    kept: PMap[str, ConversationContext] = pmap()
    result: JsonText | None = None
    stopped: str | None = None
    unfinished: bool = False
    is_loop: bool = False
    made: PMap[At, tuple[ToolInvocation, ...]] = pmap()
    attachments: tuple[File, ...] = ()

    @property
    def name(self) -> str:
        """The name of the workflow."""
        return self.workflow.value.identity

    @property
    def at(self) -> At:
        """What the positions of its nodes begin with: its place, and the round of a loop."""
        return (*self.place, self.round) if self.is_loop else self.place

    @property
    def parts(self) -> tuple[CallTool | Ask | Frame, ...]:
        """What is under way in it, in the order of the nodes and of their items."""
        steps = (self.live[each] for each in workflow_of(self.workflow).order if each in self.live)
        return tuple(step.live[index] for step in steps for index in sorted(step.live))

    @property
    def calls_made(self) -> tuple[ToolInvocation, ...]:
        """The calls of its tools and agents that are answered.

        They are in the order of the rounds, the nodes and the items, whatever ended first.
        """
        made = self.calls_by_place
        order = {name: place for place, name in enumerate(workflow_of(self.workflow).order)}

        def turn(at: At) -> list[int]:
            return [
                each if isinstance(each, int) else order[each] for each in at[len(self.place) :]
            ]

        return tuple(call for at in sorted(made, key=turn) for call in made[at])

    @property
    def calls_by_place(self) -> PMap[At, tuple[ToolInvocation, ...]]:
        """The calls that its steps have made, by the places of the steps."""
        frames = (each for each in self.parts if isinstance(each, AgentFrame | WorkflowFrame))
        made = {each.place: each.calls_made for each in frames if each.calls_made}
        found: PMap[At, tuple[ToolInvocation, ...]] = self.made.update(made)
        return found

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.status in (Status.DONE, Status.FAILED)

    def node_at(self, at: At) -> tuple[str, int] | None:
        """The name of the node that a position is in, and the number of its item."""
        found = self._step_at(at)
        return None if found is None else found[:2]

    def node_of(self, at: At) -> tuple[str, int]:
        """The same for a position of this workflow."""
        found = self.node_at(at)
        assert found is not None, "it is that of a node which has begun"
        return found

    def under_way(self, at: At) -> CallTool | Ask | None:
        """The tool or question at a position, if it is a node of this workflow."""
        found = self._part_at(at)
        return found if isinstance(found, CallTool | Ask) and found.at == at else None

    def inner(self, at: At) -> Frame | None:
        """The frame in it that a position is in, or None where it is its own."""
        found = self._part_at(at)
        if isinstance(found, AgentFrame | WorkflowFrame) and len(at) > len(found.place):
            return found
        return None

    def _part_at(self, at: At) -> CallTool | Ask | Frame | None:
        found = self._step_at(at)
        return None if found is None else found[2].live.get(found[1])

    def _step_at(self, at: At) -> tuple[str, int, BegunNode] | None:
        """The name of the node that a position is in, the number of its item, and its step."""
        here = self.at
        depth = len(here)
        if len(at) <= depth or at[:depth] != here:
            return None
        name = at[depth]
        step = self.live.get(name) if isinstance(name, str) else None
        if step is None:
            return None
        if not step.is_each:
            return str(name), 0, step
        index = at[depth + 1] if len(at) > depth + 1 else None
        return (str(name), index, step) if isinstance(index, int) else None

    def with_inner(self, frame: Frame) -> WorkflowFrame:
        """The same with a frame in it that has begun, or has gone on."""
        return self.with_waiting(frame.place, frame)

    def with_waiting(self, at: At, item: CallTool | Ask | Frame) -> WorkflowFrame:
        """The same with one use of a node waited for in another way."""
        name, index = self.node_of(at)
        step = self.live[name]
        step = evolve(step, live=step.live.set(index, item))
        return evolve(self, live=self.live.set(name, step))


Frame: TypeAlias = Union[AgentFrame, WorkflowFrame]


@frozen
class Begin:
    """Begin a frame: what a frame asks of the machine, as it asks the handler to run a tool.

    Attributes:
        at: the place of the new frame.
        pattern: the agent or workflow.
        given: what it is called with, a JSON value.
        context: the conversation before.
        attachments: the files that are attached to what it is called with.
    """

    at: At
    pattern: Pattern
    given: Json
    context: ConversationContext = empty_context
    attachments: tuple[File, ...] = ()


@frozen
class Outcome:
    """How a frame ended: with what it gave, or with what went wrong.

    Attributes:
        said: what it gave, or None.
        error: what went wrong, or None.
        context: its conversation.
        calls: the calls that it has made.
        unfinished: whether what it gave is that of a loop that was out of rounds.
    """

    said: JsonText | None
    error: str | None = None
    context: ConversationContext = empty_context
    calls: tuple[ToolInvocation, ...] = ()
    unfinished: bool = False
