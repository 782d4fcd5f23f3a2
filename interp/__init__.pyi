"""The names that the package offers, and where each lives."""

from .approval import (
    ApprovalPolicy as ApprovalPolicy,
    ApprovalRule as ApprovalRule,
    allow_all as allow_all,
    ask_all as ask_all,
    deny_all as deny_all,
)
from .arguments import validate_tool_args as validate_tool_args
from .binding import (
    bind_agent_tools as bind_agent_tools,
    bind_tool as bind_tool,
    explain_binding as explain_binding,
)
from .borrowed import (
    GramDecodeError as GramDecodeError,
    GramEncodeError as GramEncodeError,
    GramError as GramError,
    Model as Model,
    Settings as Settings,
    TypeSignature as TypeSignature,
    create_agent_pattern as create_agent_pattern,
    create_tool_specification as create_tool_specification,
    parse_type_signature as parse_type_signature,
    type_signature_to_json_schema as type_signature_to_json_schema,
    validate_agent_pattern as validate_agent_pattern,
)
from .conversation_files import load_context as load_context, save_context as save_context
from .conversation_pattern import (
    context_from_pattern as context_from_pattern,
    context_to_pattern as context_to_pattern,
)
from .drivers import (
    arun as arun,
    astream as astream,
    begin as begin,
    execute_agent as execute_agent,
    execute_agent_with_library as execute_agent_with_library,
    resume_run as resume_run,
    run as run,
    stream as stream,
)
from .effects import (
    Ask as Ask,
    CallFailed as CallFailed,
    CallModel as CallModel,
    CallTool as CallTool,
    Decided as Decided,
    ModelReplied as ModelReplied,
    Request as Request,
    TimeUp as TimeUp,
    ToolReturned as ToolReturned,
)
from .errors import (
    AgentError as AgentError,
    ApprovalNeeded as ApprovalNeeded,
    ConfigurationError as ConfigurationError,
    LimitError as LimitError,
    LLMAPIError as LLMAPIError,
    ModelError as ModelError,
    ProtocolError as ProtocolError,
    ReplayError as ReplayError,
    ToolBindingError as ToolBindingError,
    ToolError as ToolError,
    ValidationError as ValidationError,
)
from .forms import FORMS as FORMS
from .functions.function_tools import (
    tool as tool,
    tool_spec_from_function as tool_spec_from_function,
)
from .hello_world import hello_world_tool_library as hello_world_tool_library
from .invocation import invoke_tool as invoke_tool
from .language_model import LanguageModel as LanguageModel
from .library import (
    ToolLibrary as ToolLibrary,
    empty_tool_library as empty_tool_library,
    lookup_tool as lookup_tool,
    register_tool as register_tool,
)
from .limits import Limits as Limits
from .machine import (
    TRANSITIONS as TRANSITIONS,
    pending as pending,
    response as response,
    resume as resume,
    start as start,
    step as step,
)
from .messages import (
    AgentResponse as AgentResponse,
    AssistantRole as AssistantRole,
    ConversationContext as ConversationContext,
    FunctionRole as FunctionRole,
    Message as Message,
    ToolCall as ToolCall,
    ToolInvocation as ToolInvocation,
    Usage as Usage,
    UserRole as UserRole,
    empty_context as empty_context,
)
from .programs import load as load
from .providers import PROVIDERS as PROVIDERS, Provider as Provider
from .replies import detect_tool_call as detect_tool_call
from .response_pattern import (
    invocation_from_pattern as invocation_from_pattern,
    invocation_to_pattern as invocation_to_pattern,
    response_from_pattern as response_from_pattern,
    response_to_pattern as response_to_pattern,
)
from .runs import Run as Run
from .scripted import ScriptedModel as ScriptedModel
from .state import State as State, Status as Status
from .streaming import (
    Finished as Finished,
    Observation as Observation,
    TextDelta as TextDelta,
    ToolFinished as ToolFinished,
    ToolStarted as ToolStarted,
)
from .tool_context import ToolContext as ToolContext
from .tools import Tool as Tool, create_tool as create_tool
