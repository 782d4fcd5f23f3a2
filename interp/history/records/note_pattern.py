"""Converts the notes of a recorded run to patterns and back.

.. code-block:: text

    (:Begun {at: [0], time: "2026-11-22T15:10:34.120+00:00"})
    (:Retried {at: [0], error: "rate limited", wait: 0.5})
    (:Failed {at: [0], error: "the provider is down", seconds: 1.2})
    (:Stopped {error: "interrupted", time: "2026-11-22T15:10:36.000+00:00"})
"""

from __future__ import annotations

from typing import Final, get_args

from attrs import fields

from gram import Pattern

from ...execution import Note
from .nodes import node
from .pattern_parts import Reader
from .property_forms import AT, SECONDS, TEXT, TIME, Form

NOTES: Final = {kind.__name__: kind for kind in get_args(Note)}
"""The notes, by their labels."""

_FIELDS: Final = {"at": AT, "time": TIME, "error": TEXT, "wait": SECONDS, "seconds": SECONDS}
_FORMS: Final = {
    label: Form(kind, {}, **{each.name: _FIELDS[each.name] for each in fields(kind)})
    for label, kind in NOTES.items()
}


def note_to_pattern(note: Note) -> Pattern:
    """Convert a note to a pattern."""
    label = type(note).__name__
    return node(label, _FORMS[label].write(note))


def label_of_note(pattern: Pattern) -> str | None:
    """The label of an entry that is a note; None for an event."""
    return next((each for each in pattern.value.labels if each in NOTES), None)


def note_from_pattern(pattern: Pattern, label: str) -> Note:
    """Read a note.

    Raises:
        ValidationError: the pattern is not a note; the fault has its place.
    """
    read = Reader(pattern, label, _FORMS[label].keys)
    read.without_elements()
    note: Note = NOTES[label](**_FORMS[label].read(read))
    return note
