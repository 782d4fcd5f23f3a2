"""The pure fold: states, effects and events, and the step from one state to the next."""

from .approval import ApprovalPolicy, allow_all, ask_all, deny_all
from .call_checks import FORBIDDEN
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
from .fold import first_state, fold, resume, start, step
from .limits import Limits
from .readings import interrupted_context, newly_answered, pending, response
from .state import State, Status

__all__ = [
    "FORBIDDEN",
    "ApprovalPolicy",
    "Ask",
    "At",
    "CallFailed",
    "CallModel",
    "CallTool",
    "Decided",
    "Effect",
    "Event",
    "Limits",
    "ModelReplied",
    "Request",
    "Resumed",
    "State",
    "Status",
    "TimeUp",
    "ToolEffect",
    "ToolReturned",
    "allow_all",
    "ask_all",
    "deny_all",
    "first_state",
    "fold",
    "interrupted_context",
    "newly_answered",
    "pending",
    "response",
    "resume",
    "start",
    "step",
]
