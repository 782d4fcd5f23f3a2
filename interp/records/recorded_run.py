"""A recorded run: what the entries of a run file say, folded as they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from hashlib import sha256
from itertools import chain, repeat
from typing import Any, Final, TypeAlias, Union

from attrs import field, frozen

from gram import GramError, Pattern, Source, expect, fault, origin, read_in_pieces
from lenses_ext import FocusError, ProgramError

from ..errors import ReplayError, ValidationError
from ..machine import (
    At,
    CallFailed,
    CallModel,
    CallTool,
    Decided,
    Effect,
    Event,
    ModelReplied,
    Resumed,
    State,
    TimeUp,
    ToolReturned,
    pending,
)
from ..messages import AssistantRole, ToolInvocation, Usage
from .event_pattern import REQUEST, event_from_pattern
from .fingerprints import Fingerprints
from .pattern_parts import Reader
from .run_notes import NOTES, Begun, Note, note_from_pattern, read_time
from .seals import UNSEALED, VERIFY, Folded, Seal
from .state_pattern import state_from_pattern
from .steps import Course, Step

RUN = "Run"
FORMAT = 2
"""The version of the form of the entries that are written."""

_FORMATS = (1, 2)
"""Those that are read; 1 had no notes."""


Entry: TypeAlias = Union[Step, Note]


def _checked_entries(given: tuple[Entry, ...]) -> tuple[Entry, ...]:
    expect(given, tuple, "entries", by="RecordedRun")
    return given


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
        session: the name of the session's file beside it, if the run is a turn of a session.
        source: the text that it was read from, or None.
        seals: the seals of its first entry and of its steps, in order; none where it was not read.
        steps: its steps, in order.
        notes: its notes, in order.
    """

    first: State
    entries: tuple[Entry, ...] = field(converter=_checked_entries)
    program: str
    filename: str | None
    library: tuple[Pattern, ...]
    started: datetime | None = None
    session: str | None = None
    source: Source | None = field(default=None, eq=False)
    seals: tuple[Seal, ...] = field(default=(), eq=False)
    steps: tuple[Step, ...] = field(init=False, eq=False)
    notes: tuple[Note, ...] = field(init=False, eq=False)

    @steps.default
    def _steps_of_entries(self) -> tuple[Step, ...]:
        return tuple(each for each in self.entries if isinstance(each, Step))

    @notes.default
    def _notes_of_entries(self) -> tuple[Note, ...]:
        return tuple(each for each in self.entries if not isinstance(each, Step))

    def __repr__(self) -> str:
        return repr(self.state).replace("State", "RecordedRun", 1)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))  # IPython and Hypothesis would show all its parts

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from .. import run_form  # only needed in notebooks

        return run_form(self)

    @property
    def state(self) -> State:
        """Where the run stands."""
        return self.steps[-1].state if self.steps else self.first

    @property
    def events(self) -> tuple[Event, ...]:
        """The events, in order."""
        return tuple(each.event for each in self.steps)

    @property
    def content(self) -> str:
        """What the model has said last; ``""`` before it said anything."""
        last = self.state.context[-1]
        return last.content if last.role is AssistantRole else ""

    @property
    def tools_used(self) -> tuple[ToolInvocation, ...]:
        """The calls that were answered, in their order, also those of a turn that did not end."""
        return self.state.tools_used

    @property
    def usage(self) -> Usage:
        """The tokens that were used."""
        return self.state.usage

    @property
    def unanswered(self) -> frozenset[At]:
        """The positions of what had begun, and has no answer: it may have been done."""
        begun: set[At] = set()
        for entry in self.entries:
            if isinstance(entry, Begun):
                begun.add(entry.at)
            elif isinstance(entry, Step):
                begun.discard(entry.event.at)
        return frozenset(each.at for each in pending(self.state) if each.at in begun)

    def placed(self, told: str, step: Step | None = None) -> str:
        """What is said of a step, after ``file:line:col`` of its entry as far as that is known."""
        if self.source is None or (step is not None and step.start is None):
            return told
        place = self.source.filename if step is None else self.source.place(step.start or 0)
        return f"{place}: {told}" if place else told

    @property
    def seal(self) -> str:
        """The seal of its last event, or of its first entry if it has none; "" without one."""
        return self.seals[-1].recorded if self.seals else ""

    def check(self) -> None:
        """Check that the run is as it was recorded, and that this version makes the same of it.

        What has no seal is not compared, see `interp.records.seals`.

        Raises:
            ReplayError: an entry was changed, or leads to something else than it did.
        """
        if self.seals and not self.seals[0].is_whole:
            place = self.source.place(0) if self.source else ""
            told = f"the first entry is not as it was recorded\n{_EDITED}"
            raise ReplayError(f"{place}: {told}" if place else told)
        if misfit := self._misfit():
            index, told = misfit
            raise ReplayError(self.placed(told, self.steps[index]))

    @property
    def fitting(self) -> tuple[Step, ...]:
        """Its steps up to the first that is not as it was recorded, see `check`."""
        misfit = self._misfit()
        return self.steps[: misfit[0]] if misfit else self.steps

    def _misfit(self) -> tuple[int, str] | None:
        """The index of the first step that is not as it was recorded, and what is said of it."""
        fingerprints, state = Fingerprints(), self.first
        asked: dict[At, Effect] = {each.at: each for each in pending(state)}
        seals = chain(self.seals[1:], repeat(UNSEALED))
        for index, (each, seal) in enumerate(zip(self.steps, seals, strict=False)):
            named = _named(each.event)
            if not seal.is_whole:
                told = f"{named} is not as it was recorded, or an entry before it was removed"
                return index, f"{told}\n{_EDITED}"
            effect = asked.pop(each.event.at, None)
            request = effect.request if isinstance(effect, CallModel) else None
            if each.request and request and fingerprints.of(request) != each.request:
                told = "another request than the one that the entries before it lead to"
                return index, f"{named} answered {told}\n{_EDITED}"
            folded = Folded.of(state, each.event, effect)
            state = folded.state
            asked |= {new.at: new for new in folded.new}
            if not seal.leads_to(folded, fingerprints):
                told = f"{named} leads to something else than when it was recorded"
                return index, f"{told}: now the run waits for {_awaited(state)}\n{_OTHER_VERSION}"
        return None


