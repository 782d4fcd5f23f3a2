"""Converts the notes of a recorded run to patterns and back.

.. code-block:: text

    (:Begun {at: [0], time: "2026-11-22T15:10:34.120+00:00"})
    (:Retried {at: [0], error: "rate limited", wait: 0.5})
    (:Failed {at: [0], error: "the provider is down", seconds: 1.2})
    (:Stopped {error: "interrupted", time: "2026-11-22T15:10:36.000+00:00"})
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, get_args

from attrs import fields

from gram import Pattern

from ...execution import Note
from .nodes import node
from .pattern_parts import Reader, write_text

NOTES: Final = {kind.__name__: kind for kind in get_args(Note)}
"""The notes, by their labels."""


def note_to_pattern(note: Note) -> Pattern:
    """Convert a note to a pattern."""
    written = {name: _FORMS[name][0](getattr(note, name)) for name in _names(type(note))}
    return node(type(note).__name__, written)


def label_of_note(pattern: Pattern) -> str | None:
    """The label of an entry that is a note; None for an event."""
    return next((each for each in pattern.value.labels if each in NOTES), None)


def note_from_pattern(pattern: Pattern, label: str) -> Note:
    """Read a note.

    Raises:
        ValidationError: the pattern is not a note; the fault has its place.
    """
    names = _names(NOTES[label])
    read = Reader(pattern, label, names)
    read.without_elements()
    note: Note = NOTES[label](**{name: _FORMS[name][1](read, name) for name in names})
    return note


def _names(kind: type[Note]) -> list[str]:
    return [each.name for each in fields(kind)]


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


_SECONDS: Final = (lambda each: round(each, 6), lambda read, key: read.seconds(key) or 0.0)
_FORMS: Final[dict[str, tuple[Callable[[Any], Any], Callable[[Reader, str], Any]]]] = {
    "at": (tuple, Reader.position),
    "time": (write_time, read_time),
    "error": (write_text, Reader.text),
    "wait": _SECONDS,
    "seconds": _SECONDS,
}
"""How each field of a note is written and read."""
