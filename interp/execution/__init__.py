"""Running a program: the world that performs effects, and the two pumps that drive a run."""

from .drivers import begin
from .observations import (
    Finished,
    Observation,
    SaidBeforeCalls,
    TextDelta,
    ToolFinished,
    ToolStarted,
    finished,
    observations,
)
from .options import Answer, BeginOptions, OnToolError, RunOptions, named_model
from .runs import Run
from .scheduling import startable
from .world import AsyncReport, LiveWorld, Report, World

__all__ = [
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
    "ToolStarted",
    "World",
    "begin",
    "finished",
    "named_model",
    "observations",
    "startable",
]
