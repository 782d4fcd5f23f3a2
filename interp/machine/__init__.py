"""The pure fold: states, effects and events, and the step from one state to the next."""

from .agent_frame import is_handover
from .approval import ApprovalPolicy, ApprovalRule, allow_all, ask_all, deny_all
from .call_checks import FORBIDDEN
from .calls_made import calls_made
from .effects import (
    Ask,
    At,
    CallFailed,
    CallModel,
    CallTool,
    Decided,
    Effect,
    Event,
    ModelReplied,
    Request,
    Resumed,
    TimeUp,
    ToolEffect,
    ToolReturned,
)
from .fold import (
    Given,
    begun_with,
    endings,
    endings_at_start,
    first_state,
    fold,
    resume,
    start,
    step,
)
from .frames import AgentFrame, Called, Ended, Frame, Outcome, Status, Step, WorkflowFrame
from .limits import Limits
from .offers import definition
from .readings import (
    frame_at,
    frames_begun,
    frames_inside,
    interrupted_context,
    is_of_plain_agent,
    newly_answered,
    pending,
    response,
    says_result,
    waits_for,
)
from .requests import answer_schema_of
from .shared import Shared
from .state import State

__all__ = [
    "FORBIDDEN",
    "AgentFrame",
    "ApprovalPolicy",
    "ApprovalRule",
    "Ask",
    "At",
    "CallFailed",
    "CallModel",
    "CallTool",
    "Called",
    "Decided",
    "Effect",
    "Ended",
    "Event",
    "Frame",
    "Given",
    "Limits",
    "ModelReplied",
    "Outcome",
    "Request",
    "Resumed",
    "Shared",
    "State",
    "Status",
    "Step",
    "TimeUp",
    "ToolEffect",
    "ToolReturned",
    "WorkflowFrame",
    "allow_all",
    "answer_schema_of",
    "ask_all",
    "begun_with",
    "calls_made",
    "definition",
    "deny_all",
    "endings",
    "endings_at_start",
    "first_state",
    "fold",
    "frame_at",
    "frames_begun",
    "frames_inside",
    "interrupted_context",
    "is_handover",
    "is_of_plain_agent",
    "newly_answered",
    "pending",
    "response",
    "resume",
    "says_result",
    "start",
    "step",
    "waits_for",
]
