"""A recorded run: the State that it began with, its steps and the notes between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from itertools import takewhile
from typing import Any, Final, TypeAlias, Union

from attrs import field, frozen

from gram import Pattern, Source, dumps, format_text
from lenses_ext.weak_cache import memo

from ... import execution, machine
from ...errors import ReplayError
from ...execution import Begun, Note
from ...machine import At, CallBegun, CallModel, Effect, Event, Request, State, pending, step
from ...shown import NOTEBOOK
from ...tools import Tool
from .patterns import message_in_short
from .property_forms import node, pattern_line, write_text


def fingerprint(request: Request) -> str:
    """The fingerprint of a request; each message and tool is written once, for all requests."""
    said = b"".join(map(_digest, request.messages))
    # so many digits tell billions of requests apart
    return sha256("\n".join(_lines(request)).encode() + said).hexdigest()[:16]


def _lines(request: Request) -> Iterator[str]:
    """All but the conversation."""
    told = {"model": _models(request), "instruction": write_text(request.instruction)}
    yield pattern_line(node("Request", told))
    yield pattern_line(node("Settings", request.settings))
    yield from map(_line, _declared(request))


def _models(request: Request) -> str:
    """All models that may answer; who comes first depends on who could not be asked before."""
    return ", ".join(sorted(map(str, (request.model, *request.fallbacks))))


def _declared(request: Request) -> tuple[Pattern, ...]:
    """The tools, and the type of the answer if it has one."""
    return (*request.tools, request.answer) if request.answer else request.tools


_line = memo(pattern_line)


@memo
def _digest(message: machine.Message) -> bytes:
    return sha256(pattern_line(message_in_short(message)).encode()).digest()


def effect_lines(effect: Effect) -> list[str]:
    """What an effect asks for, a line for each part."""
    if isinstance(effect, CallModel):
        return list(_request_lines(effect.request))
    asked = "may it run" if isinstance(effect, machine.Ask) else "run"
    return [f"{asked}: {effect.name}", f"arguments: {effect.arguments}"]


def _request_lines(request: Request) -> Iterator[str]:
    yield f"model: {_models(request)}"
    for key, value in request.settings.items():
        yield f"{key}: {value!r}"
    yield from (f"instruction: {line}" for line in request.instruction.splitlines())
    for pattern in (*_declared(request), *map(message_in_short, request.messages)):
        yield from format_text(dumps(pattern)).splitlines()


@frozen
class RecordedStep:
    """One step of a recorded run.

    Attributes:
        before: the State that the event was folded into.
        effect: the effect that the event answers; None for `CallBegun`, `Resumed` and `TimeUp`.
        event: the event.
        state: the State that it led to.
        effects: the effects that are new to do.
        happened: what has happened, in order.
        seconds: how long the effect took, or None.
        request: the fingerprint of the request that a reply answered, or None.
        start: the offset of its entry in the text that it was read from, or None.
    """

    before: State
    effect: Effect | None
    event: Event
    state: State
    effects: tuple[Effect, ...] = field(eq=False, repr=False)
    happened: tuple[machine.Happened, ...] = field(eq=False, repr=False)
    seconds: float | None = None
    request: str | None = None
    start: int | None = field(default=None, eq=False, repr=False)


class Replayer:
    """A run that goes on event by event."""

    def __init__(self, first: State) -> None:
        self.state = first
        self._waiting: dict[At, Effect] = {each.at: each for each in pending(first)}

    def take(
        self,
        event: Event,
        seconds: float | None = None,
        request: str | None = None,
        start: int | None = None,
    ) -> RecordedStep:
        """Fold the next event and give its step; a GramError if the run does not come to it."""
        before = self.state
        self.state, effects, happened = step(before, event)
        effect = None if isinstance(event, CallBegun) else self._waiting.pop(event.at, None)
        if isinstance(event, machine.Resumed):  # whose effects are all that there is to do
            self._waiting.clear()
        self._waiting.update((each.at, each) for each in effects)
        taken = (self.state, effects, happened)
        return RecordedStep(before, effect, event, *taken, seconds, request, start)


LIBRARY: Final = "Library"
BUILT_IN: Final = "built_in"
"""The property of a tool in the first entry that is one of `hello_world_tool_library`."""
ONCE: Final = "once"
"""The property of a tool in the first entry whose calls are not repeated by themselves."""

Entry: TypeAlias = Union[RecordedStep, Note]


@frozen(repr=False)
class RecordedRun:
    """A run that was recorded.

    Attributes:
        first: the State that it began with.
        entries: its steps and the notes between them, in order.
        program: the text of the program's file, or of the agent alone where it had none.
        filename: the name of that file, or None.
        library: what the tools were, as patterns with their descriptions and schemas.
        started: when it began, or None if that is not recorded.
        source: the text that it was read from, or None.
        start: the offset of its first entry in that text.
    """

    first: State
    entries: tuple[Entry, ...]
    program: str
    filename: str | None
    library: tuple[Pattern, ...]
    started: datetime | None = None
    source: Source | None = field(default=None, eq=False)
    start: int = field(default=0, eq=False)

    @cached_property
    def steps(self) -> tuple[RecordedStep, ...]:
        """Its steps, in order."""
        return tuple(each for each in self.entries if isinstance(each, RecordedStep))

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Its notes, in order."""
        return tuple(each for each in self.entries if not isinstance(each, RecordedStep))

    def __repr__(self) -> str:
        return repr(self.state).replace("State", "RecordedRun", 1)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))  # IPython and Hypothesis would show all its parts

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return NOTEBOOK["run"](self)

    @property
    def state(self) -> State:
        """The State after its last event."""
        return self.steps[-1].state if self.steps else self.first

    @property
    def events(self) -> tuple[Event, ...]:
        """The events, in order."""
        return tuple(each.event for each in self.steps)

    @property
    def content(self) -> str:
        """What the model has said last; ``""`` before it said anything."""
        last = self.state.context[-1]
        return last.content if last.role is machine.AssistantRole else ""

    @property
    def tools_used(self) -> tuple[machine.ToolInvocation, ...]:
        """The calls that were answered, in their order, also those of a turn that did not end."""
        return self.state.tools_used

    @property
    def usage(self) -> machine.Usage:
        """The tokens that were used."""
        return self.state.usage

    @property
    def own_tools(self) -> frozenset[str]:
        """The names of the tools that it had, but for the built-in ones."""
        tools = (each.value for each in self.library)
        return frozenset(each.identity for each in tools if BUILT_IN not in each.properties)

    def why_not_with(self, library: Mapping[str, Tool]) -> str | None:
        """Why the tools of a library cannot go on with it; None if they can.

        A built-in tool is never run in place of one of the run's own.
        """
        built_in = {name for name, tool in library.items() if tool.is_built_in}
        replaced = sorted(self.own_tools & built_in)
        if not replaced:
            return None
        return f"the run was recorded with its own {', '.join(replaced)}, not the built-in one"

    @cached_property
    def unanswered(self) -> tuple[Effect, ...]:
        """What had begun, and has no answer: it may have been done."""
        begun: set[At] = set()
        for entry in self.entries:
            match entry:
                case Begun(at=at) | RecordedStep(event=CallBegun(at=at)):
                    begun.add(at)
                case RecordedStep(event=event):
                    begun.discard(event.at)
        return tuple(each for each in pending(self.state, past_limit=True) if each.at in begun)

    def placed(self, told: str, step: RecordedStep | None = None) -> str:
        """A text about a step, with ``file:line:col`` of its entry before it, if that is known."""
        if self.source is None or (step is not None and step.start is None):
            return told
        place = self.source.filename if step is None else self.source.place(step.start or 0)
        return f"{place}: {told}" if place else told

    def stream(self, *, words: bool = True) -> Iterator[execution.Observation]:
        """What there was to see of it; its replies come whole, and nothing is performed.

        Raises:
            ReplayError: the recording was changed after the run, or ends before the run does.
            LimitError, ApprovalNeeded, ModelError: the run ended so.
        """
        self.check()  # all of it, before anything is seen
        yield from machine.frames_inside(self.first)
        for each in self.steps:
            if isinstance(each.effect, machine.CallTool):
                yield execution.ToolStarted(each.effect)
            if isinstance(each.event, machine.ModelReplied) and each.event.reasoning:
                yield execution.ReasoningDelta(each.event.at, each.event.reasoning)
            yield from execution.seen_in(each.event, each.happened)
        if pending(self.state) and not self.state.asks:
            told = f"the recording ends here: the run is {self.state.status.value}"
            last = self.steps[-1] if self.steps else None
            raise ReplayError(self.placed(f"{told}; gram resume goes on", last))
        yield execution.finished(self.state)

    def check(self) -> None:
        """Check that each reply answers what this version of the package asks.

        A reply keeps the fingerprint of the request that it answered. The request now is another
        where an entry before it was changed or removed, and where this version asks otherwise.

        Raises:
            ReplayError: a reply answers another request.
        """
        for each in self.steps:
            if not _fits(each):
                at = position_text(each.event.at)
                told = f"the reply at {at} answers another request than the entries before it make"
                raise ReplayError(self.placed(f"{told}\n{_HINT}", each))

    @property
    def fitting(self) -> tuple[RecordedStep, ...]:
        """Its steps up to the first that does not fit, see `check`."""
        return tuple(takewhile(_fits, self.steps))


def _fits(step: RecordedStep) -> bool:
    """Whether a reply answers what is asked; other steps do in any case."""
    if step.request is None or not isinstance(step.effect, CallModel):
        return True
    return fingerprint(step.effect.request) == step.request


_HINT: Final = (
    "  hint: was the file edited, or recorded by another version of this package? "
    "`gram runs fork` goes on from what is the same"
)


def awaited(state: State) -> str:
    """What a run waits for, in words."""
    answers = [f"{_answer_of(each)} at {position_text(each.at)}" for each in pending(state)]
    return " or ".join(answers) or f"no event, since the run is {state.status.value}"


def _answer_of(effect: Effect) -> str:
    if isinstance(effect, CallModel):
        return f"a reply of {effect.request.model}"
    what = "a result of" if isinstance(effect, machine.CallTool) else "a decision about"
    return f"{what} {effect.name}"


def position_text(at: At) -> str:
    """A position as messages name it: ``position (0, 1)``."""
    return f"position ({', '.join(map(str, at))})"
