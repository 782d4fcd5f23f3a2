"""Tools and libraries: making them of functions, binding them to a program, calling them."""

from .binding import (
    ONE_OF_A_NAME,
    bind_agent_tools as bind_agent_tools,
    bind_tool as bind_tool,
    clash_of,
    expect_match,
    explain_binding as explain_binding,
    specs_by_name,
    with_agents,
)
from .from_functions.json_types import AnswerType, answer_type_of
from .implementation import (
    PlainCall,
    Tool as Tool,
    ToolContext as ToolContext,
    acall_tool,
    call_tool,
    invoke_tool as invoke_tool,
    is_async,
    is_from_outside,
    providing,
    returned_unfinished,
)
from .library import (
    LibraryLike as LibraryLike,
    ToolLibrary as ToolLibrary,
    empty_tool_library as empty_tool_library,
    import_file,
    library_of,
    load_tools as load_tools,
    lookup_tool as lookup_tool,
    register_tool as register_tool,
    split_name,
    tool_of_agent as tool_of_agent,
)
