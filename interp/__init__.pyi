"""The names that the package offers, and where each lives."""

from .errors import (
    AgentError as AgentError,
    ApprovalNeeded as ApprovalNeeded,
    ConfigurationError as ConfigurationError,
    LimitError as LimitError,
    ModelError as ModelError,
    ToolBindingError as ToolBindingError,
    ToolError as ToolError,
    ValidationError as ValidationError,
    WorkflowError as WorkflowError,
)
from .evaluation.cases.case import Case as Case
from .evaluation.experiments.carrying_out import ab as ab
from .execution.observations import (
    Finished as Finished,
    Observation as Observation,
    ReasoningDelta as ReasoningDelta,
    TextDelta as TextDelta,
    ToolProgress as ToolProgress,
    ToolStarted as ToolStarted,
)
from .execution.telemetry import Telemetry as Telemetry
from .files import File as File
from .history.records.patterns import load_context as load_context, save_context as save_context
from .history.replaying.replay import recorded as recorded
from .history.replaying.timeline import timeline as timeline
from .history.stores.addresses import load_run as load_run, open_store as open_store
from .machine.approval import (
    ApprovalPolicy as ApprovalPolicy,
    ApprovalRule as ApprovalRule,
    allow_all as allow_all,
    ask_all as ask_all,
    deny_all as deny_all,
)
from .machine.frame_step import ToolFinished as ToolFinished
from .machine.messages import (
    AgentResponse as AgentResponse,
    AssistantRole as AssistantRole,
    ConversationContext as ConversationContext,
    FunctionRole as FunctionRole,
    Message as Message,
    ToolCall as ToolCall,
    ToolInvocation as ToolInvocation,
    Usage as Usage,
    UserRole as UserRole,
)
from .machine.run_context import Limits as Limits
from .models.connect import connect_model as connect_model
from .models.language_model import LanguageModel as LanguageModel
from .models.openai_model import OpenAIModel as OpenAIModel
from .models.without_network import ScriptedModel as ScriptedModel
from .programs import load as load
from .running.runs import (
    Run as Run,
    arun as arun,
    astream as astream,
    begin as begin,
    run as run,
    stream as stream,
)
from .tools.binding import bind_agent_tools as bind_agent_tools
from .tools.from_functions.function_tools import (
    tool as tool,
    tool_spec_from_function as tool_spec_from_function,
)
from .tools.from_functions.json_types import answer_of as answer_of
from .tools.hello_world import hello_world_tool_library as hello_world_tool_library
from .tools.implementation import (
    Tool as Tool,
    ToolContext as ToolContext,
    create_tool as create_tool,
)
from .tools.library import ToolLibrary as ToolLibrary, load_tools as load_tools
from .tools.mcp.library import mcp_library as mcp_library
from .tools.openapi.library import openapi_library as openapi_library
from .views.notebook import load_ipython_extension as load_ipython_extension
from .workers.steering import resume_run as resume_run
from .workers.submission import submit as submit
