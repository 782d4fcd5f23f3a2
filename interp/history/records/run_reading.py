"""Reading what is recorded of a run: each entry is folded as it is read."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from attrs import evolve

from gram import GramError, Pattern, Source, fault, origin, read_in_pieces

from ...errors import ReplayError, ValidationError
from .event_pattern import written_event
from .first_entry import run_from_head
from .note_pattern import label_of_note, note_from_pattern
from .recorded_run import Entry, RecordedRun, awaited
from .replayer import RecordedStep, Replayer


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
            raise ValidationError(f"{source.filename}: nothing of a run had begun")
        self.run = run_from_head(head, source)
        self._replayer = Replayer(self.run.first)
        self._entries: list[Entry] = []

    def rest(self) -> Iterator[Entry]:
        """Read the entries that were not read yet, one after another.

        Raises:
            GramDecodeError: the text is not gram.
            ValidationError: an entry is none of a run; the fault has its place.
            ReplayError: an event does not fit the run.
        """
        for pattern in self._patterns:
            label = label_of_note(pattern)
            entry = note_from_pattern(pattern, label) if label else _step(self._replayer, pattern)
            self._entries.append(entry)
            yield entry
        self.run = evolve(self.run, entries=tuple(self._entries))

    def go_on(self, source: Source) -> None:
        """Go on with a text that begins with the one so far; `rest` gives what it has more."""
        self._patterns = read_in_pieces(source, start=len(self._source.text))
        self._source = source
        self.run = evolve(self.run, source=source)


def read_run(text: str, name: str | None = None) -> RecordedRun:
    """Read a recorded run.

    Args:
        text: the run as gram, see `run_text`.
        name: how messages name it, such as its file.

    Raises:
        GramDecodeError: the text is not gram.
        ValidationError: it is not the record of a run; the fault has its place.
        ReplayError: an event does not fit the run.
    """
    reading = RunReading(Source(text, name))
    deque(reading.rest(), maxlen=0)
    return reading.run


def _step(replayer: Replayer, entry: Pattern) -> RecordedStep:
    written, place = written_event(entry), origin(entry)
    try:
        return replayer.take(*written, start=place.span.start if place else None)
    except GramError as error:
        told = str(error).replace(repr(written.event), "it")  # the entry is shown below
        message = f"the run does not come to this: {told}; expected {awaited(replayer.state)}"
        raise ReplayError(fault("misfit", message, entry).with_hint()) from None
