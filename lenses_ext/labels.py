"""The labels of the agent language, and which patterns carry them."""

from __future__ import annotations

from gram import Pattern
from gram.errors import expect

AGENT = "Agent"
"""An agent: its instruction, its model, its tools."""

TOOL = "ToolSpecification"
"""A tool as a program declares it. This is the label that is written."""

ANSWER = "Answer"
"""The type of an agent's answer, see `lenses_ext.language.callable`."""

TOOLS = frozenset({TOOL, "Tool"})
"""The labels that are read as a tool."""

WORKFLOW = "Workflow"
"""Nodes and arrows between them, see `lenses_ext.workflows`."""

LOOP = "Loop"
"""A workflow that is repeated until one of its nodes says so."""

WORKFLOWS = frozenset({WORKFLOW, LOOP})
"""The labels that are read as a workflow."""

DEFINITIONS = "Definitions"
"""A group among the elements of what runs: its agents can be named there, and are not offered.
`lenses_ext.resolve` puts the agents into it that are handed over to."""

SKILL = "Skill"
"""A text of an agent that its model reads when it needs it, see `lenses_ext.language.agent`."""


def _labels(pattern: Pattern, by: str) -> frozenset[str]:
    expect(pattern, Pattern, "pattern", by=by)
    return pattern.value.labels


def is_agent(pattern: Pattern) -> bool:
    """Whether a pattern is an agent."""
    return AGENT in _labels(pattern, "is_agent")


def is_tool(pattern: Pattern) -> bool:
    """Whether a pattern is a tool: labelled ``ToolSpecification`` or ``Tool``."""
    return not TOOLS.isdisjoint(_labels(pattern, "is_tool"))


def is_answer(pattern: Pattern) -> bool:
    """Whether a pattern is the type of an agent's answer."""
    return ANSWER in _labels(pattern, "is_answer")


def is_skill(pattern: Pattern) -> bool:
    """Whether a pattern is a skill of an agent."""
    return SKILL in _labels(pattern, "is_skill")


def is_workflow(pattern: Pattern) -> bool:
    """Whether a pattern is a workflow: labelled ``Workflow`` or ``Loop``."""
    return not WORKFLOWS.isdisjoint(_labels(pattern, "is_workflow"))


def is_loop(pattern: Pattern) -> bool:
    """Whether a pattern is a workflow that is repeated."""
    return LOOP in _labels(pattern, "is_loop")


def is_runnable(pattern: Pattern) -> bool:
    """Whether a pattern can be run by itself: an agent or a workflow."""
    return is_agent(pattern) or is_workflow(pattern)


def kind_of(pattern: Pattern) -> str:
    """What a pattern that can be named is called in messages: ``agent``, ``workflow``, ``tool``."""
    if is_workflow(pattern):
        return "loop" if is_loop(pattern) else "workflow"
    return "agent" if is_agent(pattern) else "tool"
