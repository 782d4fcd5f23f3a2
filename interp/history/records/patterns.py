"""Converts conversations, responses, tool calls, and the events and notes of a run, and back.

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
fingerprint of the request that a reply answers. Notes are not folded at all:

.. code-block:: text

    (:Begun {at: [0], time: "2026-11-22T15:10:34.120+00:00"})
    (:Retried {at: [0], error: "rate limited", wait: 0.5})
    (:Failed {at: [0], error: "the provider is down", seconds: 1.2})
    (:Stopped {error: "interrupted", time: "2026-11-22T15:10:36.000+00:00"})
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias, Union, get_args

from gram import Pattern
from gram.errors import expect

from ...execution import Note
from ...machine import (
    AgentResponse,
    ApprovalPolicy,
    CallBegun,
    CallFailed,
    ConversationContext,
    CostReached,
    Decided,
    Event,
    Message,
    ModelReplied,
    Resumed,
    TimeUp,
    ToolInvocation,
    ToolReturned,
    Usage,
    empty_context,
)
from .conversation_pattern import (
    CONVERSATION,
    context_written,
    file_from_pattern,
    files_to_patterns,
    message_from_pattern,
    message_to_pattern,
    messages_to_patterns,
    written_context,
)
from .property_forms import Form, Reader, expect_one_of, node, write_json_value, write_text

RESPONSE = "AgentResponse"
INVOCATION = "ToolInvocation"

CHANGES: Final = Form(Resumed, without=["at"])
"""How a change by the caller is written, and what a run begins with."""

_ANSWERS = (ModelReplied, CallBegun, ToolReturned, CallFailed, Decided, CostReached, TimeUp)
EVENTS: Final[Mapping[type[Event], Form]] = {
    **{kind: Form(kind) for kind in _ANSWERS},
    Resumed: CHANGES,
}
_EVENTS: Final = {kind.__name__: kind for kind in EVENTS}

NOTES: Final = {kind.__name__: kind for kind in get_args(Note)}
"""The notes, by their labels."""
_NOTES: Final = {label: Form(kind) for label, kind in NOTES.items()}


# --- events and notes


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
    label = expect_one_of(_EVENTS, pattern)
    kind, elements = _EVENTS[label], pattern.elements
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


def note_to_pattern(note: Note) -> Pattern:
    """Convert a note to a pattern."""
    label = type(note).__name__
    return node(label, _NOTES[label].write(note))


def label_of_note(pattern: Pattern) -> str | None:
    """The label of an entry that is a note; None for an event."""
    return next((each for each in pattern.value.labels if each in NOTES), None)


def note_from_pattern(pattern: Pattern, label: str) -> Note:
    """Read a note.

    Raises:
        ValidationError: the pattern is not a note; the fault has its place.
    """
    read = Reader(pattern, label, _NOTES[label].keys)
    read.without_elements()
    note: Note = NOTES[label](**_NOTES[label].read(read))
    return note


# --- responses

_RESPONSE: Final = Form(AgentResponse, without=["usage"])
_USAGE: Final = Form(Usage)


def response_written(response: AgentResponse) -> Pattern:
    """Convert a response to a pattern: its elements are the invocations and the conversation."""
    written: set[str] = set()
    elements = [invocation_written(each, written) for each in response.tools_used]
    if response.context:
        elements.append(node(CONVERSATION, {}, messages_to_patterns(response.context, written)))
    properties = _RESPONSE.write(response) | _USAGE.write(response.usage)
    return node(RESPONSE, properties, elements)


def written_response(pattern: Pattern, known: dict[str, bytes]) -> AgentResponse:
    """Read a response from a pattern.

    Raises:
        ValidationError: the pattern is not a response; the fault has its place.
    """
    read = Reader(pattern, RESPONSE, [*_RESPONSE.keys, *_USAGE.keys])
    elements = list(pattern.elements)
    said = [elements.pop()] if elements and CONVERSATION in elements[-1].value.labels else []
    used = tuple(written_invocation(each, known) for each in elements)
    given = _RESPONSE.read(read)
    if given.get("is_typed") and not given.get("is_text"):
        read.parsed(given["content"], "content")
    return AgentResponse(
        tools_used=used,
        context=written_context(said[0], known) if said else empty_context,
        usage=Usage(**_USAGE.read(read)),
        **given,
    )


def invocation_written(invocation: ToolInvocation, written: set[str]) -> Pattern:
    """Convert a tool invocation: JSON in strings tagged ``json``, texts as strings."""
    properties: dict[str, Any] = {
        "tool": write_text(invocation.tool_name),
        "args": write_json_value(invocation.args_text),
    }
    if invocation.result_text is None:
        properties["error"] = write_text(invocation.error or "")
    else:
        properties["result"] = write_json_value(invocation.result_text)
    if invocation.agent_name:
        properties["agent"] = write_text(invocation.agent_name)
    if invocation.at:
        properties["at"] = invocation.at
    return node(INVOCATION, properties, tuple(files_to_patterns(invocation.files, written)))


def written_invocation(pattern: Pattern, known: dict[str, bytes]) -> ToolInvocation:
    """Read a tool invocation, which has either a result or an error."""
    read = Reader(pattern, INVOCATION, ["tool", "args", "result", "error", "agent", "at"])
    if read.has("result") == read.has("error"):
        read.refuse("result-or-error", "a ToolInvocation has either a result or an error")
    return ToolInvocation(
        read.text("tool"),
        read.json_value("args"),
        read.json_value("result") if read.has("result") else None,
        read.text("error") if read.has("error") else None,
        agent_name=read.text("agent", ""),
        at=read.position(),
        files=[file_from_pattern(each, known) for each in pattern.elements],
    )


# --- either way

Recordable: TypeAlias = Union[ConversationContext, AgentResponse, ToolInvocation, Event]
"""What `to_pattern` takes and `from_pattern` gives."""

_READERS: Mapping[str, Callable[[Pattern, dict[str, bytes]], Recordable]] = {
    CONVERSATION: written_context,
    RESPONSE: written_response,
    INVOCATION: written_invocation,
}


def to_pattern(value: Recordable | Iterable[Message]) -> Pattern:
    """Convert a conversation (or its messages), a response, a tool invocation or an event.

    Raises:
        ArgumentError: it is something else.

    >>> from gram import dumps
    >>> dumps(to_pattern(ToolInvocation("add", {"x": 1}, 2)))
    '(:ToolInvocation {args: json`{"x":1}`, result: json`2`, tool: "add"})'
    """
    if isinstance(value, AgentResponse):
        return response_written(value)
    if isinstance(value, ToolInvocation):
        return invocation_written(value, set())
    if isinstance(value, Iterable):
        return context_written(value, by="to_pattern")
    expect(value, tuple(EVENTS), "value", by="to_pattern")
    return event_written(value, set())


def from_pattern(pattern: Pattern) -> Recordable:
    """Read what `to_pattern` made; the label says what it is.

    Raises:
        ValidationError: the pattern is something else; the fault has its place.
    """
    expect(pattern, Pattern, "pattern", by="from_pattern")
    label = expect_one_of([*_READERS, *_EVENTS], pattern)
    return _READERS[label](pattern, {}) if label in _READERS else written_event(pattern, {}).event
