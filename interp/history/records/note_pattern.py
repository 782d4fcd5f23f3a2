"""Converts the notes of a recorded run to patterns and back.

.. code-block:: text

    (:Begun {at: [0], time: "2026-11-22T15:10:34.120+00:00"})
    (:Retried {at: [0], error: "rate limited", wait: 0.5})
    (:Failed {at: [0], error: "the provider is down", seconds: 1.2})
    (:Stopped {error: "interrupted", time: "2026-11-22T15:10:36.000+00:00"})
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import get_args

from gram import Pattern

from ...execution import Begun, Failed, Note, Retried, Stopped
from .nodes import node
from .pattern_parts import Reader, write_text

NOTES = {kind.__name__: kind for kind in get_args(Note)}
"""The notes, by their labels."""


def note_to_pattern(note: Note) -> Pattern:
    """Convert a note to a pattern."""
    label = type(note).__name__
    match note:
        case Begun(at, time):
            return node(label, {"at": at, "time": write_time(time)})
        case Retried(at, error, wait):
            given = {"at": at, "error": write_text(error)}
            return node(label, {**given, "wait": round(wait, 6)})
        case Failed(at, error, seconds):
            given = {"at": at, "error": write_text(error)}
            return node(label, {**given, "seconds": round(seconds, 6)})
        case Stopped(error, time):
            return node(label, {"error": write_text(error), "time": write_time(time)})


def label_of_note(pattern: Pattern) -> str | None:
    """The label of an entry that is a note; None for an event."""
    return next((each for each in pattern.value.labels if each in NOTES), None)


def note_from_pattern(pattern: Pattern, label: str) -> Note:
    """Read a note.

    Raises:
        ValidationError: the pattern is not a note; the fault has its place.
    """
    match label:
        case "Begun":
            read = Reader(pattern, label, ["at", "time"])
            note: Note = Begun(read.position(), read_time(read))
        case "Retried":
            read = Reader(pattern, label, ["at", "error", "wait"])
            note = Retried(read.position(), read.text("error"), read.seconds("wait") or 0.0)
        case "Failed":
            read = Reader(pattern, label, ["at", "error", "seconds"])
            note = Failed(read.position(), read.text("error"), read.seconds() or 0.0)
        case _:
            read = Reader(pattern, "Stopped", ["error", "time"])
            note = Stopped(read.text("error"), read_time(read))
    read.without_elements()
    return note


def write_time(time: datetime) -> str:
    """A moment as the value of a property."""
    return time.isoformat(timespec="milliseconds")


def read_time(read: Reader, key: str = "time") -> datetime:
    """The moment that `write_time` wrote."""
    text = read.text(key)
    try:
        found = datetime.fromisoformat(text)
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    except ValueError:
        read.refuse("ill-typed", f"{key} of {read.label} must be a time, found {text}", key)
