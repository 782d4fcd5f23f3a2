"""Conversations, responses, tool invocations and events as patterns, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, Union

from gram import Pattern
from gram.errors import expect

from ...machine import AgentResponse, ConversationContext, Event, Message, ToolInvocation
from .conversation_pattern import CONVERSATION, context_written, written_context
from .event_pattern import EVENTS, event_written, written_event
from .pattern_parts import expect_one_of
from .response_pattern import (
    INVOCATION,
    RESPONSE,
    invocation_written,
    response_written,
    written_invocation,
    written_response,
)

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
    label = expect_one_of([*_READERS, *(each.__name__ for each in EVENTS)], pattern)
    return _READERS[label](pattern, {}) if label in _READERS else written_event(pattern, {}).event
