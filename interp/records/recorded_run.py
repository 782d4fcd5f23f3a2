"""A recorded run: the State that it began with, its steps and the notes between them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from datetime import datetime
from hashlib import sha256
from itertools import chain, repeat, takewhile
from typing import Any, Final, TypeAlias, Union

from attrs import field, frozen

from gram import Pattern, Source, expect

from ..errors import ReplayError
from ..machine import (
    AssistantRole,
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
    ToolInvocation,
    ToolReturned,
    Usage,
    pending,
)
from ..tools import Tool
from .fingerprints import Fingerprints
from .run_notes import Begun, Note
from .seals import UNSEALED, Seal
from .steps import Step

RUN: Final = "Run"
BUILT_IN: Final = "built_in"
"""The property of a tool in the first entry that is one of `hello_world_tool_library`."""
ONCE: Final = "once"
"""The property of a tool in the first entry whose calls are not repeated by themselves."""
FORMAT: Final = 2
"""The version of the form of the entries that are written."""

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
    def own_tools(self) -> frozenset[str]:
        """The names of the tools that it had, but for the built-in ones."""
        tools = (each.value for each in self.library)
        return frozenset(each.identity for each in tools if BUILT_IN not in each.properties)

    @property
    def once(self) -> frozenset[str]:
        """The names of the tools that were marked ``once`` when it began."""
        tools = (each.value for each in self.library)
        return frozenset(each.identity for each in tools if each.properties.get(ONCE) is True)

    def why_not_with(self, library: Mapping[str, Tool]) -> str | None:
        """Why it is not gone on with by the tools of a library; None if it may be.

        A built-in tool is never run in place of its own.
        """
        built_in = {name for name, tool in library.items() if tool.is_built_in}
        replaced = sorted(self.own_tools & built_in)
        if not replaced:
            return None
        return f"the run was recorded with its own {', '.join(replaced)}, not the built-in one"

    @property
    def unanswered(self) -> frozenset[At]:
        """The positions of what had begun, and has no answer: it may have been done."""
        begun: set[At] = set()
        for entry in self.entries:
            if isinstance(entry, Begun):
                begun.add(entry.at)
            elif isinstance(entry, Step):
                begun.discard(entry.event.at)
        needed = pending(self.state, past_limit=True)
        return frozenset(each.at for each in needed if each.at in begun)

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

    @property
    def edited(self) -> str | None:
        """The first entry that is not as it was recorded, with its place; None without one.

        Entries are compared with their seals alone; `check` also compares what they led to.
        """
        if self.seals and not self.seals[0].is_whole:
            return self._placed_first(_FIRST_EDITED)
        found = (step for step, seal in self._sealed_steps() if not seal.is_whole)
        step = next(found, None)
        return None if step is None else self.placed(_edited(step), step)

    def _placed_first(self, told: str) -> str:
        """What is said of the first entry, after its place as far as that is known."""
        place = self.source.place(0) if self.source else ""
        return f"{place}: {told}" if place else told

    def check(self) -> None:
        """Check that the run is as it was recorded, and that this version makes the same of it.

        What has no seal is not compared, see `interp.records.seals`.

        Raises:
            ReplayError: an entry was changed, or leads to something else than it did.
        """
        deque(self.checked_steps(), maxlen=0)

    def checked_steps(self) -> Iterator[Step]:
        """Its steps, each when it was checked, see `check`."""
        fingerprints = Fingerprints()
        if self.seals and (told := _misfit_of_first(self.first, self.seals[0], fingerprints)):
            raise ReplayError(self._placed_first(told))
        for step, seal in self._sealed_steps():
            if misfit := _misfit(step, seal, fingerprints):
                raise ReplayError(self.placed(misfit, step))
            yield step

    @property
    def fitting(self) -> tuple[Step, ...]:
        """Its steps up to the first that is not as it was recorded, see `check`."""
        fingerprints = Fingerprints()
        fits = takewhile(lambda each: not _misfit(*each, fingerprints), self._sealed_steps())
        return tuple(step for step, _ in fits)

    def _sealed_steps(self) -> Iterator[tuple[Step, Seal]]:
        return zip(self.steps, chain(self.seals[1:], repeat(UNSEALED)), strict=False)


def _misfit_of_first(first: State, seal: Seal, fingerprints: Fingerprints) -> str | None:
    """How the first entry is not as it was recorded, if it is not."""
    if not seal.is_whole:
        return f"{_FIRST_EDITED}\n{_EDITED}"
    if not seal.leads_to(first, pending(first), fingerprints):
        return f"the run begins with something else than when it was recorded\n{_OTHER_VERSION}"
    return None


def _misfit(step: Step, seal: Seal, fingerprints: Fingerprints) -> str | None:
    """How a step is not as it was recorded, if it is not."""
    named = _named(step.event)
    if not seal.is_whole:
        return f"{_edited(step)}\n{_EDITED}"
    folded = step.folded
    request = folded.effect.request if isinstance(folded.effect, CallModel) else None
    if step.request and request and fingerprints.of(request) != step.request:
        told = "another request than the one that the entries before it lead to"
        return f"{named} answered {told}\n{_EDITED}"
    if not seal.leads_to(folded.state, folded.new, fingerprints):
        told = f"{named} leads to something else than when it was recorded"
        return f"{told}: now the run waits for {awaited(folded.state)}\n{_OTHER_VERSION}"
    return None


def _edited(step: Step) -> str:
    """What is said of a step that is not as it was recorded."""
    named = _named(step.event)
    return f"{named} is not as it was recorded, or an entry before it was removed"


def hash_of(program: str) -> str:
    """The hash of a program's text."""
    return sha256(program.encode(errors="surrogatepass")).hexdigest()


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

_FIRST_EDITED: Final = "the first entry is not as it was recorded"
_EDITED: Final = "  hint: was it edited? An entry without the property `verify` is not compared"
_OTHER_VERSION: Final = (
    "  hint: was it recorded by another version of this package? "
    "`gram runs fork` goes on from what is the same"
)


def awaited(state: State) -> str:
    """What a run waits for, in words."""
    answers = [f"{_answer_of(each)} at {position_text(each.at)}" for each in pending(state)]
    return " or ".join(answers) or f"no event, since the run is {state.status.value}"


def _answer_of(effect: Effect) -> str:
    if isinstance(effect, CallModel):
        return f"a reply of {effect.request.model}"
    return f"{'a result of' if isinstance(effect, CallTool) else 'a decision about'} {effect.name}"


def position_text(at: At) -> str:
    """A position as messages name it: ``position (0, 1)``."""
    return f"position ({', '.join(map(str, at))})"
