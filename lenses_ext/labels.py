"""The labels of the agent language, and which patterns carry them."""

from __future__ import annotations

from gram import Pattern

AGENT = "Agent"
"""A program: who it is, what it is told, which model it runs on, which tools it has."""

TOOL = "ToolSpecification"
"""A tool as a program declares it. This is the label that is written."""

ANSWER = "Answer"
"""The type of an agent's answer, see `lenses_ext.answer`."""

TOOLS = frozenset({TOOL, "Tool"})
"""The labels that are read as a tool."""


def is_agent(pattern: Pattern) -> bool:
    """Whether a pattern is an agent."""
    return AGENT in pattern.value.labels


def is_tool(pattern: Pattern) -> bool:
    """Whether a pattern is a tool: labelled ``ToolSpecification`` or ``Tool``."""
    return not TOOLS.isdisjoint(pattern.value.labels)


def is_answer(pattern: Pattern) -> bool:
    """Whether a pattern is the type of an agent's answer."""
    return ANSWER in pattern.value.labels
