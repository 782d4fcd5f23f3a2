"""Tools and libraries: making them of functions, binding them to a program, calling them."""

from .agents import with_agents
from .binding import bind_agent_tools, expect_match, explain_binding
from .implementation import Tool
from .invocation import PlainCall, acall_tool, call_tool, invoke_tool
from .library import LibraryLike, ToolLibrary, empty_tool_library, library_of
from .tool_context import ToolContext, current_context, providing
from .users_code import is_async, is_from_outside, returned_unfinished

__all__ = [
    "LibraryLike",
    "PlainCall",
    "Tool",
    "ToolContext",
    "ToolLibrary",
    "acall_tool",
    "bind_agent_tools",
    "call_tool",
    "current_context",
    "empty_tool_library",
    "expect_match",
    "explain_binding",
    "invoke_tool",
    "is_async",
    "is_from_outside",
    "library_of",
    "providing",
    "returned_unfinished",
    "with_agents",
]
