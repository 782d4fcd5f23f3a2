"""Writes the entries of a run as lines of gram."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from gram import Pattern

from ..machine import CallBegun, CallModel, ModelReplied, State
from ..tools import Tool
from .event_pattern import event_node
from .fingerprints import Fingerprints
from .first_entry import head_of
from .note_pattern import note_node
from .replayer import Replayer
from .run_log import Folded
from .run_notes import Note, now


class EntryWriter:
    """Writes the entries of one run."""

    def __init__(self) -> None:
        self._fingerprints = Fingerprints()

    def event(self, folded: Folded, seconds: float | None = None) -> str:
        """An event, see `RunLog.append`."""
        event, effect = folded.event, folded.effect
        request = time = None
        if isinstance(event, ModelReplied) and isinstance(effect, CallModel):
            request = self._fingerprints.of(effect.request)
        if isinstance(event, CallBegun):
            time = now()
        return event_node(event, seconds, request, time).line()

    def note(self, note: Note) -> str:
        """A note."""
        return note_node(note).line()

    def events_of(self, state: State, count: int = 0) -> Iterator[str]:
        """The events of a State.

        Args:
            state: the State.
            count: how many are left out.
        """
        replayer = Replayer(state.beginning)
        for index, event in enumerate(state.events):
            step = replayer.take(event)
            if index >= count:
                yield self.event(step.folded)


def run_text(
    state: State, tools: Iterable[Tool | Pattern] = (), started: datetime | None = None
) -> str:
    """A run as gram: what it was begun with, and what has happened since, an entry to a line.

    Args:
        state: a State of the run.
        tools: the implementations of its tools, or what a record has of them.
        started: when it began, if that is known.
    """
    lines = (head_of(state, tools, started).line, *EntryWriter().events_of(state))
    return "".join(f"{line}\n" for line in lines)
