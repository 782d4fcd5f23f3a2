"""Converts the events of a run to patterns and back.

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

Beside them may stand what is not folded: ``seconds``, how long the effect took that the event
answers; ``request``, the fingerprint of the request that a reply answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

from attrs import evolve, frozen

from gram import GramEncodeError, Pattern
from lenses_ext import Model

from ...json_text import write_json
from ...machine import (
    ApprovalPolicy,
    At,
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
from .conversation_pattern import message_from_pattern, message_to_pattern
from .file_pattern import file_from_pattern, files_to_patterns
from .nodes import node
from .pattern_parts import (
    Reader,
    expect_one_of,
    without_empty,
    write_json_text,
    write_json_value,
    write_text,
)
from .run_parts import CHANGE_KEYS, Changes, read_model, read_usage

Parts: TypeAlias = tuple[dict[str, Any], tuple[Pattern, ...]]


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


def event_written(
    event: Event, written: set[str], seconds: float | None = None, request: str | None = None
) -> Pattern:
    """Convert an event to a pattern; see `WrittenEvent`.

    Args:
        event: the event.
        written: the hashes of files whose bytes are written before; new ones are added.
        seconds, request: what is written beside it.
    """
    properties, elements = EVENTS[type(event)].write(event)
    if isinstance(event, ToolReturned):
        elements = tuple(files_to_patterns(event.files, written))
    if event.at:
        properties["at"] = event.at
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
    label = expect_one_of(_FORMS, pattern)
    form = _FORMS[label]
    read = Reader(pattern, label, ["at", "seconds", *form.keys])
    if form.read not in (_read_reply, _read_change, _read_result):
        read.without_elements()
    event = form.read(read, read.position())
    if isinstance(event, ToolReturned) and pattern.elements:
        files = tuple(file_from_pattern(each, known) for each in pattern.elements)
        event = evolve(event, files=files)
    request = read.text("request") if read.has("request") else None
    return WrittenEvent(event, read.seconds(), request)


# --- each event


def _write_reply(event: ModelReplied) -> Parts:
    tried = {str(model): why for model, why in event.tried}
    properties: dict[str, Any] = without_empty(
        {
            "usage": event.usage.details(),
            "truncated": event.truncated,
            "finish": write_text(event.finish_reason),
            "served": write_text(event.served_model),
            "server": write_text(event.server),
            "reasoning": write_text(event.reasoning),
            "cost": None if event.cost is None else str(event.cost),
            "model": None if event.model is None else str(event.model),
            "tried": write_json_value(write_json(tried)) if tried else None,
        }
    )
    return properties, (message_to_pattern(event.message, set()),)


def _read_reply(read: Reader, at: At) -> Event:
    if len(read.pattern.elements) != 1:
        read.refuse("no-message", "a ModelReplied must have one element, what the model said")
    message = message_from_pattern(read.pattern.elements[0], {})
    return ModelReplied(
        at,
        message,
        read_usage(read, "usage"),
        read.flag("truncated"),
        read.text("finish", ""),
        read.text("served", ""),
        read.text("server", ""),
        read.text("reasoning", ""),
        read_model(read),
        tuple(_tried(read)),
        _amount(read, "cost") if read.has("cost") else None,
    )


def _amount(read: Reader, key: str) -> Decimal:
    """An amount of money, written as a text: exactly."""
    try:
        amount = Decimal(read.text(key))
    except ArithmeticError:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        read.refuse("ill-typed", f"{key} of {read.label} must be an amount of US dollars", key)
    return amount


def _read_cost_reached(read: Reader, at: At) -> Event:
    read.without_elements()
    return CostReached(_amount(read, "expected"), at)


def _tried(read: Reader) -> Iterator[tuple[Model, str]]:
    """The models that were asked before, each with why it gave no reply."""
    tried = read.json_value("tried").value if read.has("tried") else {}
    if not isinstance(tried, dict) or not all(isinstance(why, str) for why in tried.values()):
        read.refuse("ill-typed", "tried must be a JSON object of models and reasons", "tried")
    for model, why in tried.items():
        try:
            yield Model.parse(model), why
        except GramEncodeError as error:
            read.refuse("ill-typed", str(error), "tried")


def _read_result(read: Reader, at: At) -> Event:
    text = read.json_text("result")
    read.parsed(text, "result")
    return ToolReturned(at, text)


def _write_decision(event: Decided) -> Parts:
    return {"allowed": event.allowed, **without_empty({"reason": write_text(event.reason)})}, ()


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


EVENTS: Mapping[type[Event], _Form] = {
    ModelReplied: _Form(
        (
            *("usage", "truncated", "finish", "served", "server"),
            *("reasoning", "model", "tried", "cost", "request"),
        ),
        _write_reply,
        _read_reply,
    ),
    CallBegun: _Form((), lambda event: ({}, ()), lambda read, at: CallBegun(at)),
    ToolReturned: _Form(
        ("result",), lambda event: ({"result": write_json_text(event.result)}, ()), _read_result
    ),
    CallFailed: _Form(
        ("error",),
        lambda event: ({"error": write_text(event.error)}, ()),
        lambda read, at: CallFailed(at, read.text("error", "")),
    ),
    Decided: _Form(
        ("allowed", "reason"),
        _write_decision,
        lambda read, at: Decided(at, read.flag("allowed"), read.text("reason", "")),
    ),
    CostReached: _Form(
        ("expected",), lambda event: ({"expected": str(event.expected)}, ()), _read_cost_reached
    ),
    TimeUp: _Form((), lambda event: ({}, ()), lambda read, at: TimeUp(at)),
    Resumed: _Form(CHANGE_KEYS, _write_change, _read_change),
}
_FORMS = {kind.__name__: form for kind, form in EVENTS.items()}
