"""What a run gave, as a pattern: the answer, the tools used, the tokens and the conversation."""

from __future__ import annotations

from gram import Pattern, Subject

from .conversation_pattern import CONVERSATION, context_from_pattern, context_to_pattern
from .messages import AgentResponse, ToolInvocation, Usage, empty_context
from .pattern_parts import Reader, without_empty, write_json_value, write_text

RESPONSE = "AgentResponse"
INVOCATION = "ToolInvocation"


def response_to_pattern(response: AgentResponse) -> Pattern:
    """The pattern of a response: its elements are the tool invocations, then the conversation."""
    properties = without_empty(
        {
            "content": write_text(response.content),
            "inputTokens": response.usage.input_tokens,
            "outputTokens": response.usage.output_tokens,
            "typed": response.is_typed,
        }
    )
    elements = [*map(invocation_to_pattern, response.tools_used)]
    if response.context:
        elements.append(context_to_pattern(response.context))
    return Pattern(Subject("", {RESPONSE}, properties), elements)


def response_from_pattern(pattern: Pattern) -> AgentResponse:
    """The response that a pattern says.

    Raises:
        ValidationError: it says none; the fault has its place.
    """
    read = Reader(pattern, RESPONSE, ["content", "inputTokens", "outputTokens", "typed"])
    elements = list(pattern.elements)
    context = empty_context
    if elements and CONVERSATION in elements[-1].value.labels:
        context = context_from_pattern(elements.pop())
    content = read.text("content", "")
    if is_typed := read.flag("typed"):
        read.parsed(content, "content")
    return AgentResponse(
        content,
        tuple(map(invocation_from_pattern, elements)),
        context,
        Usage(read.number("inputTokens"), read.number("outputTokens")),
        is_typed,
    )


def invocation_to_pattern(invocation: ToolInvocation) -> Pattern:
    """The pattern of a tool invocation: JSON in strings tagged ``json``, texts as strings.

    >>> from gram import dumps
    >>> dumps(invocation_to_pattern(ToolInvocation("add", {"x": 1}, 2)))
    '(:ToolInvocation {args: json`{"x":1}`, result: json`2`, tool: "add"})'
    """
    properties = {
        "tool": write_text(invocation.tool_name),
        "args": write_json_value(invocation.args),
    }
    if invocation.error is not None:
        properties["error"] = write_text(invocation.error)
    else:
        properties["result"] = write_json_value(invocation.result)
    return Pattern(Subject("", {INVOCATION}, properties))


def invocation_from_pattern(pattern: Pattern) -> ToolInvocation:
    """The tool invocation that a pattern says.

    Raises:
        ValidationError: it says none, or has both a result and an error.
    """
    read = Reader(pattern, INVOCATION, ["tool", "args", "result", "error"])
    read.without_elements()
    if read.has("result") == read.has("error"):
        read.refuse("result-or-error", "a ToolInvocation has either a result or an error")
    tool, args = read.text("tool"), read.json_value("args")
    if read.has("error"):
        return ToolInvocation(tool, args, error=read.text("error"))
    return ToolInvocation(tool, args, read.json_value("result"))
