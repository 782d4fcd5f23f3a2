"""Converts conversations, files, responses, and the events and notes of a run, and back.

A conversation:

.. code-block:: text

    [:Conversation |
      (:User {content: "hello"}),
      [:Assistant | (:ToolCall {arguments: json`{"name": "Alice"}`, id: "c1", name: "greet"})],
      (:Function {callId: "c1", content: "Hello, Alice!", name: "greet"}),
      (:Assistant {content: "I said hello."}),
      [:User {content: "What is this?"} | (:File {bytes: base64`…`, type: "image/png"})]]

What is written and read again is equal. `interp.history.records.property_forms` says how texts are
written that the notation cannot hold.

The bytes of a file are written once in a conversation, and in a run. Where the same come again,
their ``sha256`` is written instead, and of a file elsewhere its ``address``, which reading does not
open. Functions that write add to ``written``, the hashes of all bytes before; functions that read
add to ``known``, those bytes by their hashes.

Events:

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

import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeAlias, Union, get_args

import gram
from gram import Diagnostic, Pattern, TaggedString
from gram.documents import holding
from gram.errors import expect

from ... import machine
from ...errors import ValidationError
from ...execution import Note
from ...files import File, is_address
from ...machine import AgentResponse, ConversationContext, Event, Message, Resumed, ToolInvocation
from . import property_forms
from .property_forms import Form, Reader, expect_one_of, node, write_json_value, write_text

# --- files

FILE: Final = "File"
BASE64: Final = "base64"
_KEYS: Final = ("address", "bytes", "name", "sha256", "type")


def files_to_patterns(files: Iterable[File], written: set[str]) -> Iterator[Pattern]:
    """Convert files to patterns."""
    for file in files:
        properties: dict[str, Any] = {"type": file.media_type}
        if file.name is not None:
            properties["name"] = write_text(file.name)
        if file.content is None:
            properties["address"] = file.address
        elif file.sha256 in written:
            properties["sha256"] = file.sha256
        else:
            properties["bytes"] = TaggedString(BASE64, b64encode(file.content).decode())
            written.add(file.sha256)
        yield node(FILE, properties)


def file_from_pattern(pattern: Pattern, known: dict[str, bytes]) -> File:
    """Read a file, whose bytes are in its pattern or in one before it."""
    read = Reader(pattern, FILE, _KEYS)
    read.without_elements()
    if sum(map(read.has, ("address", "bytes", "sha256"))) != 1:
        read.refuse("ill-formed", f"a {FILE} has either bytes, their sha256 or an address")
    source: str | bytes
    if read.has("address"):
        source = read.text("address")
        if not is_address(source):
            read.refuse("ill-typed", "an address begins with http:// or https://", "address")
    elif read.has("sha256"):
        if (digest := read.text("sha256")) not in known:
            read.refuse("no-bytes", "no file before this one has these bytes", "sha256")
        source = known[digest]
    else:
        source = read.made("bytes", _decoded, read.properties["bytes"])
    try:
        name = read.text("name") if read.has("name") else None
        file = File(source, name, read.text("type"))
    except ValidationError as error:
        read.refuse("no-file", str(error).partition("\n")[0])
    if file.content is not None:
        known[file.sha256] = file.content
    return file


def contents(state: machine.State, events: Iterable[Event] = ()) -> dict[str, bytes]:
    """The bytes of the files that a run was begun with, or that came since, by their hashes."""
    given = (file for each in state.beginning.context for file in each.attachments)
    returned = (
        file for each in events if isinstance(each, machine.ToolReturned) for file in each.files
    )
    files = (*given, *returned)
    return {each.sha256: each.content for each in files if each.content is not None}


def _decoded(value: gram.Value) -> bytes:
    if isinstance(value, TaggedString) and value.tag == BASE64:
        with suppress(ValueError):
            return b64decode(value.content, validate=True)
    raise ValueError(f"they must be {BASE64}`…`")


# --- conversations

CONVERSATION = "Conversation"
ASSISTANT = "Assistant"
FUNCTION = "Function"

_LABELS: dict[machine.Role, str] = {machine.UserRole: "User", machine.AssistantRole: ASSISTANT}
_ROLES = {label: role for role, label in _LABELS.items()}
_MESSAGE: Final = Form(Message)
_CALL: Final = Form(machine.ToolCall)


def context_to_pattern(context: Iterable[Message], *, by: str) -> Pattern:
    """Convert a conversation to a pattern; ``by`` is the name of the function, for errors."""
    messages = machine.conversation_of(context, by=by)
    return Pattern(gram.Subject("", {CONVERSATION}), messages_to_patterns(messages, set()))


def messages_to_patterns(messages: Iterable[Message], written: set[str]) -> Iterator[Pattern]:
    """Convert the messages of a conversation to patterns, with the bytes of each file once."""
    return (message_to_pattern(each, written) for each in messages)


def context_from_pattern(pattern: Pattern, known: dict[str, bytes]) -> ConversationContext:
    """Read a conversation; the bytes of its files are added to those known, by their hashes."""
    Reader(pattern, CONVERSATION)
    return ConversationContext(message_from_pattern(each, known) for each in pattern.elements)


def messages_of(lines: Iterable[str]) -> ConversationContext:
    """Read messages, each from its own line of gram."""
    elements = ", ".join(lines)
    if not elements:
        return machine.empty_context
    return context_from_pattern(gram.loads_one(f"[:{CONVERSATION} | {elements}]"), {})


def message_to_pattern(message: Message, written: set[str]) -> Pattern:
    """Convert a message to a pattern: its label is the role, its elements are files and calls."""
    role, properties = message.role, _MESSAGE.write(message)
    if isinstance(role, machine.FunctionRole):
        label, properties["name"] = FUNCTION, write_text(role.name)
    else:
        label = _LABELS[role]
    files = files_to_patterns(message.attachments, written)
    calls = (node("ToolCall", _CALL.write(each)) for each in message.tool_calls)
    return node(label, properties, (*files, *calls))


def message_in_short(message: Message) -> Pattern:
    """The pattern of a message with the hashes of its files instead of their bytes."""
    return message_to_pattern(message, {file.sha256 for file in message.attachments})


def message_from_pattern(pattern: Pattern, known: dict[str, bytes]) -> Message:
    """Read a message from a pattern."""
    label = expect_one_of([*_ROLES, FUNCTION], pattern)
    names = ("name",) if label == FUNCTION else ()
    read = Reader(pattern, label, [*_MESSAGE.keys, *names])
    role: machine.MessageRole = machine.FunctionRole(read.name("name")) if names else _ROLES[label]
    files = [each for each in pattern.elements if FILE in each.value.labels]
    calls = [each for each in pattern.elements if FILE not in each.value.labels]
    return Message(
        role,
        tool_calls=map(_CALL.made, calls),
        attachments=[file_from_pattern(each, known) for each in files],
        **_MESSAGE.read(read),
    )


PathLike: TypeAlias = Union[str, "os.PathLike[str]"]


def save_context(path: PathLike, context: Iterable[Message]) -> None:
    """Write a conversation to a file; the old content of the file is replaced.

    The replacement is atomic, so that a crash never loses the old content. A new file
    can be read only by its owner (mode 0600).

    Raises:
        OSError: the file cannot be written.
    """
    expect(path, (str, os.PathLike), "path", by="save_context")
    pattern = context_to_pattern(context, by="save_context")
    with holding(Path(path), private=True) as file:
        file.write(gram.format_text(gram.dumps(pattern)))


def load_context(path: PathLike) -> ConversationContext:
    """Read the conversation of a file.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: the file is not gram.
        ValidationError: the file is not exactly one conversation; the fault has its place.
    """
    expect(path, (str, os.PathLike), "path", by="load_context")
    document = gram.parse_file(Path(path))
    if len(document.patterns) == 1:
        return context_from_pattern(document.patterns[0], {})
    message = f"expected one pattern labelled {CONVERSATION}, found {len(document.patterns)}"
    second = gram.origin(document.patterns[1]) if document.patterns else None
    place: Any = {"span": second.span if second else gram.Span(0, 0), "source": document.source}
    raise ValidationError.of([Diagnostic("no-conversation", "error", message, **place)])


# --- events and notes

RESPONSE = "AgentResponse"
INVOCATION = "ToolInvocation"

CHANGES: Final = Form(Resumed, without=["at"])
"""How a change by the caller is written, and what a run begins with."""

EVENTS: Final[Mapping[type[Event], Form]] = {
    kind: CHANGES if kind is Resumed else Form(kind) for kind in get_args(Event)
}
_EVENTS: Final = {kind.__name__: kind for kind in EVENTS}

_NOTES: Final = {kind.__name__: Form(kind) for kind in get_args(Note)}


def event_to_pattern(
    event: Event, written: set[str], seconds: float | None = None, request: str | None = None
) -> Pattern:
    """Convert an event to a pattern.

    Args:
        seconds: how long the effect took that it answers, if that is known.
        request: the fingerprint of the request that a reply answers.
    """
    properties = EVENTS[type(event)].write(event)
    elements: tuple[Pattern, ...] = ()
    match event:
        case machine.ModelReplied():
            elements = (message_to_pattern(event.message, set()),)
        case machine.ToolReturned():
            elements = tuple(files_to_patterns(event.files, written))
        case Resumed(policy=machine.ApprovalPolicy() as policy):
            elements = (policy.to_pattern(),)
    if seconds is not None:
        properties["seconds"] = round(seconds, 6)
    if request is not None:
        properties["request"] = request
    return node(type(event).__name__, properties, elements)


def event_from_pattern(
    pattern: Pattern, known: dict[str, bytes]
) -> tuple[Event, float | None, str | None]:
    """Read an event, and what `event_to_pattern` was given with it."""
    label = expect_one_of(_EVENTS, pattern)
    kind, elements = _EVENTS[label], pattern.elements
    beside = ("seconds", "request") if kind is machine.ModelReplied else ("seconds",)
    read = Reader(pattern, label, [*EVENTS[kind].keys, *beside])
    given = EVENTS[kind].read(read)
    if kind is machine.ModelReplied:
        if len(elements) != 1:
            read.refuse("no-message", "a ModelReplied must have one element, what the model said")
        given["message"] = message_from_pattern(elements[0], {})
    elif kind is machine.ToolReturned:
        given["files"] = tuple(file_from_pattern(each, known) for each in elements)
    elif kind is Resumed and elements:
        if len(elements) > 1:
            read.refuse("ill-formed", "a Resumed has at most one element, its ApprovalPolicy")
        given["policy"] = machine.ApprovalPolicy.from_pattern(elements[0])
    else:
        read.without_elements()
    request = read.text("request") if read.has("request") else None
    return kind(**given), read.seconds(), request


def note_line(note: Note) -> str:
    """A note as a line of gram."""
    label = type(note).__name__
    return property_forms.pattern_line(node(label, _NOTES[label].write(note)))


def note_from_pattern(pattern: Pattern) -> Note | None:
    """Read a note; None where the entry is not a note."""
    notes = (_NOTES[label].made(pattern) for label in pattern.value.labels if label in _NOTES)
    return next(notes, None)


# --- responses

_RESPONSE: Final = Form(AgentResponse, without=["usage"])
_USAGE: Final = Form(machine.Usage)
_INVOCATION: Final = Form(ToolInvocation, without=["error"])


def response_to_pattern(response: AgentResponse) -> Pattern:
    """Convert a response to a pattern: its elements are the invocations and the conversation."""
    written: set[str] = set()
    elements = [invocation_to_pattern(each, written) for each in response.tools_used]
    if response.context:
        elements.append(node(CONVERSATION, {}, messages_to_patterns(response.context, written)))
    properties = _RESPONSE.write(response) | _USAGE.write(response.usage)
    return node(RESPONSE, properties, elements)


def response_from_pattern(pattern: Pattern, known: dict[str, bytes]) -> AgentResponse:
    """Read a response from a pattern."""
    read = Reader(pattern, RESPONSE, [*_RESPONSE.keys, *_USAGE.keys])
    elements = list(pattern.elements)
    said = [elements.pop()] if elements and CONVERSATION in elements[-1].value.labels else []
    used = tuple(invocation_from_pattern(each, known) for each in elements)
    given = _RESPONSE.read(read)
    if given.get("is_typed") and not given.get("is_text"):
        read.parsed(given["content"], "content")
    return AgentResponse(
        tools_used=used,
        context=context_from_pattern(said[0], known) if said else machine.empty_context,
        usage=machine.Usage(**_USAGE.read(read)),
        **given,
    )


def invocation_to_pattern(invocation: ToolInvocation, written: set[str]) -> Pattern:
    """Convert a tool invocation: JSON in strings tagged ``json``, texts as strings."""
    properties = _INVOCATION.write(invocation)
    if invocation.result_text is None:
        properties["error"] = write_text(invocation.error or "")
    else:
        properties["result"] = write_json_value(invocation.result_text)
    return node(INVOCATION, properties, tuple(files_to_patterns(invocation.files, written)))


def invocation_from_pattern(pattern: Pattern, known: dict[str, bytes]) -> ToolInvocation:
    """Read a tool invocation, which has either a result or an error."""
    read = Reader(pattern, INVOCATION, [*_INVOCATION.keys, "result", "error"])
    if read.has("result") == read.has("error"):
        read.refuse("result-or-error", "a ToolInvocation has either a result or an error")
    return ToolInvocation(
        result=read.json_value("result") if read.has("result") else None,
        error=read.text("error") if read.has("error") else None,
        files=[file_from_pattern(each, known) for each in pattern.elements],
        **_INVOCATION.read(read),
    )


# --- either way

Recordable: TypeAlias = Union[ConversationContext, AgentResponse, ToolInvocation, Event]
"""What `to_pattern` takes and `from_pattern` gives."""

_READERS: Mapping[str, Callable[[Pattern, dict[str, bytes]], Recordable]] = {
    CONVERSATION: context_from_pattern,
    RESPONSE: response_from_pattern,
    INVOCATION: invocation_from_pattern,
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
        return response_to_pattern(value)
    if isinstance(value, ToolInvocation):
        return invocation_to_pattern(value, set())
    if isinstance(value, Iterable):
        return context_to_pattern(value, by="to_pattern")
    expect(value, tuple(EVENTS), "value", by="to_pattern")
    return event_to_pattern(value, set())


def from_pattern(pattern: Pattern) -> Recordable:
    """Read what `to_pattern` made; the label says what it is.

    Raises:
        ValidationError: the pattern is something else; the fault has its place.
    """
    expect(pattern, Pattern, "pattern", by="from_pattern")
    label = expect_one_of([*_READERS, *_EVENTS], pattern)
    return _READERS[label](pattern, {}) if label in _READERS else event_from_pattern(pattern, {})[0]
