"""Running a program: the loop that drives a run, and the world that performs its effects."""

from .driver import Driver
from .notebook import conversation_form
from .observations import (
    AgentFinished,
    AgentStarted,
    Finished,
    Observation,
    SaidBeforeCalls,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    finished,
    observations,
    under_way,
)
from .run_log import Folded, RunLog
from .run_notes import CANCELLED, Begun, Failed, Note, Retried, Stopped, now
from .scheduling import startable
from .telemetry import Telemetry
from .watchers import Observer, Watcher
from .world import Answer, Approver, LiveWorld, ModelChoice, OnToolError, Report, World, named_model

__all__ = [
    "CANCELLED",
    "AgentFinished",
    "AgentStarted",
    "Answer",
    "Approver",
    "Begun",
    "Driver",
    "Failed",
    "Finished",
    "Folded",
    "LiveWorld",
    "ModelChoice",
    "Note",
    "Observation",
    "Observer",
    "OnToolError",
    "Report",
    "Retried",
    "RunLog",
    "SaidBeforeCalls",
    "Stopped",
    "Telemetry",
    "TextDelta",
    "ToolFinished",
    "ToolProgress",
    "ToolStarted",
    "Watcher",
    "World",
    "conversation_form",
    "finished",
    "named_model",
    "now",
    "observations",
    "startable",
    "under_way",
]
