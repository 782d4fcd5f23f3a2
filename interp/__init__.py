"""Runs agents: the interpreter, its tools and its models.

``load`` a program, give `run` a message and a `ToolLibrary`, read the response. The machine
itself is `start` and `step`, which do no I/O. Importing this loads no network library.
"""

from typing import TYPE_CHECKING

from gram import GramDecodeError, GramEncodeError, GramError
from lenses_ext import (
    Model,
    Settings,
    TypeSignature,
    create_agent_pattern,
    create_tool_specification,
    parse_type_signature,
    type_signature_to_json_schema,
    validate_agent_pattern,
)

from .approval import ApprovalPolicy, ApprovalRule, allow_all, ask_all, deny_all
from .arguments import validate_tool_args
from .binding import bind_agent_tools, bind_tool, explain_binding
from .conversation_files import load_context, save_context
from .conversation_pattern import context_from_pattern, context_to_pattern
from .drivers import (
    arun,
    astream,
    begin,
    execute_agent,
    execute_agent_with_library,
    resume_run,
    run,
    stream,
)
from .effects import (
    Ask,
    CallFailed,
    CallModel,
    CallTool,
    Decided,
    ModelReplied,
    Request,
    TimeUp,
    ToolReturned,
)
from .errors import (
    AgentError,
    ApprovalNeeded,
    ConfigurationError,
    LimitError,
    LLMAPIError,
    ModelError,
    ProtocolError,
    ReplayError,
    ToolBindingError,
    ToolError,
    ValidationError,
)
from .forms import FORMS
from .functions.function_tools import tool, tool_spec_from_function
from .invocation import invoke_tool
from .library import ToolLibrary, empty_tool_library, lookup_tool, register_tool
from .limits import Limits
from .machine import TRANSITIONS, pending, response, resume, start, step
from .messages import (
    AgentResponse,
    AssistantRole,
    ConversationContext,
    FunctionRole,
    Message,
    ToolCall,
    ToolInvocation,
    Usage,
    UserRole,
    empty_context,
)
from .programs import load
from .providers import PROVIDERS, LanguageModel, Provider
from .replies import detect_tool_call
from .response_pattern import (
    invocation_from_pattern,
    invocation_to_pattern,
    response_from_pattern,
    response_to_pattern,
)
from .runs import Run
from .scripted import ScriptedModel
from .state import State, Status
from .streaming import Finished, Observation, TextDelta, ToolFinished, ToolStarted
from .tool_context import ToolContext
from .tools import Tool, create_tool

if TYPE_CHECKING:
    from .hello_world import hello_world_tool_library


def __getattr__(name: str) -> ToolLibrary:
    """The built-in library is made when it is first asked for: that loads a schema validator."""
    if name == "hello_world_tool_library":
        from .hello_world import hello_world_tool_library

        return hello_world_tool_library
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "FORMS",
    "PROVIDERS",
    "TRANSITIONS",
    "AgentError",
    "AgentResponse",
    "ApprovalNeeded",
    "ApprovalPolicy",
    "ApprovalRule",
    "Ask",
    "AssistantRole",
    "CallFailed",
    "CallModel",
    "CallTool",
    "ConfigurationError",
    "ConversationContext",
    "Decided",
    "Finished",
    "FunctionRole",
    "GramDecodeError",
    "GramEncodeError",
    "GramError",
    "LLMAPIError",
    "LanguageModel",
    "LimitError",
    "Limits",
    "Message",
    "Model",
    "ModelError",
    "ModelReplied",
    "Observation",
    "ProtocolError",
    "Provider",
    "ReplayError",
    "Request",
    "Run",
    "ScriptedModel",
    "Settings",
    "State",
    "Status",
    "TextDelta",
    "TimeUp",
    "Tool",
    "ToolBindingError",
    "ToolCall",
    "ToolContext",
    "ToolError",
    "ToolFinished",
    "ToolInvocation",
    "ToolLibrary",
    "ToolReturned",
    "ToolStarted",
    "TypeSignature",
    "Usage",
    "UserRole",
    "ValidationError",
    "allow_all",
    "arun",
    "ask_all",
    "astream",
    "begin",
    "bind_agent_tools",
    "bind_tool",
    "context_from_pattern",
    "context_to_pattern",
    "create_agent_pattern",
    "create_tool",
    "create_tool_specification",
    "deny_all",
    "detect_tool_call",
    "empty_context",
    "empty_tool_library",
    "execute_agent",
    "execute_agent_with_library",
    "explain_binding",
    "hello_world_tool_library",
    "invocation_from_pattern",
    "invocation_to_pattern",
    "invoke_tool",
    "load",
    "load_context",
    "lookup_tool",
    "parse_type_signature",
    "pending",
    "register_tool",
    "response",
    "response_from_pattern",
    "response_to_pattern",
    "resume",
    "resume_run",
    "run",
    "save_context",
    "start",
    "step",
    "stream",
    "tool",
    "tool_spec_from_function",
    "type_signature_to_json_schema",
    "validate_agent_pattern",
    "validate_tool_args",
]
