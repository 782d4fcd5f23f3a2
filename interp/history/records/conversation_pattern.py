"""Converts conversations and attached files to patterns and back, and saves them as gram.

.. code-block:: text

    [:Conversation |
      (:User {content: "hello"}),
      [:Assistant | (:ToolCall {arguments: json`{"name": "Alice"}`, id: "c1", name: "greet"})],
      (:Function {callId: "c1", content: "Hello, Alice!", name: "greet"}),
      (:Assistant {content: "I said hello."}),
      [:User {content: "What is this?"} | (:File {bytes: base64`…`, type: "image/png"})]]

A conversation that is written and read again is equal. `interp.history.records.property_forms` says
how texts are written that the notation cannot hold. Files are written as below:

.. code-block:: text

    (:File {bytes: base64`iVBORw0…`, name: "chart.png", type: "image/png"})
    (:File {name: "chart.png", sha256: "9f3c…", type: "image/png"})
    (:File {address: "https://example.com/chart.png", type: "image/png"})

The bytes are written once in a conversation, and in a run. Where the same come again, their hash
stands for them. Reading opens nothing: an address stays an address.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeAlias, Union

from gram import (
    Diagnostic,
    Pattern,
    Span,
    Subject,
    TaggedString,
    Value,
    dumps,
    format_text,
    loads_one,
    parse_file,
)
from gram.documents import holding
from gram.errors import expect

from ...errors import ValidationError
from ...files import File, is_address
from ...machine import (
    AssistantRole,
    ConversationContext,
    Event,
    FunctionRole,
    Message,
    MessageRole,
    Role,
    State,
    ToolCall,
    ToolReturned,
    UserRole,
    conversation_of,
    empty_context,
)
from .property_forms import Form, Reader, expect_one_of, node, write_text

FILE: Final = "File"
BASE64: Final = "base64"
_KEYS: Final = ("address", "bytes", "name", "sha256", "type")


def files_to_patterns(files: Iterable[File], written: set[str]) -> Iterator[Pattern]:
    """Convert files to patterns.

    Args:
        files: the files.
        written: the hashes of those whose bytes are written before; new ones are added.
    """
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
    """Read a file.

    Args:
        pattern: its pattern.
        known: the bytes that were read before, by their hashes; new ones are added.

    Raises:
        ValidationError: the pattern is no file, or its bytes are nowhere before it.
    """
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


def contents(state: State, events: Iterable[Event] = ()) -> dict[str, bytes]:
    """The bytes of the files that a run was begun with, or that came since, by their hashes.

    Args:
        state: a State of the run.
        events: what has happened since.
    """
    given = (file for each in state.beginning.context for file in each.attachments)
    returned = (file for each in events if isinstance(each, ToolReturned) for file in each.files)
    files = (*given, *returned)
    return {each.sha256: each.content for each in files if each.content is not None}


def _decoded(value: Value) -> bytes:
    if isinstance(value, TaggedString) and value.tag == BASE64:
        with suppress(ValueError):
            return b64decode(value.content, validate=True)
    raise ValueError(f"they must be {BASE64}`…`")


CONVERSATION = "Conversation"
ASSISTANT = "Assistant"
TOOL_CALL = "ToolCall"
FUNCTION = "Function"

_LABELS: dict[Role, str] = {UserRole: "User", AssistantRole: ASSISTANT}
_ROLES = {label: role for role, label in _LABELS.items()}
_MESSAGE: Final = Form(Message)
_CALL: Final = Form(ToolCall)


def context_written(context: Iterable[Message], *, by: str) -> Pattern:
    """Convert a conversation to a pattern; ``by`` is the name of the function, for errors."""
    messages = conversation_of(context, by=by)
    return Pattern(Subject("", {CONVERSATION}), messages_to_patterns(messages))


def messages_to_patterns(
    messages: Iterable[Message], written: set[str] | None = None
) -> Iterator[Pattern]:
    """Convert the messages of a conversation to patterns, with the bytes of each file once.

    Args:
        messages: the messages, or the last of them.
        written: the hashes of files whose bytes are written before; new ones are added.
    """
    written = set() if written is None else written
    return (message_to_pattern(each, written) for each in messages)


def written_context(pattern: Pattern, known: dict[str, bytes]) -> ConversationContext:
    """Read a conversation; the bytes of its files are added to those known, by their hashes."""
    Reader(pattern, CONVERSATION)
    return ConversationContext(message_from_pattern(each, known) for each in pattern.elements)


def messages_of(lines: Iterable[str]) -> ConversationContext:
    """Read messages, each from its own line of gram."""
    elements = ", ".join(lines)
    if not elements:
        return empty_context
    return written_context(loads_one(f"[:{CONVERSATION} | {elements}]"), {})


def message_to_pattern(message: Message, written: set[str]) -> Pattern:
    """Convert a message to a pattern.

    Its label is the role, its elements are the files that are attached and the tool calls.

    Args:
        message: the message.
        written: the hashes of files whose bytes are written before; new ones are added.
    """
    role, properties = message.role, _MESSAGE.write(message)
    if isinstance(role, FunctionRole):
        properties["name"] = write_text(role.name)
    label = FUNCTION if isinstance(role, FunctionRole) else _LABELS[role]
    files = files_to_patterns(message.attachments, written)
    calls = (node(TOOL_CALL, _CALL.write(each)) for each in message.tool_calls)
    return node(label, properties, (*files, *calls))


def message_in_short(message: Message) -> Pattern:
    """The pattern of a message with the hashes of its files instead of their bytes."""
    return message_to_pattern(message, {file.sha256 for file in message.attachments})


def message_from_pattern(pattern: Pattern, known: dict[str, bytes]) -> Message:
    """Read a message from a pattern.

    Args:
        pattern: its pattern.
        known: the bytes of files that were read before, by their hashes; new ones are added.

    Raises:
        ValidationError: the pattern is not a message.
    """
    label = expect_one_of([*_ROLES, FUNCTION], pattern)
    names = ("name",) if label == FUNCTION else ()
    read = Reader(pattern, label, [*_MESSAGE.keys, *names])
    role: MessageRole = FunctionRole(read.name("name")) if names else _ROLES[label]
    files = [each for each in pattern.elements if FILE in each.value.labels]
    calls = [each for each in pattern.elements if FILE not in each.value.labels]
    return Message(
        role,
        tool_calls=map(_call_from_pattern, calls),
        attachments=[file_from_pattern(each, known) for each in files],
        **_MESSAGE.read(read),
    )


def _call_from_pattern(pattern: Pattern) -> ToolCall:
    read = Reader(pattern, TOOL_CALL, _CALL.keys)
    read.without_elements()
    return ToolCall(**_CALL.read(read))


PathLike: TypeAlias = Union[str, "os.PathLike[str]"]


def save_context(path: PathLike, context: Iterable[Message]) -> None:
    """Write a conversation to a file; the old content of the file is replaced.

    The replacement is atomic, so that a crash never loses the old content. A new file
    can be read only by its owner (mode 0600).

    Raises:
        OSError: the file cannot be written.
        ArgumentError: an argument is of the wrong type.
    """
    expect(path, (str, os.PathLike), "path", by="save_context")
    pattern = context_written(context, by="save_context")
    with holding(Path(path), private=True) as file:
        file.write(format_text(dumps(pattern)))


def load_context(path: PathLike) -> ConversationContext:
    """Read the conversation of a file.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: the file is not gram.
        ValidationError: the file is not exactly one conversation; the fault has its place.
    """
    expect(path, (str, os.PathLike), "path", by="load_context")
    document = parse_file(Path(path))
    if len(document.patterns) == 1:
        return written_context(document.patterns[0], {})
    message = f"expected one pattern labelled {CONVERSATION}, found {len(document.patterns)}"
    if document.patterns:
        raise ValidationError.of([Diagnostic.of("no-conversation", message, document.patterns[1])])
    empty = Diagnostic("no-conversation", "error", message, span=Span(0, 0), source=document.source)
    raise ValidationError.of([empty])
