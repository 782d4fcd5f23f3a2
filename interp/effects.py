"""What the machine asks of the world, and what the world answers: effects and events, both data.

They are matched by position, the turn and the index of the call within it, never by the
provider's ids, which may be missing or repeated.
"""

from __future__ import annotations

from typing import TypeAlias, Union

from attrs import frozen

from gram import Pattern
from lenses_ext import Model, Settings

from .json_text import Json, read_json
from .messages import ConversationContext, Message, Usage


@frozen
class Request:
    """What a model is asked.

    Attributes:
        model: which model the program names.
        instruction: what the agent is told to do.
        messages: the conversation, the instruction not among it.
        tools: the specifications of the tools it may call; see `interp.wire` for their JSON.
        settings: what is sent beside; empty when the provider's defaults hold.
        answer: the type that the answer has to be of, see `lenses_ext.answer`; None for any text.
    """

    model: Model
    instruction: str
    messages: ConversationContext
    tools: tuple[Pattern, ...] = ()
    settings: Settings = Settings()
    answer: Pattern | None = None


@frozen
class CallModel:
    """Ask the model."""

    turn: int
    request: Request


@frozen
class ToolEffect:
    """What is done about one call of a turn, its arguments checked against the tool's schema."""

    turn: int
    index: int
    name: str
    arguments: str

    @property
    def args(self) -> dict[str, Json]:
        """The arguments, a fresh copy."""
        found: dict[str, Json] = read_json(self.arguments)
        return found


@frozen
class CallTool(ToolEffect):
    """Run a tool."""


@frozen
class Ask(ToolEffect):
    """Ask whether a tool may be run; it becomes a `CallTool` when it may."""


@frozen
class ModelReplied:
    """The model's answer.

    Attributes:
        truncated: the reply was cut off at its length limit, so its calls may be incomplete.
    """

    turn: int
    message: Message
    usage: Usage = Usage()
    truncated: bool = False


@frozen
class ToolReturned:
    """A tool's result, as JSON text."""

    turn: int
    index: int
    result: str


@frozen
class CallFailed:
    """A tool call that gave no result; ``error`` is told to the model."""

    turn: int
    index: int
    error: str


@frozen
class Decided:
    """Whether a tool that was asked about may be run; the model is told ``reason`` when not."""

    turn: int
    index: int
    allowed: bool
    reason: str = ""


@frozen
class TimeUp:
    """The time of the run is up. Whoever drives it keeps the clock."""

    turn: int


Effect: TypeAlias = Union[CallModel, CallTool, Ask]
Event: TypeAlias = Union[ModelReplied, ToolReturned, CallFailed, Decided, TimeUp]