def read_run(source: Source) -> RecordedRun:
    """Read a recorded run.

    Raises:
        GramDecodeError: the text is not gram.
        ValidationError: it is not the record of a run; the fault has its place.
        ReplayError: an event does not fit the run.
    """
    entries = read_in_pieces(source)
    head = next(entries, None)
    if head is None:
        raise ValidationError(f"{source.filename}: no run is recorded in it")
    if RUN not in head.value.labels:
        message, hint = "this is not the record of a run", "`gram run --record FILE` writes one"
        raise ValidationError.of([fault("no-run", message, head, "labels", hint=hint)])
    keys = ["format", "version", "file", "program", "sha256", "started", "session", VERIFY]
    read = Reader(head, RUN, keys)
    found = read.number("format")
    if found not in _FORMATS:
        known = " or ".join(map(str, _FORMATS))
        hint = "it was written by another version of this package"
        read.refuse("other-format", f"format {found} is not {known}", "format", hint)
    if len(head.elements) != 2:
        read.refuse("no-run", "a Run must have two elements, its RunState and its Library")
    program = read.text("program", "")
    if read.has("sha256") and read.text("sha256") != hash_of(program):
        message, hint = "the text of the program is not the one that was run", "was it edited?"
        read.refuse("edited-program", message, "program", hint)
    first = state_from_pattern(head.elements[0])
    seals = [Seal.of(head, "")]
    try:
        found_entries = tuple(_entries(first, entries, seals))
    except (FocusError, ProgramError) as error:
        program_run = head.elements[0].elements[0]
        told = str(error).removeprefix(f"{origin(program_run)}: ")
        message, hint = f"what was run is not a valid program: {told}", "was it edited?"
        raise ValidationError.of([fault("no-program", message, program_run, hint=hint)]) from None
    return RecordedRun(
        first,
        found_entries,
        program,
        read.text("file") if read.has("file") else None,
        head.elements[1].elements,
        read_time(read, "started") if read.has("started") else None,
        read.text("session") if read.has("session") else None,
        source,
        tuple(seals),
    )


def hash_of(program: str) -> str:
    """The hash of a program's text."""
    return sha256(program.encode(errors="surrogatepass")).hexdigest()


def _entries(first: State, entries: Iterable[Pattern], seals: list[Seal]) -> Iterator[Entry]:
    """The entries behind the first; their seals are added to those before."""
    course = Course(first)
    for entry in entries:
        if label := next((each for each in entry.value.labels if each in NOTES), None):
            yield note_from_pattern(entry, label)
            continue
        event, seconds = event_from_pattern(entry)
        request, place = entry.value.properties.get(REQUEST), origin(entry)
        try:
            found = course.take(
                event,
                seconds,
                request if isinstance(request, str) else None,
                place.span.start if place else None,
            )
        except GramError as error:
            told = str(error).replace(repr(event), "it")  # the entry is shown below
            message = f"the run does not come to this: {told}; expected {_awaited(course.state)}"
            misfit = fault("misfit", message, entry)
            raise ReplayError(misfit.with_hint()) from None
        seals.append(Seal.of(entry, seals[-1].recorded))
        yield found


def _named(event: Event) -> str:
    """An event as messages name it."""
    return _NAMES[type(event)] + (f" at {position_text(event.at)}" if event.at else "")


_NAMES: Final[dict[type[Event], str]] = {
    ModelReplied: "the reply",
    ToolReturned: "the result",
    CallFailed: "the failure",
    Decided: "the decision",
    TimeUp: "the end of the time",
    Resumed: "the change",
}

_EDITED: Final = "  hint: was it edited? Without the properties verify, entries are not compared"
_OTHER_VERSION: Final = "  hint: was it recorded by another version of this package?"


def _awaited(state: State) -> str:
    """What a run waits for, in words."""
    awaited = [f"{_answer_of(each)} at {position_text(each.at)}" for each in pending(state)]
    return " or ".join(awaited) or f"no event, since the run is {state.status.value}"


def _answer_of(effect: Effect) -> str:
    if isinstance(effect, CallModel):
        return f"a reply of {effect.request.model}"
    return f"{'a result of' if isinstance(effect, CallTool) else 'a decision about'} {effect.name}"


def position_text(at: At) -> str:
    """A position as messages name it: ``position (0, 1)``."""
    return f"position ({', '.join(map(str, at))})"
