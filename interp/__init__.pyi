"""The names that the package offers, and where each lives."""

from .building import (
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
    RunTakenError as RunTakenError,
    StoreError as StoreError,
    ToolBindingError as ToolBindingError,
    ToolError as ToolError,
    ValidationError as ValidationError,
    WorkflowError as WorkflowError,
)
from .evaluation.cases.case import Case as Case, ExpectedCall as ExpectedCall
from .evaluation.cases.judging import Failure as Failure, judge as judge
from .evaluation.cases.reading import read_cases as read_cases
from .evaluation.experiments.arms import Arm as Arm
from .evaluation.experiments.carrying_out import ab as ab, load_experiment as load_experiment
from .evaluation.experiments.comparing import Comparison as Comparison, Estimate as Estimate
from .evaluation.experiments.experiment import Experiment as Experiment
from .evaluation.experiments.judging import judged_by as judged_by
from .evaluation.experiments.metrics import Metric as Metric, matches_schema as matches_schema
from .evaluation.experiments.power import cases_needed as cases_needed
from .evaluation.experiments.trials import Trial as Trial
from .evaluation.testing.runs_of_test import (
    AgentUnderTest as AgentUnderTest,
    RunsOfTest as RunsOfTest,
)
from .execution.handlers import Handler as Handler, LiveHandler as LiveHandler
from .execution.notebook import conversation_form as conversation_form
from .execution.observations import (
    AgentFinished as AgentFinished,
    AgentStarted as AgentStarted,
    Finished as Finished,
    Observation as Observation,
    ReasoningDelta as ReasoningDelta,
    SaidBeforeCalls as SaidBeforeCalls,
    TextDelta as TextDelta,
    ToolFinished as ToolFinished,
    ToolProgress as ToolProgress,
    ToolStarted as ToolStarted,
)
from .execution.telemetry import Telemetry as Telemetry
from .files import File as File
from .history.records.conversation_files import (
    Session as Session,
    load_context as load_context,
    save_context as save_context,
    session as session,
)
from .history.records.conversation_pattern import (
    context_from_pattern as context_from_pattern,
    context_to_pattern as context_to_pattern,
)
from .history.records.event_pattern import (
    event_from_pattern as event_from_pattern,
    event_to_pattern as event_to_pattern,
)
from .history.records.recorded_run import RecordedRun as RecordedRun
from .history.records.response_pattern import (
    invocation_from_pattern as invocation_from_pattern,
    invocation_to_pattern as invocation_to_pattern,
    response_from_pattern as response_from_pattern,
    response_to_pattern as response_to_pattern,
)
from .history.records.run_file import load_run as load_run
from .history.replaying.entries import Entry as Entry, Timeline as Timeline
from .history.replaying.following import follow as follow
from .history.replaying.recorded_handler import recorded as recorded
from .history.replaying.timeline import timeline as timeline
from .history.stores.opening import open_store as open_store
from .history.stores.run_rows import RunFacts as RunFacts, RunRow as RunRow
from .history.stores.run_store import RunStore as RunStore
from .machine.approval import (
    ApprovalPolicy as ApprovalPolicy,
    ApprovalRule as ApprovalRule,
    allow_all as allow_all,
    ask_all as ask_all,
    deny_all as deny_all,
)
from .machine.contracts.arguments import validate_tool_args as validate_tool_args
from .machine.contracts.tool_forms import (
    TOOL_FORMS as TOOL_FORMS,
    tools_from_json as tools_from_json,
    tools_to_json as tools_to_json,
)
from .machine.effects import (
    Ask as Ask,
    CallBegun as CallBegun,
    CallFailed as CallFailed,
    CallModel as CallModel,
    CallTool as CallTool,
    CostReached as CostReached,
    Decided as Decided,
    Effect as Effect,
    Event as Event,
    ModelReplied as ModelReplied,
    Request as Request,
    Resumed as Resumed,
    TimeUp as TimeUp,
    ToolReturned as ToolReturned,
)
from .machine.fold import (
    TRANSITIONS as TRANSITIONS,
    fold as fold,
    resume as resume,
    start as start,
    step as step,
)
from .machine.forms import FORMS as FORMS
from .machine.frames import (
    AgentFrame as AgentFrame,
    Status as Status,
    WorkflowFrame as WorkflowFrame,
)
from .machine.given import Given as Given
from .machine.limits import Limits as Limits
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
    empty_context as empty_context,
)
from .machine.readings import (
    interrupted_context as interrupted_context,
    pending as pending,
    response as response,
)
from .machine.state import State as State
from .models.connect import connect_model as connect_model
from .models.language_model import LanguageModel as LanguageModel
from .models.openai_model import OpenAIModel as OpenAIModel
from .models.prices import price_of as price_of
from .models.providers.provider import Provider as Provider
from .models.providers.table import PROVIDERS as PROVIDERS
from .models.reply_reading import detect_tool_call as detect_tool_call
from .models.request_json import request_body as request_body
from .models.scripted import ScriptedModel as ScriptedModel
from .programs import load as load
from .running.beginning import begin as begin
from .running.options import BeginOptions as BeginOptions, RunOptions as RunOptions
from .running.runs import Run as Run
from .running.short_forms import (
    arun as arun,
    astream as astream,
    execute_agent as execute_agent,
    execute_agent_with_library as execute_agent_with_library,
    run as run,
    stream as stream,
)
from .tools.agent_tools import tool_of_agent as tool_of_agent
from .tools.binding import (
    bind_agent_tools as bind_agent_tools,
    bind_tool as bind_tool,
    explain_binding as explain_binding,
)
from .tools.from_functions.answer_types import answer_of as answer_of
from .tools.from_functions.function_tools import (
    tool as tool,
    tool_spec_from_function as tool_spec_from_function,
)
from .tools.hello_world import hello_world_tool_library as hello_world_tool_library
from .tools.implementation import Tool as Tool, create_tool as create_tool
from .tools.invocation import invoke_tool as invoke_tool
from .tools.library import (
    LibraryLike as LibraryLike,
    ToolLibrary as ToolLibrary,
    empty_tool_library as empty_tool_library,
    lookup_tool as lookup_tool,
    register_tool as register_tool,
)
from .tools.mcp.library import McpLibrary as McpLibrary, mcp_library as mcp_library
from .tools.mcp.progress import McpProgress as McpProgress
from .tools.mcp.server import McpServer as McpServer
from .tools.openapi.library import openapi_library as openapi_library
from .tools.tool_context import ToolContext as ToolContext
from .validation import validate_agent_pattern as validate_agent_pattern
from .views.notebook_forms import run_form as run_form
from .views.run_page import run_page as run_page
from .workers.limits import (
    LimitNow as LimitNow,
    SharedLimit as SharedLimit,
    set_shared_limits as set_shared_limits,
    shared_limits as shared_limits,
)
from .workers.resuming import resume_run as resume_run
from .workers.schedules import Schedule as Schedule, read_schedules as read_schedules
from .workers.steering import (
    Result as Result,
    cancel_run as cancel_run,
    decide_run as decide_run,
    export_run as export_run,
    fork_run as fork_run,
    import_run as import_run,
)
from .workers.submission import submit as submit
from .workers.worker import Worker as Worker
