"""Tools and libraries: making them of functions, binding them to a program, calling them."""

from .agent_tools import tool_of_agent as tool_of_agent
from .agents import with_agents
from .binding import (
    bind_agent_tools as bind_agent_tools,
    bind_tool as bind_tool,
    expect_match,
    explain_binding as explain_binding,
)
from .from_functions.answer_types import AnswerType, answer_type_of
from .implementation import Tool as Tool
from .invocation import PlainCall, ToolResult, acall_tool, call_tool, invoke_tool as invoke_tool
from .library import (
    LibraryLike as LibraryLike,
    ToolLibrary as ToolLibrary,
    empty_tool_library as empty_tool_library,
    is_of_others,
    library_of,
    load_tools as load_tools,
    lookup_tool as lookup_tool,
    register_tool as register_tool,
)
from .mcp.library import McpLibrary as McpLibrary
from .mcp.server import McpServer as McpServer
from .modules import import_file, split_name
from .tool_context import ToolContext as ToolContext, current_context, providing
from .users_code import is_async, is_from_outside, returned_unfinished
