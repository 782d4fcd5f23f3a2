"""A recorded run with its timeline, of which each event is folded once."""

from __future__ import annotations

from gram import Source

from ..records import RecordedRun, RunReading
from .entries import Timeline
from .timeline import TimelineReader


class ShownRun:
    """A recorded run that is read, and its timeline made meanwhile.

    Args:
        source: what is recorded, see `RunReading`.
        has_prices: as for `timeline`.

    Raises:
        GramDecodeError: what is recorded is not gram.
        ValidationError: what is recorded is no run; the fault has its place.
        ReplayError: an event does not fit the run.
    """

    def __init__(self, source: Source, *, has_prices: bool = True) -> None:
        self._source = source
        self._reading = RunReading(source)
        self._timeline = TimelineReader(self._reading.run, has_prices=has_prices)
        self._read()

    @property
    def run(self) -> RecordedRun:
        """The run as far as it was read."""
        return self._reading.run

    @property
    def text(self) -> str:
        """What of it was read."""
        return self._source.text

    def timeline(self) -> Timeline:
        """Its timeline."""
        return self._timeline.timeline()

    def go_on(self, source: Source) -> None:
        """Read what was recorded since, in a text that begins with the one before.

        Raises:
            GramDecodeError, ValidationError, ReplayError: as for the class.
        """
        self._source = source
        self._reading.go_on(source)
        self._read()

    def _read(self) -> None:
        for entry in self._reading.rest():
            self._timeline.take(entry)
