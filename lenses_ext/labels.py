"""The labels of the agent language, and which patterns carry them."""

from __future__ import annotations

from gram import Pattern, expect

AGENT = "Agent"
"""An agent: its instruction, its model, its tools."""

TOOL = "ToolSpecification"
"""A tool as a program declares it. This is the label that is written."""

ANSWER = "Answer"
"""The type of an agent's answer, see `lenses_ext.language.answer`."""

TOOLS = frozenset({TOOL, "Tool"})
"""The labels that are read as a tool."""


def is_agent(pattern: Pattern) -> bool:
    """Whether a pattern is an agent."""
    expect(pattern, Pattern, "pattern", by="is_agent")
    return AGENT in pattern.value.labels


def is_tool(pattern: Pattern) -> bool:
    """Whether a pattern is a tool: labelled ``ToolSpecification`` or ``Tool``."""
    expect(pattern, Pattern, "pattern", by="is_tool")
    return not TOOLS.isdisjoint(pattern.value.labels)


def is_answer(pattern: Pattern) -> bool:
    """Whether a pattern is the type of an agent's answer."""
    expect(pattern, Pattern, "pattern", by="is_answer")
    return ANSWER in pattern.value.labels
