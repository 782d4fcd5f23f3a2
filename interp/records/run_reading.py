"""Reading what is recorded of a run: each entry is folded as it is read."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from attrs import evolve

from gram import GramError, Pattern, Source, fault, origin, read_in_pieces
from lenses_ext import FocusError, ProgramError

from ..errors import ReplayError, ValidationError
from .event_pattern import REQUEST, event_from_pattern
from .pattern_parts import Reader
from .recorded_run import FORMAT, RUN, Entry, RecordedRun, awaited, hash_of
from .run_notes import NOTES, note_from_pattern, read_time
from .seals import VERIFY, Seal
from .state_pattern import state_from_pattern
from .steps import Course, Step

_FORMATS: Final = (1, FORMAT)
"""Those that are read; 1 had no notes."""


class RunReading:
    """A recorded run that is read entry by entry, also one that is still written.

    Args:
        source: the text, which ends after a whole entry.

    Attributes:
        run: the run as far as it was read; before `rest`, without entries.

    Raises:
        GramDecodeError: the first entry is not gram.
        ValidationError: it is not the record of a run; the fault has its place.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._patterns = read_in_pieces(source)
        head = next(self._patterns, None)
        if head is None:
            raise ValidationError(f"{source.filename}: no run is recorded in it")
        self.run = _begun(head, source)
        self._program = head.elements[0].elements[0]
        try:
            self._course = Course(self.run.first)
        except (FocusError, ProgramError) as error:
            raise _no_program(self._program, error) from None
        self._entries: list[Entry] = []
        self._seals = list(self.run.seals)

    def rest(self) -> Iterator[Entry]:
        """Read the entries that were not read yet, one after another.

        Raises:
            GramDecodeError: the text is not gram.
            ValidationError: an entry is none of a run; the fault has its place.
            ReplayError: an event does not fit the run.
        """
        course = self._course
        try:
            for pattern in self._patterns:
                if label := next((each for each in pattern.value.labels if each in NOTES), None):
                    entry: Entry = note_from_pattern(pattern, label)
                else:
                    entry = _step(course, pattern)
                    self._seals.append(Seal.of(pattern, self._seals[-1].recorded))
                self._entries.append(entry)
                yield entry
        except (FocusError, ProgramError) as error:
            raise _no_program(self._program, error) from None
        self.run = evolve(self.run, entries=tuple(self._entries), seals=tuple(self._seals))

    def go_on(self, source: Source) -> None:
        """Go on with a text that begins with the one so far; `rest` gives what it has more."""
        self._patterns = read_in_pieces(source, start=len(self._source.text))
        self._source = source
        self.run = evolve(self.run, source=source)


def read_run(source: Source) -> RecordedRun:
    """Read a recorded run.

    Raises:
        GramDecodeError: the text is not gram.
        ValidationError: it is not the record of a run; the fault has its place.
        ReplayError: an event does not fit the run.
    """
    reading = RunReading(source)
    deque(reading.rest(), maxlen=0)
    return reading.run


def _begun(head: Pattern, source: Source) -> RecordedRun:
    """What the first entry says of a run."""
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
    return RecordedRun(
        state_from_pattern(head.elements[0]),
        (),
        program,
        read.text("file") if read.has("file") else None,
        head.elements[1].elements,
        read_time(read, "started") if read.has("started") else None,
        read.text("session") if read.has("session") else None,
        source,
        (Seal.of(head, ""),),
    )


def _no_program(program: Pattern, error: GramError) -> ValidationError:
    told = str(error).removeprefix(f"{origin(program)}: ")
    message, hint = f"what was run is not a valid program: {told}", "was it edited?"
    return ValidationError.of([fault("no-program", message, program, hint=hint)])


def _step(course: Course, entry: Pattern) -> Step:
    event, seconds = event_from_pattern(entry)
    request, place = entry.value.properties.get(REQUEST), origin(entry)
    try:
        return course.take(
            event,
            seconds,
            request if isinstance(request, str) else None,
            place.span.start if place else None,
        )
    except GramError as error:
        told = str(error).replace(repr(event), "it")  # the entry is shown below
        message = f"the run does not come to this: {told}; expected {awaited(course.state)}"
        misfit = fault("misfit", message, entry)
        raise ReplayError(misfit.with_hint()) from None
