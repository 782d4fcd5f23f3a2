"""Running a program: the loop that drives a run, and the world that performs its effects."""

from .beginning import begin, begin_for, first_state_of, resumed
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
from .options import Answer, BeginOptions, OnToolError, RunOptions, named_model
from .runs import Run
from .scheduling import startable
from .world import LiveWorld, Report, World

__all__ = [
    "AgentFinished",
    "AgentStarted",
    "Answer",
    "BeginOptions",
    "Finished",
    "LiveWorld",
    "Observation",
    "OnToolError",
    "Report",
    "Run",
    "RunOptions",
    "SaidBeforeCalls",
    "TextDelta",
    "ToolFinished",
    "ToolProgress",
    "ToolStarted",
    "World",
    "begin",
    "begin_for",
    "finished",
    "first_state_of",
    "named_model",
    "observations",
    "resumed",
    "startable",
    "under_way",
]
