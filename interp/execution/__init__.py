"""Running a program: the loop that drives a run, and the handler that performs its effects."""

from .driver import Driver
from .handlers import (
    Answer,
    Approver,
    Handler,
    LiveHandler,
    ModelChoice,
    OnToolError,
    Report,
    named_model,
)
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
    "Handler",
    "LiveHandler",
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
    "conversation_form",
    "finished",
    "named_model",
    "now",
    "observations",
    "startable",
    "under_way",
]
