"""Converts responses (answer, tools used, tokens, conversation) to patterns and back."""

from __future__ import annotations

from typing import Any, Final

from gram import Pattern, Subject

from ...machine import AgentResponse, ToolInvocation, Usage, empty_context
from .conversation_pattern import CONVERSATION, messages_to_patterns, written_context
from .file_pattern import file_from_pattern, files_to_patterns
from .nodes import node
from .pattern_parts import Reader, without_empty, write_json_value, write_text

RESPONSE = "AgentResponse"
INVOCATION = "ToolInvocation"

_TOKENS: Final = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cached_tokens": "cachedTokens",
    "reasoning_tokens": "reasoningTokens",
}
"""The property of each number of `Usage`."""


def response_written(response: AgentResponse) -> Pattern:
    """Convert a response to a pattern: its elements are the invocations and the conversation."""
    properties = without_empty(
        {
            "content": write_text(response.content),
            "typed": response.is_typed,
            "text": response.is_text,
            "truncated": response.truncated,
            "unfinished": response.unfinished,
        }
    )
    known = response.usage.details()
    properties |= {_TOKENS[name]: known[name] for name in _TOKENS if name in known}
    written: set[str] = set()
    elements = [invocation_written(each, written) for each in response.tools_used]
    if response.context:
        elements.append(node(CONVERSATION, {}, messages_to_patterns(response.context, written)))
    return Pattern(Subject("", {RESPONSE}, properties), elements)


def written_response(pattern: Pattern, known: dict[str, bytes]) -> AgentResponse:
    """Read a response from a pattern.

    Raises:
        ValidationError: the pattern is not a response; the fault has its place.
    """
    keys = ["content", "typed", "text", "truncated", "unfinished", *_TOKENS.values()]
    read = Reader(pattern, RESPONSE, keys)
    elements = list(pattern.elements)
    said = [elements.pop()] if elements and CONVERSATION in elements[-1].value.labels else []
    used = tuple(written_invocation(each, known) for each in elements)
    context = written_context(said[0], known) if said else empty_context
    content = read.text("content", "")
    is_typed, is_text = read.flag("typed"), read.flag("text")
    if is_typed and not is_text:
        read.parsed(content, "content")
    return AgentResponse(
        content,
        used,
        context,
        Usage(**{name: read.number(key) for name, key in _TOKENS.items() if read.has(key)}),
        is_typed,
        read.flag("truncated"),
        read.flag("unfinished"),
        is_text=is_text,
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
