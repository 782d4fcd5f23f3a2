"""Running a program: the world that performs effects, and the two pumps that drive a run."""

from .beginning import begin, begin_for, finish_for, first_state_of, resumed
from .observations import (
    NOT_WAITED_FOR,
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
from .world import AsyncReport, LiveWorld, Report, World

__all__ = [
    "NOT_WAITED_FOR",
    "AgentFinished",
    "AgentStarted",
    "Answer",
    "AsyncReport",
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
    "finish_for",
    "finished",
    "first_state_of",
    "named_model",
    "observations",
    "resumed",
    "startable",
    "under_way",
]
