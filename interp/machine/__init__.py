"""The pure fold: states, effects and events, and the step from one state to the next."""

from .agent_frame import is_handover as is_handover
from .approval import (
    ApprovalPolicy as ApprovalPolicy,
    ApprovalRule as ApprovalRule,
    allow_all as allow_all,
    ask_all as ask_all,
    deny_all as deny_all,
)
from .call_checks import FORBIDDEN as FORBIDDEN
from .effects import (
    Ask as Ask,
    At as At,
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
    ToolEffect as ToolEffect,
    ToolReturned as ToolReturned,
    model_that_replied as model_that_replied,
)
from .fold import (
    Step as Step,
    resume as resume,
    start as start,
    start_again as start_again,
    step as step,
)
from .frames import (
    AgentFrame as AgentFrame,
    BegunNode as BegunNode,
    Called as Called,
    EndedNode as EndedNode,
    Frame as Frame,
    Status as Status,
    WorkflowFrame as WorkflowFrame,
)
from .given import Given as Given, parts_of as parts_of
from .happened import (
    NOT_WAITED_FOR as NOT_WAITED_FOR,
    CallAnswered as CallAnswered,
    CallDropped as CallDropped,
    Ended as Ended,
    FrameBegun as FrameBegun,
    Happened as Happened,
)
from .limits import Limits as Limits
from .long_tuple import LongTuple as LongTuple
from .messages import (
    AgentResponse as AgentResponse,
    AssistantRole as AssistantRole,
    ConversationContext as ConversationContext,
    FunctionRole as FunctionRole,
    Message as Message,
    MessageRole as MessageRole,
    Role as Role,
    ToolCall as ToolCall,
    ToolInvocation as ToolInvocation,
    Usage as Usage,
    UserRole as UserRole,
    conversation_of as conversation_of,
    empty_context as empty_context,
)
from .money import dollars as dollars, shown_price as shown_price
from .offers import definition as definition
from .readings import (
    context_before as context_before,
    frame_at as frame_at,
    frames_inside as frames_inside,
    interrupted_context as interrupted_context,
    is_of_plain_agent as is_of_plain_agent,
    path_of_names as path_of_names,
    pending as pending,
    response as response,
    says_result as says_result,
    waits_for as waits_for,
)
from .requests import answer_schema_of as answer_schema_of
from .run_context import RunContext as RunContext
from .shown_calls import (
    call_text as call_text,
    progress_text as progress_text,
    question_text as question_text,
)
from .state import State as State
