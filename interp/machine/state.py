"""The state of a run.

A `State` is one frozen value that can be compared, pickled and resumed. It holds the program's
pattern itself and a tree of frames: how far each agent and each workflow has come. The outermost
frame is what was started; a frame inside another was called by a model, or is a step of a workflow.
Each has its own place, with which all its positions begin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from attrs import evolve, field, frozen
from pyrsistent import PMap, pmap

from gram import Pattern
from gram.words import counted
from lenses_ext import Model, workflow_of

from ..files import File
from ..json_text import Json, JsonText
from .effects import Ask, At, CallTool, Event
from .long_tuple import LongTuple
from .messages import ConversationContext, ToolCall, ToolInvocation, Usage, empty_context
from .run_context import Limits, RunContext


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
class Frame:
    """How far one agent or one workflow has come.

    Attributes:
        pattern: the agent or workflow; another agent than at first once that has handed over.
        context: the conversation so far; of a workflow the one before, with its input, and its
            result when it is done, and nothing where it is inside another frame.
        call: the call or the step that it answers; None for the outermost one.
        status: what it waits for.
        waiting: what has been begun in it and has not ended, by position: tools to be run, or to be
            asked about first, and frames.
        stopped: which limit was reached, or what went wrong, or None. Where the model is still
            awaited, it is asked for a last answer without tools.
    """

    pattern: Pattern
    context: ConversationContext = empty_context
    call: CallTool | None = None
    status: Status = Status.AWAITING_MODEL
    waiting: PMap[At, CallTool | Ask | Frame] = pmap()
    stopped: str | None = None

    @property
    def name(self) -> str:
        """The name of the agent that speaks, or of the workflow."""
        return self.pattern.value.identity

    @property
    def place(self) -> At:
        """What all its positions begin with."""
        return self.call.at if self.call else ()

    @property
    def at(self) -> At:
        """What the positions of what is begun in it begin with."""
        return self.place

    @property
    def has_ended(self) -> bool:
        """Whether nothing of it goes on any more."""
        return self.status in (Status.DONE, Status.UNUSABLE, Status.FAILED)

    @property
    def calls_made(self) -> tuple[ToolInvocation, ...]:
        """The calls in it that are answered, in their order, whatever ended first."""
        return ()

    @property
    def is_under_an_agent(self) -> bool:
        """Whether the outermost frame is an agent's: it is called by a turn and an index."""
        return all(isinstance(part, int) for part in self.place[:2])

    @property
    def parts(self) -> tuple[CallTool | Ask | Frame, ...]:
        """What is under way in it, in the order of its calls, or of its nodes and their items."""
        return tuple(self.waiting[at] for at in self.in_order(self.waiting))

    def all_parts(self) -> Iterator[CallTool | Ask | Frame]:
        """What is under way in it and in what is in it: a frame comes before its own parts."""
        for part in self.parts:
            yield part
            if isinstance(part, Frame):
                yield from part.all_parts()

    def in_order(self, places: Iterable[At]) -> list[At]:
        """Some positions in it in the order of the program."""
        nodes = workflow_of(self.pattern).order if isinstance(self, WorkflowFrame) else ()
        turns: dict[int | str, int] = {name: turn for turn, name in enumerate(nodes)}
        own = len(self.place)
        return sorted(places, key=lambda at: [turns.get(part, part) for part in at[own:]])

    def under_way(self, at: At) -> CallTool | Ask | None:
        """The call or question at a position, if it is one of this frame."""
        found = self.waiting.get(at)
        return None if isinstance(found, Frame) else found

    def inner(self, at: At) -> Frame | None:
        """The frame in it that a position is in, or None where it is its own."""
        own = len(self.at)
        for size in range(own + 1, min(own + 3, len(at))):  # an item of a list has its number, too
            found = self.waiting.get(at[:size])
            if isinstance(found, Frame):
                return found
        return None


