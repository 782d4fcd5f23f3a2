"""The entries of a run as lines of gram."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from gram import Pattern

from ...execution import Folded, Note
from ...machine import CallModel, State, ToolReturned
from ...tools import Tool
from .event_pattern import event_written
from .file_pattern import contents
from .fingerprints import fingerprint
from .first_entry import Turn, head_of
from .nodes import pattern_line
from .note_pattern import note_to_pattern
from .replayer import Replayer


def event_line(folded: Folded, seconds: float | None = None) -> str:
    """An event, see `RunLog.append`."""
    event, effect = folded.event, folded.effect
    request = fingerprint(effect.request) if isinstance(effect, CallModel) else None
    has_files = isinstance(event, ToolReturned) and event.files
    written = {*contents(folded.state, folded.state.events[:-1])} if has_files else set()
    return pattern_line(event_written(event, written, seconds, request))


def note_line(note: Note) -> str:
    """A note."""
    return pattern_line(note_to_pattern(note))


def event_lines(state: State) -> Iterator[str]:
    """The events of a State."""
    replayer = Replayer(state.beginning)
    for event in state.events:
        yield event_line(replayer.take(event).folded)


def run_text(
    state: State,
    tools: Iterable[Tool | Pattern] = (),
    started: datetime | None = None,
    after: Turn | None = None,
) -> str:
    """A run as gram: what it was begun with, and what has happened since, an entry to a line.

    Args:
        state: a State of the run.
        tools: the implementations of its tools, or what a record has of them.
        started: when it began, if that is known.
        after: the turn of the same file that it goes on from, or None.
    """
    lines = (head_of(state, tools, started, after), *event_lines(state))
    return "".join(f"{line}\n" for line in lines)
