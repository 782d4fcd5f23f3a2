"""The labels of the agent language."""

AGENT = "Agent"
"""A program: who it is, what it is told, which model it runs on, which tools it has."""

TOOL = "ToolSpecification"
"""A tool as a program declares it. This is the label that is written."""

ANSWER = "Answer"
"""The type of an agent's answer, see `lenses_ext.answer`."""

TOOLS = frozenset({TOOL, "Tool"})
"""The labels that are read as a tool."""
