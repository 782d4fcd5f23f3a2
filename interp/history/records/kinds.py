"""Conversations, responses, tool invocations and events as patterns, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias, Union

from gram import Pattern
from gram.errors import expect

from ...machine import (
    AgentResponse,
    ConversationContext,
    Event,
    Message,
    ToolInvocation,
    Usage,
    empty_context,
)
from .conversation_pattern import (
    CONVERSATION,
    context_written,
    file_from_pattern,
    files_to_patterns,
    messages_to_patterns,
    written_context,
)
from .event_pattern import EVENTS, event_written, written_event
from .pattern_parts import Reader, expect_one_of, node, write_json_value, write_text
from .property_forms import FLAG, NUMBER, WORDS, Form

RESPONSE = "AgentResponse"
INVOCATION = "ToolInvocation"

_RESPONSE: Final = Form(
    AgentResponse,
    {"is_typed": "typed", "is_text": "text"},
    content=WORDS,
    is_typed=FLAG,
    is_text=FLAG,
    truncated=FLAG,
    unfinished=FLAG,
)
_USAGE: Final = Form(
    Usage,
    {
        "input_tokens": "inputTokens",
        "output_tokens": "outputTokens",
        "cached_tokens": "cachedTokens",
        "reasoning_tokens": "reasoningTokens",
    },
    input_tokens=NUMBER,
    output_tokens=NUMBER,
    cached_tokens=NUMBER,
    reasoning_tokens=NUMBER,
)


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
    error = read.text("error") if read.has("error") else None
    result = read.json_value("result") if error is None else None
    return ToolInvocation(
        read.text("tool"),
        read.json_value("args"),
        result,
        error,
        agent_name=read.text("agent", ""),
        at=read.position(),
        files=[file_from_pattern(each, known) for each in pattern.elements],
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
