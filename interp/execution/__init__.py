"""Running a program: the world that performs effects, and the two pumps that drive a run."""

from .drivers import begin
from .observations import Finished, SaidBeforeCalls, TextDelta, ToolFinished, ToolStarted
from .options import Answer, OnToolError, RunOptions
from .replaying import Replay, recorded
from .runs import Run
from .world import LiveWorld, World

__all__ = [
    "Answer",
    "Finished",
    "LiveWorld",
    "OnToolError",
    "Replay",
    "Run",
    "RunOptions",
    "SaidBeforeCalls",
    "TextDelta",
    "ToolFinished",
    "ToolStarted",
    "World",
    "begin",
    "recorded",
]
