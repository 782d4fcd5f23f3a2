"""Converts the events of a run, and notes of it, to patterns and back.

.. code-block:: text

    [:ModelReplied {at: [0], finish: "tool_calls", request: "9f3c…", usage: {…}} | [:Assistant | …]]
    (:CallBegun {at: [0, 0]})
    (:ToolReturned {at: [0, 0], result: json`{"ok": true}`})
    [:ToolReturned {at: [0, 1], result: "a.png (…)"} | (:File {bytes: base64`…`, …})]
    (:CallFailed {at: [0, 1], error: "no such file"})
    (:Decided {allowed: true, at: [0, 2]})
    (:TimeUp)
    (:CostReached {expected: "0.02"})
    [:Resumed {limits: {…}} | [:ApprovalPolicy {otherwise: "ask"}]]

Two properties are not folded: ``seconds``, how long the answered effect took, and ``request``, the
fingerprint of the request that a reply answers.

.. code-block:: text

    (:Begun {at: [0], time: "2026-11-22T15:10:34.120+00:00"})
    (:Retried {at: [0], error: "rate limited", wait: 0.5})
    (:Failed {at: [0], error: "the provider is down", seconds: 1.2})
    (:Stopped {error: "interrupted", time: "2026-11-22T15:10:36.000+00:00"})
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, get_args

from attrs import fields

from gram import Pattern

from ...execution import Note
from ...machine import (
    ApprovalPolicy,
    CallBegun,
    CallFailed,
    CostReached,
    Decided,
    Event,
    ModelReplied,
    Resumed,
    TimeUp,
    ToolReturned,
)
from .conversation_pattern import (
    file_from_pattern,
    files_to_patterns,
    message_from_pattern,
    message_to_pattern,
)
from .pattern_parts import Reader, expect_one_of, node
from .property_forms import (
    AMOUNT,
    AT,
    FLAG,
    JSON,
    LIMITS,
    MODEL,
    SECONDS,
    SETTINGS,
    TEXT,
    TIME,
    TRIED,
    USAGE,
    WORDS,
    Form,
)

CHANGES: Final = Form(
    Resumed,
    {"check_results": "checkResults"},
    limits=LIMITS,
    model=MODEL,
    settings=SETTINGS,
    check_results=FLAG,
)
"""How a change by the caller is written, and what a run begins with."""

EVENTS: Final[Mapping[type[Event], Form]] = {
    ModelReplied: Form(
        ModelReplied,
        {"finish_reason": "finish", "served_model": "served"},
        at=AT,
        usage=USAGE,
        truncated=FLAG,
        finish_reason=WORDS,
        served_model=WORDS,
        server=WORDS,
        reasoning=WORDS,
        model=MODEL,
        tried=TRIED,
        cost=AMOUNT,
    ),
    CallBegun: Form(CallBegun, at=AT),
    ToolReturned: Form(ToolReturned, at=AT, result=JSON),
    CallFailed: Form(CallFailed, at=AT, error=WORDS),
    Decided: Form(Decided, at=AT, allowed=FLAG, reason=WORDS),
    CostReached: Form(CostReached, at=AT, expected=AMOUNT),
    TimeUp: Form(TimeUp, at=AT),
    Resumed: CHANGES,
}
_KINDS: Final = {kind.__name__: kind for kind in EVENTS}


def event_written(
    event: Event, written: set[str], seconds: float | None = None, request: str | None = None
) -> Pattern:
    """Convert an event to a pattern; see `WrittenEvent`.

    Args:
        event: the event.
        written: the hashes of files whose bytes are written before; new ones are added.
        seconds, request: what is written beside it.
    """
    properties = EVENTS[type(event)].write(event)
    elements: tuple[Pattern, ...] = ()
    match event:
        case ModelReplied():
            elements = (message_to_pattern(event.message, set()),)
        case ToolReturned():
            elements = tuple(files_to_patterns(event.files, written))
        case Resumed(policy=ApprovalPolicy() as policy):
            elements = (policy.to_pattern(),)
    if seconds is not None:
        properties["seconds"] = round(seconds, 6)
    if request is not None:
        properties["request"] = request
    return node(type(event).__name__, properties, elements)


class WrittenEvent(NamedTuple):
    """An event as it is written.

    Attributes:
        event: the event.
        seconds: how long the effect took that it answers, or None.
        request: the fingerprint of the request that a reply answers, or None.
    """

    event: Event
    seconds: float | None
    request: str | None


def written_event(pattern: Pattern, known: dict[str, bytes]) -> WrittenEvent:
    """Read an event and what is beside it.

    Args:
        pattern: its pattern.
        known: the bytes of files that were read before, by their hashes; new ones are added.

    Raises:
        ValidationError: the pattern is not an event; the fault has its place.
    """
    label = expect_one_of(_KINDS, pattern)
    kind, elements = _KINDS[label], pattern.elements
    beside = ("seconds", "request") if kind is ModelReplied else ("seconds",)
    read = Reader(pattern, label, [*EVENTS[kind].keys, *beside])
    given = EVENTS[kind].read(read)
    if kind is ModelReplied:
        if len(elements) != 1:
            read.refuse("no-message", "a ModelReplied must have one element, what the model said")
        given["message"] = message_from_pattern(elements[0], {})
    elif kind is ToolReturned:
        given["files"] = tuple(file_from_pattern(each, known) for each in elements)
    elif kind is Resumed and elements:
        if len(elements) > 1:
            read.refuse("ill-formed", "a Resumed has at most one element, its ApprovalPolicy")
        given["policy"] = ApprovalPolicy.from_pattern(elements[0])
    else:
        read.without_elements()
    request = read.text("request") if read.has("request") else None
    return WrittenEvent(kind(**given), read.seconds(), request)


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
