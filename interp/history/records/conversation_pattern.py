"""Converts conversations to patterns and back, so that they can be saved as gram.

.. code-block:: text

    [:Conversation |
      (:User {content: "hello"}),
      [:Assistant | (:ToolCall {arguments: json`{"name": "Alice"}`, id: "c1", name: "greet"})],
      (:Function {callId: "c1", content: "Hello, Alice!", name: "greet"}),
      (:Assistant {content: "I said hello."})]

A conversation that is written and read again is equal. `interp.history.records.pattern_parts` says
how texts are written that the notation cannot hold.
"""

from __future__ import annotations

from gram import Pattern, Subject, expect

from ...machine import (
    AnyRole,
    AssistantRole,
    ConversationContext,
    FunctionRole,
    Message,
    Role,
    ToolCall,
    UserRole,
)
from .nodes import Node
from .pattern_parts import Reader, Written, expect_one_of, write_json_text, write_text

CONVERSATION = "Conversation"
ASSISTANT = "Assistant"
TOOL_CALL = "ToolCall"
FUNCTION = "Function"

_LABELS: dict[Role, str] = {UserRole: "User", AssistantRole: ASSISTANT}
_ROLES = {label: role for role, label in _LABELS.items()}
_MESSAGE_KEYS = ("content", "callId", "refused", "echo", "speaker")


def context_to_pattern(context: ConversationContext) -> Pattern:
    """Convert a conversation to a pattern.

    >>> from gram import dumps
    >>> dumps(context_to_pattern(ConversationContext([Message(UserRole, "hi")])))
    '[:Conversation | (:User {content: "hi"})]'
    """
    expect(context, ConversationContext, "context", by="context_to_pattern")
    return Pattern(Subject("", {CONVERSATION}), map(message_to_pattern, context))


def context_from_pattern(pattern: Pattern) -> ConversationContext:
    """Read a conversation from a pattern.

    Raises:
        ValidationError: the pattern is not a conversation; the fault has its place.
    """
    expect(pattern, Pattern, "pattern", by="context_from_pattern")
    Reader(pattern, CONVERSATION)
    return ConversationContext(map(message_from_pattern, pattern.elements))


def message_to_pattern(message: Message) -> Pattern:
    """Convert a message to a pattern: its label is the role, its elements are the tool calls."""
    return message_node(message).pattern()


def message_node(message: Message) -> Node:
    """Convert a message to a node."""
    role = message.role
    properties: dict[str, Written] = {}
    if message.content:
        properties["content"] = write_text(message.content)
    if message.refused:
        properties["refused"] = True
    if message.echo is not None:
        properties["echo"] = write_json_text(message.echo)
    if message.call_id is not None:
        properties["callId"] = write_text(message.call_id)
    if message.speaker is not None:
        properties["speaker"] = write_text(message.speaker)
    if isinstance(role, FunctionRole):
        properties["name"] = write_text(role.name)
    label = FUNCTION if isinstance(role, FunctionRole) else _LABELS[role]
    return Node(label, properties, tuple([_call_node(each) for each in message.tool_calls]))


def message_from_pattern(pattern: Pattern) -> Message:
    """Read a message from a pattern.

    Raises:
        ValidationError: the pattern is not a message.
    """
    label = expect_one_of([*_ROLES, FUNCTION], pattern)
    role: AnyRole
    if label == FUNCTION:
        read = Reader(pattern, label, [*_MESSAGE_KEYS, "name"])
        role = FunctionRole(read.text("name"))
    else:
        read = Reader(pattern, label, _MESSAGE_KEYS)
        role = _ROLES[label]
    return Message(
        role,
        read.text("content", ""),
        map(call_from_pattern, pattern.elements),
        read.text("callId") if read.has("callId") else None,
        read.flag("refused"),
        read.json_text("echo") if read.has("echo") else None,
        read.text("speaker") if read.has("speaker") else None,
    )


def call_to_pattern(call: ToolCall) -> Pattern:
    """Convert a tool call to a pattern."""
    return _call_node(call).pattern()


def _call_node(call: ToolCall) -> Node:
    properties: dict[str, Written] = {
        "id": write_text(call.id),
        "name": write_text(call.name),
        "arguments": write_json_text(call.arguments),
    }
    if call.echo is not None:
        properties["echo"] = write_json_text(call.echo)
    return Node(TOOL_CALL, properties)


def call_from_pattern(pattern: Pattern) -> ToolCall:
    """Read a tool call from a pattern; see `message_from_pattern`."""
    read = Reader(pattern, TOOL_CALL, ["id", "name", "arguments", "echo"])
    read.without_elements()
    return ToolCall(
        read.text("id", ""),
        read.text("name"),
        read.json_text("arguments"),
        read.json_text("echo") if read.has("echo") else None,
    )
