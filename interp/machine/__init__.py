"""The pure fold: states, effects and events, and the step from one state to the next."""

from .agent_step import is_handover
from .approval import (
    POLICY,
    ApprovalPolicy as ApprovalPolicy,
    ApprovalRule as ApprovalRule,
    allow_all as allow_all,
    ask_all as ask_all,
    deny_all as deny_all,
)
from .contracts.tool_forms import (
    TOOL_FORMS as TOOL_FORMS,
    tools_from_json as tools_from_json,
    tools_to_json as tools_to_json,
)
from .contracts.values import is_correction, validate_tool_args as validate_tool_args
from .effects import (
    Ask as Ask,
    At,
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
    ToolEffect,
    ToolReturned as ToolReturned,
)
from .fold import (
    FORMS as FORMS,
    TRANSITIONS as TRANSITIONS,
    Step,
    fold as fold,
    start as start,
    start_again,
    step as step,
)
from .frame_step import (
    FORBIDDEN,
    NOT_WAITED_FOR,
    AgentFinished,
    AgentStarted,
    CallDropped,
    Ended,
    Happened,
    ToolFinished as ToolFinished,
)
from .messages import (
    AgentResponse as AgentResponse,
    AssistantRole as AssistantRole,
    ConversationContext as ConversationContext,
    FunctionRole as FunctionRole,
    Given as Given,
    Message as Message,
    MessageRole,
    Role,
    ToolCall as ToolCall,
    ToolInvocation as ToolInvocation,
    Usage as Usage,
    UserRole as UserRole,
    call_text,
    conversation_of,
    empty_context as empty_context,
    parts_of,
    progress_text,
    question_text,
)
from .readings import (
    context_before,
    frame_at,
    frames_inside,
    interrupted_context as interrupted_context,
    path_of_names,
    pending as pending,
    response as response,
    says_result,
    streams_result,
    waits_for,
)
from .requests import CHARACTERS_OF_A_TOKEN, answer_schema_of
from .run_context import Limits as Limits, LimitsLike as LimitsLike, dollars, limits_of, shown_price
from .state import (
    AgentFrame as AgentFrame,
    Frame,
    State as State,
    Status as Status,
    WorkflowFrame as WorkflowFrame,
)