@frozen
class AgentFrame(Frame):
    """How far one agent has come.

    Attributes:
        turn: how many times the model has been asked before; the next part of its positions.
        calls: the tool calls of this turn, in the order of the reply.
        truncated: the last reply was cut off at its length limit, so none of its calls is run.
        answers: the invocations of the calls that are answered, by their indices.
        invocations: the invocations of the turns before.
        corrected: the model has been told what was wrong with its answer.
        summarised: how many messages of the context its last summary covers.
        summarising: how many the summary has to cover that the model is asked for; 0 where it is
            asked to go on.
        failures: how often that has failed.
        summaries: how many turns were for summaries: they are no rounds.
        length: how many tokens the last request and its reply had.
        counted: how many messages of the context that counts.
    """

    turn: int = 0
    calls: tuple[ToolCall, ...] = ()
    truncated: bool = False
    answers: PMap[int, ToolInvocation] = pmap()
    invocations: LongTuple[ToolInvocation] = LongTuple()
    corrected: bool = False
    summarised: int = 0
    summarising: int = 0
    failures: int = 0
    summaries: int = 0
    length: int = 0
    counted: int = 0

    @property
    def at(self) -> At:
        """The position of this turn."""
        return (*self.place, self.turn)

    @property
    def calls_made(self) -> tuple[ToolInvocation, ...]:
        """Its own calls that are answered; what happens inside an agent is that call's matter."""
        return (*self.invocations, *(self.answers[index] for index in sorted(self.answers)))


@frozen
class BegunNode:
    """A node of a workflow that has begun: one use of it, or one for each item of a list.

    Attributes:
        items: what each use is given; one where the node is not mapped.
        is_each: whether the node is mapped over a list.
        others: what every item is given besides, a record, or None.
        begun: how many of the items have begun.
        results: what those gave that have ended.
    """

    given: JsonText
    items: tuple[JsonText, ...]
    is_each: bool = False
    others: JsonText | None = None
    begun: int = 0
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
class WorkflowFrame(Frame):
    """How far one workflow has come.

    Attributes:
        given: its input, a JSON value; in a loop that of this round.
        round: how many rounds of a loop are over; the next part of its positions.
        live: the nodes that have begun, by name.
        ended: the nodes of this round that have ended, by name.
        kept: in a loop, the conversations of its agents, by the names of their nodes.
        result: what it gave, when it is done.
        unfinished: whether it is a loop that was out of rounds, or a step of it was in this round.
        made: the calls of the steps that have ended, by their places.
        attachments: the files that are attached to its input; those of a loop to the first.
    """

    status: Status = Status.AWAITING_STEPS
    given: JsonText = field(kw_only=True)
    round: int = 0
    live: PMap[str, BegunNode] = pmap()
    ended: PMap[str, EndedNode] = pmap()
    kept: PMap[str, ConversationContext] = pmap()
    result: JsonText | None = None
    unfinished: bool = False
    made: PMap[At, tuple[ToolInvocation, ...]] = pmap()
    attachments: tuple[File, ...] = ()

    @property
    def at(self) -> At:
        """What the positions of its nodes begin with: its place, and the round of a loop."""
        return (*self.place, self.round) if self.is_loop else self.place

    @property
    def calls_made(self) -> tuple[ToolInvocation, ...]:
        """The calls of its tools and agents, in the order of the rounds, nodes and items."""
        made = self.calls_by_place
        return tuple(call for at in self.in_order(made) for call in made[at])

    @property
    def calls_by_place(self) -> PMap[At, tuple[ToolInvocation, ...]]:
        """The calls that its steps have made, by the places of the steps."""
        frames = (each for each in self.waiting.values() if isinstance(each, Frame))
        made = {each.place: each.calls_made for each in frames if each.calls_made}
        found: PMap[At, tuple[ToolInvocation, ...]] = self.made.update(made)
        return found

    @property
    def is_loop(self) -> bool:
        """Whether it is a loop, whose positions have the round."""
        return workflow_of(self.pattern).loop is not None

    def node_of(self, at: At) -> str:
        """The name of the node that a position of this workflow is in."""
        return str(at[len(self.at)])

    def place_of(self, name: str, index: int) -> At:
        """The place of one use of a node that has begun."""
        return (*self.at, name, index) if self.live[name].is_each else (*self.at, name)


