"""The state of a run: one frozen value that can be compared, pickled and resumed.

It holds the program's pattern itself, which the machine reads through lenses at every turn, and
the frames of the agents and workflows that are under way.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve, field, frozen

from gram import Pattern
from gram.words import counted
from lenses_ext import Model

from .effects import Ask, CallTool, Event
from .frames import AgentFrame, Frame, Status
from .limits import Limits
from .long_tuple import LongTuple
from .messages import ConversationContext, ToolCall, ToolInvocation, Usage
from .run_context import RunContext


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
        frame = self.frame
        turn = frame.turn if isinstance(frame, AgentFrame) else frame.round
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
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of this turn, in the order of the reply; a workflow makes none."""
        return self.frame.calls if isinstance(self.frame, AgentFrame) else ()

    @property
    def tools_used(self) -> tuple[ToolInvocation, ...]:
        """The calls that are answered, in their order, also those of a turn that did not end."""
        return self.frame.calls_made

    @property
    def asks(self) -> tuple[Ask, ...]:
        """The calls that wait for approval, anywhere in the run, in the order of their places."""
        return tuple(_asks(self.frame))


def _asks(frame: Frame) -> Iterator[Ask]:
    for part in frame.parts:
        if isinstance(part, Ask):
            yield part
        elif not isinstance(part, CallTool):
            yield from _asks(part)
