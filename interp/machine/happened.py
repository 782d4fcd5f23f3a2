"""What happens in a step, in order.

Whoever watches, shows or keeps a run reads it. Nothing of it changes a State: a State and an event
give it with the next State.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, Union

from attrs import field, frozen

from ..json_text import JsonText
from ..shown import short_repr
from .effects import At, Effect
from .messages import ToolInvocation
from .state import Begin, Frame

NOT_WAITED_FOR: Final = "not waited for: another step failed"
"""The error of what a workflow lets go because another step of it has failed."""


@frozen
class ToolFinished:
    """A call has its answer: its tool's, its agent's, or why it is not run.

    Tools that run at once finish in any order. A call that was not run, because it was wrong or not
    allowed, has not started.

    Attributes:
        at: the position of the call.
        invocation: the call with its answer, and the agent or workflow that made it.
    """

    at: At
    invocation: ToolInvocation


@frozen
class CallDropped:
    """Nobody waits any more for the answer to an effect; see `NOT_WAITED_FOR`."""

    effect: Effect

    @property
    def at(self) -> At:
        """The position of the effect."""
        return self.effect.at


@frozen
class AgentStarted:
    """An agent or a workflow inside the run has begun.

    Attributes:
        at: its place; the positions of all that is in it begin with that.
        name: its name.
        by: the name of the agent that called it, or of the workflow that it is a step of.
        given: what it was given, as JSON text.
        frame: its frame as it began.
    """

    at: At
    name: str
    by: str
    given: str = field(repr=short_repr)
    frame: Frame = field(repr=False)


@frozen
class Ended:
    """An agent, a workflow, a round of a loop or a step without an effect has ended inside the run.

    Attributes:
        at: its position; that of a round ends with the number of the rounds before.
        kind: what it was. ``each`` maps over an empty list; ``tool`` is a step that may not be run,
            or not with its input.
        by: the name of the agent that called it, or of the workflow or loop that it is a part of.
        given: what it was given, as JSON text.
        said: what it gave, or None.
        was_dropped: whether it was let go; see `NOT_WAITED_FOR`.
        unfinished: whether it is a loop that was out of rounds.
    """

    at: At
    kind: Literal["agent", "workflow", "round", "each", "tool"]
    name: str
    by: str
    given: str = field(repr=short_repr)
    said: JsonText | None = field(default=None, repr=short_repr)
    error: str | None = field(default=None, repr=short_repr)
    was_dropped: bool = False
    unfinished: bool = False

    @property
    def is_frame(self) -> bool:
        """Whether it is an agent or a workflow."""
        return self.kind in ("agent", "workflow")


Happened: TypeAlias = ToolFinished | CallDropped | AgentStarted | Ended
"""What can happen in a step."""


New: TypeAlias = Union[Effect, Begin, Happened]
"""What a step of one frame is new to do, and what has happened in it, in order."""
