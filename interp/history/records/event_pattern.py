"""Converts the events of a run to patterns and back.

.. code-block:: text

    [:ModelReplied {at: [0], finish: "tool_calls", request: "9f3c…", usage: {…}} | [:Assistant | …]]
    (:CallBegun {at: [0, 0]})
    (:ToolReturned {at: [0, 0], result: json`{"ok": true}`})
    (:CallFailed {at: [0, 1], error: "no such file"})
    (:Decided {allowed: true, at: [0, 2]})
    (:TimeUp)
    [:Resumed {limits: {…}} | [:ApprovalPolicy {otherwise: "ask"}]]

Beside them may stand what is not folded: ``seconds``, how long the effect took that the event
answers; ``request``, the fingerprint of the request that a reply answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from attrs import frozen

from gram import Pattern, expect

from ...machine import (
    ApprovalPolicy,
    At,
    CallBegun,
    CallFailed,
    Decided,
    Event,
    ModelReplied,
    Resumed,
    TimeUp,
    ToolReturned,
)
from .conversation_pattern import message_from_pattern, message_node
from .nodes import Node
from .pattern_parts import (
    Reader,
    Written,
    expect_one_of,
    without_empty,
    write_json_text,
    write_text,
)
from .run_parts import CHANGE_KEYS, Changes, read_usage, usage_to_map

Parts: TypeAlias = tuple[dict[str, Written], tuple[Node | Pattern, ...]]


@frozen
class _Form:
    """How the events of one type are written and read.

    Attributes:
        keys: the properties that they may have beside ``at``.
        write: the properties and elements of an event.
        read: the event of a pattern at a position.
    """

    keys: tuple[str, ...]
    write: Callable[[Any], Parts]
    read: Callable[[Reader, At], Event]


def event_to_pattern(event: Event, seconds: float | None = None) -> Pattern:
    """Convert an event to a pattern.

    Args:
        event: the event.
        seconds: how long the effect took that it answers; None if nobody measured it.
    """
    expect(event, tuple(_TYPES), "event", by="event_to_pattern")
    expect(seconds, (int, float, type(None)), "seconds", by="event_to_pattern")
    return event_node(event, seconds).pattern()


def event_node(event: Event, seconds: float | None = None, request: str | None = None) -> Node:
    """Convert an event to a node; see `WrittenEvent`."""
    properties, elements = _TYPES[type(event)].write(event)
    if event.at:
        properties["at"] = event.at
    if seconds is not None:
        properties["seconds"] = round(seconds, 6)
    if request is not None:
        properties["request"] = request
    return Node(type(event).__name__, properties, elements)


def event_from_pattern(pattern: Pattern) -> tuple[Event, float | None]:
    """Read an event, and how many seconds its effect took if that is known.

    Raises:
        ValidationError: the pattern is not an event; the fault has its place.
    """
    expect(pattern, Pattern, "pattern", by="event_from_pattern")
    return written_event(pattern)[:2]


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


def written_event(pattern: Pattern) -> WrittenEvent:
    """Read an event and what is beside it; see `event_from_pattern`."""
    label = expect_one_of(_FORMS, pattern)
    form = _FORMS[label]
    read = Reader(pattern, label, ["at", "seconds", *form.keys])
    event = form.read(read, read.position())
    request = read.text("request") if read.has("request") else None
    return WrittenEvent(event, read.seconds(), request)


# --- each event


def _write_reply(event: ModelReplied) -> Parts:
    properties: dict[str, Written] = {}
    if usage := usage_to_map(event.usage):
        properties["usage"] = usage
    if event.truncated:
        properties["truncated"] = True
    if event.finish_reason:
        properties["finish"] = write_text(event.finish_reason)
    if event.served_model:
        properties["served"] = write_text(event.served_model)
    if event.server:
        properties["server"] = write_text(event.server)
    return properties, (message_node(event.message),)


def _read_reply(read: Reader, at: At) -> Event:
    if len(read.pattern.elements) != 1:
        read.refuse("no-message", "a ModelReplied must have one element, what the model said")
    message = message_from_pattern(read.pattern.elements[0])
    return ModelReplied(
        at,
        message,
        read_usage(read, "usage"),
        read.flag("truncated"),
        read.text("finish", ""),
        read.text("served", ""),
        read.text("server", ""),
    )


def _read_begun(read: Reader, at: At) -> Event:
    read.without_elements()
    return CallBegun(at)


def _read_result(read: Reader, at: At) -> Event:
    read.without_elements()
    text = read.json_text("result")
    read.parsed(text, "result")
    return ToolReturned(at, text)


def _read_failure(read: Reader, at: At) -> Event:
    read.without_elements()
    return CallFailed(at, read.text("error", ""))


def _write_decision(event: Decided) -> Parts:
    return {"allowed": event.allowed, **without_empty({"reason": write_text(event.reason)})}, ()


def _read_decision(read: Reader, at: At) -> Event:
    read.without_elements()
    return Decided(at, read.flag("allowed"), read.text("reason", ""))


def _read_time_up(read: Reader, at: At) -> Event:
    read.without_elements()
    return TimeUp(at)


def _write_change(event: Resumed) -> Parts:
    given = (event.limits, event.model, event.settings, event.check_results)
    return Changes(*given).properties(), (event.policy.to_pattern(),) if event.policy else ()


def _read_change(read: Reader, at: At) -> Event:
    elements = read.pattern.elements
    if len(elements) > 1:
        read.refuse("ill-formed", "a Resumed has at most one element, its ApprovalPolicy")
    policy = ApprovalPolicy.from_pattern(elements[0]) if elements else None
    limits, model, settings, check_results = Changes.read(read)
    return Resumed(limits, model, policy, settings, check_results, at)


_TYPES: Mapping[type[Event], _Form] = {
    ModelReplied: _Form(
        ("usage", "truncated", "finish", "served", "server", "request"),
        _write_reply,
        _read_reply,
    ),
    CallBegun: _Form((), lambda event: ({}, ()), _read_begun),
    ToolReturned: _Form(
        ("result",), lambda event: ({"result": write_json_text(event.result)}, ()), _read_result
    ),
    CallFailed: _Form(
        ("error",), lambda event: ({"error": write_text(event.error)}, ()), _read_failure
    ),
    Decided: _Form(
        ("allowed", "reason"),
        _write_decision,
        _read_decision,
    ),
    TimeUp: _Form((), lambda event: ({}, ()), _read_time_up),
    Resumed: _Form(CHANGE_KEYS, _write_change, _read_change),
}
_FORMS = {kind.__name__: form for kind, form in _TYPES.items()}
