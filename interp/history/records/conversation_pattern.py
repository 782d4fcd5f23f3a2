"""Converts conversations to patterns and back, so that they can be saved as gram.

.. code-block:: text

    [:Conversation |
      (:User {content: "hello"}),
      [:Assistant | (:ToolCall {arguments: json`{"name": "Alice"}`, id: "c1", name: "greet"})],
      (:Function {callId: "c1", content: "Hello, Alice!", name: "greet"}),
      (:Assistant {content: "I said hello."}),
      [:User {content: "What is this?"} | (:File {bytes: base64`…`, type: "image/png"})]]

A conversation that is written and read again is equal. `file_pattern` says how files are written,
`interp.history.records.pattern_parts` how texts are that the notation cannot hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gram import Pattern, Subject, loads_one

from ...machine import (
    AssistantRole,
    ConversationContext,
    FunctionRole,
    Message,
    MessageRole,
    Role,
    ToolCall,
    UserRole,
    conversation_of,
    empty_context,
)
from .file_pattern import FILE, file_from_pattern, files_to_patterns
from .nodes import node
from .pattern_parts import Reader, expect_one_of, write_text
from .property_forms import FLAG, JSON_TEXT, NAME, TEXT, WORDS, Form

CONVERSATION = "Conversation"
ASSISTANT = "Assistant"
TOOL_CALL = "ToolCall"
FUNCTION = "Function"

_LABELS: dict[Role, str] = {UserRole: "User", AssistantRole: ASSISTANT}
_ROLES = {label: role for role, label in _LABELS.items()}
_MESSAGE: Final = Form(
    Message,
    {"call_id": "callId"},
    content=WORDS,
    call_id=TEXT,
    refused=FLAG,
    echo=JSON_TEXT,
    speaker=TEXT,
    summary=TEXT,
)
_CALL: Final = Form(ToolCall, id=WORDS, name=NAME, arguments=JSON_TEXT, echo=JSON_TEXT)


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
    """Read messages, each of which is one text."""
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
    return node(label, properties, (*files, *map(call_to_pattern, message.tool_calls)))


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
        tool_calls=map(call_from_pattern, calls),
        attachments=[file_from_pattern(each, known) for each in files],
        **_MESSAGE.read(read),
    )


def call_to_pattern(call: ToolCall) -> Pattern:
    """Convert a tool call to a pattern."""
    return node(TOOL_CALL, _CALL.write(call))


def call_from_pattern(pattern: Pattern) -> ToolCall:
    """Read a tool call from a pattern; see `message_from_pattern`."""
    read = Reader(pattern, TOOL_CALL, _CALL.keys)
    read.without_elements()
    return ToolCall(**_CALL.read(read))
