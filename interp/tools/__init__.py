"""Tools and libraries: making them of functions, binding them to a program, calling them."""

from .agents import with_agents as with_agents
from .binding import (
    bind_agent_tools as bind_agent_tools,
    expect_match as expect_match,
    explain_binding as explain_binding,
)
from .from_functions.answer_types import (
    AnswerType as AnswerType,
    answer_type_of as answer_type_of,
)
from .implementation import Tool as Tool
from .invocation import (
    PlainCall as PlainCall,
    ToolResult as ToolResult,
    acall_tool as acall_tool,
    call_tool as call_tool,
    invoke_tool as invoke_tool,
)
from .library import (
    LibraryLike as LibraryLike,
    ToolLibrary as ToolLibrary,
    empty_tool_library as empty_tool_library,
    library_of as library_of,
)
from .tool_context import (
    ToolContext as ToolContext,
    current_context as current_context,
    providing as providing,
)
from .users_code import (
    is_async as is_async,
    is_from_outside as is_from_outside,
    returned_unfinished as returned_unfinished,
)
