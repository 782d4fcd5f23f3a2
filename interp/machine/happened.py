"""What happens in a step of a run, in order: what whoever watches, shows or keeps a run reads.

Nothing of it is an effect or changes a State: a State and an event give it with the next State.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from attrs import field, frozen

from ..json_text import JsonText
from ..reprs import short_repr
from .effects import At, Effect
from .frames import Frame
from .messages import ToolInvocation

NOT_WAITED_FOR: Final = "not waited for: another step failed"
"""The error of what a workflow lets go because another step of it has failed."""


@frozen
class CallAnswered:
    """A call has its answer: its tool's, its agent's, or why it is not run.

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
class FrameBegun:
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
class FrameEnded:
    """An agent or a workflow inside the run has ended.

    Attributes:
        at: its place.
        name: its name.
        by: the name of the agent that called it, or of the workflow that it was a step of.
        given: what it was given, as JSON text.
        frame: its frame as it ended.
        said: what it gave, or None.
        error: what went wrong, or None.
        was_dropped: whether it was let go; see `NOT_WAITED_FOR`.
    """

    at: At
    name: str
    by: str
    given: str = field(repr=short_repr)
    frame: Frame = field(repr=False)
    said: JsonText | None = field(default=None, repr=short_repr)
    error: str | None = field(default=None, repr=short_repr)
    was_dropped: bool = False


@frozen
class RoundEnded:
    """A round of a loop has ended.

    Attributes:
        at: its position, which ends with the number of the rounds before.
        name: the name of the loop.
        given: what the round was given.
        said: what it gave to the next one, or as the result; None if it failed.
        error: what went wrong, or None.
        was_dropped: whether it was let go; see `NOT_WAITED_FOR`.
    """

    at: At
    name: str
    given: JsonText = field(repr=short_repr)
    said: JsonText | None = field(default=None, repr=short_repr)
    error: str | None = field(default=None, repr=short_repr)
    was_dropped: bool = False


@frozen
class StepEnded:
    """A step of a workflow has ended without an effect or a frame.

    Attributes:
        at: its position.
        kind: ``each`` maps over an empty list; ``refused`` may not be run, or not with its input.
        name: the name of the node, or of what it uses.
        by: the name of the workflow.
        given: what it was given.
        said: what it gave, or None.
        error: why it was refused, or None.
    """

    at: At
    kind: Literal["each", "refused"]
    name: str
    by: str
    given: JsonText = field(repr=short_repr)
    said: JsonText | None = field(default=None, repr=short_repr)
    error: str | None = field(default=None, repr=short_repr)


Happened: TypeAlias = CallAnswered | CallDropped | FrameBegun | FrameEnded | RoundEnded | StepEnded
"""What can happen in a step."""
