"""One step of one frame, as far as agents and workflows share it, and what happens in it.

A step is made of what the frames of the run share and of the frame. Its methods take what has come,
and leave both as they are then, with what is new to do and what has happened, in order. None of it
outlives the step: what a State keeps is never changed.

Whoever watches, shows or keeps a run reads what has happened. Nothing of it changes a State: a
State and an event give it with the next State.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final, Generic, Literal, Self, TypeAlias, TypeVar, Union

from attrs import evolve, field, frozen

from gram import Pattern
from lenses_ext import result_schema
from lenses_ext.language import tool_spec_of
from lenses_ext.weak_cache import memo

from ..errors import ProtocolError, ValidationError
from ..json_text import Json, JsonText, write_json
from ..shown import short_repr
from . import effects
from .approval import Decision
from .contracts.values import Parameters, check, parameters_of
from .effects import Ask, At, CallFailed, CallTool, Decided, Effect, Event, ToolReturned
from .messages import ToolInvocation
from .requests import ask_model
from .run_context import RunContext
from .state import AgentFrame, Begin, Frame, Outcome, Status, WorkflowFrame

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
    """A round of a loop or a step without an effect has ended inside the run.

    Attributes:
        at: its position; that of a round ends with the number of the rounds before.
        name: its name in the program.
        kind: what it was. ``each`` maps over an empty list; ``tool`` is a step that may not be run,
            or not with its input.
        by: the name of the agent that called it, or of the workflow or loop that it is a part of.
        given: what it was given, as JSON text.
        result_text: what it gave, as JSON text; None if it failed.
        error: why it failed, or is no longer waited for; None if it gave a result.
        was_dropped: whether it was let go; see `NOT_WAITED_FOR`.
        unfinished: whether it is a loop that was out of rounds.
    """

    at: At
    name: str
    kind: Literal["agent", "workflow", "round", "each", "tool"]
    by: str
    given: str = field(repr=short_repr)
    result_text: JsonText | None = field(default=None, repr=short_repr)
    error: str | None = field(default=None, repr=short_repr)
    was_dropped: bool = False
    unfinished: bool = False


@frozen
class AgentFinished(Ended):
    """An agent or workflow inside the run has ended."""

    @property
    def result(self) -> Json:
        """What it gave, a fresh copy; None if it failed."""
        return None if self.result_text is None else self.result_text.value


Happened: TypeAlias = ToolFinished | CallDropped | AgentStarted | Ended
"""What can happen in a step."""


New: TypeAlias = Union[Effect, Begin, Happened]
"""What a step of one frame is new to do, and what has happened in it, in order."""


FORBIDDEN = "the policy of this run forbids it"
"""The reason for not running a call that the policy denies."""

INTERRUPTED = "interrupted: the run ended before this call was answered; it may have run"
"""What the model is told of a call that a run left unanswered."""

_Frame = TypeVar("_Frame", bound=Frame)
_Kind = TypeVar("_Kind", CallTool, Ask)


class FrameStep(ABC, Generic[_Frame]):
    """One step of one frame.

    Attributes:
        new: what is new to do, and what has happened.
    """

    def __init__(self, run: RunContext, frame: _Frame) -> None:
        self.run, self.frame = run, frame
        self.new = deque[New]()

    @classmethod
    @abstractmethod
    def begun(cls, run: RunContext, begin: Begin) -> Self:
        """The step with which a frame begins."""

    @abstractmethod
    def outcome(self) -> Outcome:
        """How the frame has ended."""

    @abstractmethod
    def called_by(self, call: CallTool | Ask) -> Pattern:
        """What a call or a question is of."""

    @abstractmethod
    def begin(self, call: CallTool | Ask) -> None:
        """Begin a call that may be run, or ask about it."""

    @abstractmethod
    def take_answer(self, call: CallTool | Ask, made: ToolInvocation) -> None:
        """Take a call with its answer."""

    @abstractmethod
    def inner_ended(self, call: CallTool, outcome: Outcome) -> None:
        """Take how an agent or workflow inside has ended that answers a call."""

    @abstractmethod
    def go_on(self) -> None:
        """Go on where a limit was reached."""

    # --- events

    def call_begun(self, event: effects.CallBegun) -> None:
        """Keep that a call has begun which may run only once."""
        self.put(event.at, evolve(self._waiting(event, CallTool), has_begun=True))

    def tool_answered(self, event: ToolReturned | CallFailed) -> None:
        """Take the result of a tool, or its failure."""
        self.answer(self._waiting(event, CallTool), event)

    def decided(self, event: Decided) -> None:
        """Begin what was asked about, or take that it is denied."""
        ask = self._waiting(event, Ask)
        if event.allowed:
            call = CallTool(ask.at, ask.name, ask.arguments)
            self.put(ask.at, call)
            self.begin(call)
        else:
            self.answer(ask, event)

    def resumed(self, event: effects.Resumed) -> None:
        """Go on, past a limit too: what may have run is asked about, and another policy decides."""
        for part in self.frame.parts:
            if isinstance(part, Frame) or self.frame.under_way(part.at) is None:
                continue
            if isinstance(part, Ask) and event.policy:
                decision = self.decision(part.name, part.args, self.called_by(part))
                if decision != "ask":
                    self.decided(Decided(part.at, decision == "allow", FORBIDDEN))
            elif isinstance(part, CallTool) and part.has_begun:
                self.put(part.at, Ask(part.at, part.name, part.arguments, may_have_run=True))
        self.go_on()

    def unchanged(self, _: Event) -> None:
        """Stay as it is."""

    def change(self, **parts: Any) -> None:
        """Change parts of the frame."""
        self.frame = evolve(self.frame, **parts)

    def put(self, at: At, part: CallTool | Ask | Frame) -> None:
        """Wait for what is under way at a position."""
        self.change(waiting=self.frame.waiting.set(at, part))

    def _waiting(self, event: Event, kind: type[_Kind]) -> _Kind:
        """The call or question that an event answers."""
        found = self.frame.under_way(event.at)
        if not isinstance(found, kind):
            own = [each for each in self.frame.parts if not isinstance(each, Frame)]
            raise ProtocolError(f"{event!r} answers no {kind.__name__}: waiting for {own}")
        return found

    def decision(self, name: str, args: Mapping[str, Json], tool: Pattern) -> Decision:
        """What the policy decides of a call of a tool, an agent or a workflow."""
        schema = parameters_of(tool_spec_of(tool)).schema
        return self.run.policy.decide(name, args, by=self.frame.name, schema=schema)

    def allowed(self, at: At, name: str, args: dict[str, Json], tool: Pattern) -> CallTool | Ask:
        """A call as the policy has it: to be run, asked about first, or refused."""
        decision = self.decision(name, args, tool)
        if decision == "deny":
            raise ValidationError(_denied(FORBIDDEN))
        return (CallTool if decision == "allow" else Ask)(at, name, write_json(args))

    def answer(self, call: CallTool | Ask, event: ToolReturned | CallFailed | Decided) -> None:
        """Take the answer to a call; a decision is a no.

        A result that is not of the type that the tool declares is an error.
        """
        about: dict[str, Any] = {"agent_name": self.frame.name, "at": call.at}
        result: JsonText | None = None
        match event:
            case ToolReturned():
                result, about["files"] = JsonText.read(event.result), event.files
                error = self.result_problem(self.called_by(call), result)
            case CallFailed():
                error, about["exception"] = event.error, event.exception
            case Decided(reason=reason):
                error = _denied(reason)
                if isinstance(call, Ask) and call.may_have_run:
                    error = f"{INTERRUPTED}; not run again{reason and f': {reason}'}"
        if error is not None:
            result, about["files"] = None, ()
        args = JsonText.read(call.arguments)
        self.take_answer(call, ToolInvocation(call.name, args, result, error, **about))

    def result_problem(self, tool: Pattern, result: JsonText) -> str | None:
        """Why what a tool or a workflow gave is not of the type it declares, or None."""
        schema = _result_type(tool) if self.run.check_results else None
        try:
            if schema is not None:
                check(schema, result.value)
        except ValidationError as error:
            name = tool.value.identity
            return f'the result of "{name}" is not what it declares:\n{error.message}'
        return None


def _denied(reason: str) -> str:
    return f"denied, not run: {reason}" if reason else "denied, not run"


@memo
def _result_type(tool: Pattern) -> JsonText | None:
    """The schema of a tool's results; None where it declares no type."""
    schema = result_schema(tool_spec_of(tool))
    return write_json(schema) if schema else None


