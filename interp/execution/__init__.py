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
from .scheduling import startable
from .telemetry import Telemetry
from .watchers import Observer, Watcher
from .world import Answer, Approver, LiveWorld, ModelChoice, OnToolError, Report, World

__all__ = [
    "AgentFinished",
    "AgentStarted",
    "Answer",
    "Approver",
    "Driver",
    "Finished",
    "LiveWorld",
    "ModelChoice",
    "Observation",
    "Observer",
    "OnToolError",
    "Report",
    "SaidBeforeCalls",
    "Telemetry",
    "TextDelta",
    "ToolFinished",
    "ToolProgress",
    "ToolStarted",
    "Watcher",
    "World",
    "conversation_form",
    "finished",
    "observations",
    "startable",
    "under_way",
]