@frozen
class Begin:
    """Begin a frame: what a frame asks of the machine, as it asks the handler to run a tool.

    Attributes:
        pattern: the agent or workflow.
        given: what it is called with, a JSON value.
        context: the conversation before.
        attachments: the files that are attached to what it is called with.
        call: the call or the step that it is to answer.
    """

    pattern: Pattern
    given: Json
    context: ConversationContext = empty_context
    attachments: tuple[File, ...] = ()
    call: CallTool | None = None


@frozen
class Outcome:
    """How a frame ended: with what it gave, or with what went wrong.

    Attributes:
        calls: the calls that it has made.
        unfinished: whether what it gave is that of a loop that was out of rounds.
    """

    said: JsonText | None
    error: str | None = None
    context: ConversationContext = empty_context
    calls: tuple[ToolInvocation, ...] = ()
    unfinished: bool = False


@frozen
class State:
    """One moment of a run.

    What is said of a State itself, such as its ``context``, is that of the outermost frame: what
    the run was begun with.

    Attributes:
        run: what all frames share: the program, what the run may do, what it has used.
        frame: the outermost frame, with the frames in it.
        events: the events that it is the fold of; not compared.
        beginning: the State that they were folded into, which has none; not compared.
    """

    run: RunContext
    frame: Frame
    _first: State | None = field(default=None, eq=False, repr=False)
    events: LongTuple[Event] = field(default=LongTuple(), eq=False, repr=False)

    @property
    def beginning(self) -> State:
        """The State that the run began with."""
        return self._first or self

    def __repr__(self) -> str:
        name = self.agent.value.identity
        (turn, *_) = (*self.frame.at, 0)
        parts = [self.status.value, f"turn {turn}", counted(self.run.calls, "call")]
        stopped = [self.stopped] if self.stopped else []
        return f"<State of {name}: {', '.join([*parts, *stopped])}>"

    def with_run_id(self, run_id: str) -> State:
        """The same run under a name."""
        first = self._first and self._first.with_run_id(run_id)
        return evolve(self, run=evolve(self.run, run_id=run_id), first=first)

    @property
    def agent(self) -> Pattern:
        """The program: the agent or workflow that is run."""
        return self.run.program

    @property
    def model(self) -> Model | None:
        """The model to ask; None for those that the program names."""
        return self.run.model

    @property
    def limits(self) -> Limits:
        """How much the run may do."""
        return self.run.limits

    @property
    def usage(self) -> Usage:
        """The tokens so far, unknown once a reply did not say."""
        return self.run.usage

    @property
    def run_id(self) -> str:
        """A name for the run, see `RunContext`."""
        return self.run.run_id

    @property
    def context(self) -> ConversationContext:
        """The conversation so far; of a workflow its input, and its result when it is done."""
        return self.frame.context

    @property
    def status(self) -> Status:
        """What the run waits for."""
        return Status.LIMITED if self.run.limit is not None else self.frame.status

    @property
    def stopped(self) -> str | None:
        """Which limit was reached, or what went wrong, or None."""
        return self.run.limit or self.frame.stopped

    @property
    def tools_used(self) -> tuple[ToolInvocation, ...]:
        """The calls that are answered, in their order, also those of a turn that did not end."""
        return self.frame.calls_made

    @property
    def asks(self) -> tuple[Ask, ...]:
        """The calls that wait for approval, anywhere in the run, in the order of their places."""
        return tuple(each for each in self.frame.all_parts() if isinstance(each, Ask))