def checked(name: str, parameters: Parameters, args: dict[str, Json]) -> dict[str, Json]:
    """The arguments of a call with defaults, if they are of the declared types."""
    try:
        return parameters.checked(args)
    except ValidationError as error:
        message = f'arguments of "{name}" are refused:\n{error.message}'
        raise ValidationError(message) from None


def effects_of(run: RunContext, frame: Frame) -> Iterator[Effect]:
    """The effects that a frame waits for, and all frames in it."""
    for part in (frame, *frame.all_parts()):
        if not isinstance(part, Frame):
            yield part
        elif isinstance(part, AgentFrame) and part.status is Status.AWAITING_MODEL:
            yield ask_model(run, part)


def dropped(run: RunContext, frame: Frame) -> Iterator[Happened]:
    """What happens to all that is under way in a frame when it is waited for no more."""
    for part in frame.parts:
        if not isinstance(part, Frame):
            yield CallDropped(part)
            continue
        if isinstance(part, AgentFrame) and part.status is Status.AWAITING_MODEL:
            yield CallDropped(ask_model(run, part))
        yield from dropped(run, part)
        if isinstance(part, WorkflowFrame) and part.is_loop:
            given = (part.name, part.given, None, NOT_WAITED_FOR, True)
            yield Ended(part.at, part.name, "round", *given)
        yield evolve(frame_ended(frame, part, Outcome(None, NOT_WAITED_FOR)), was_dropped=True)


def frame_begun(around: Frame, frame: Frame) -> AgentStarted:
    """What there is to say of a frame that has begun inside another."""
    call = frame.call
    assert call is not None, "it is inside another"
    name = call.name if isinstance(around, AgentFrame) else frame.name
    return AgentStarted(call.at, name, around.name, call.arguments, frame)


def frame_ended(around: Frame, frame: Frame, outcome: Outcome) -> AgentFinished:
    """What there is to say of a frame that has ended inside another."""
    begun = frame_begun(around, frame)
    about = (begun.by, begun.given, outcome.said, outcome.error)
    if isinstance(frame, WorkflowFrame):
        unfinished = frame.unfinished
        return AgentFinished(begun.at, begun.name, "workflow", *about, unfinished=unfinished)
    return AgentFinished(begun.at, begun.name, "agent", *about)
