"""Writes conversations, responses and runs as gram, and reads them back."""

from .conversation_files import Session, load_context, save_context, session
from .effect_text import effect_lines
from .recorded_run import RecordedRun, Step
from .run_file import PathLike, RunFile, is_recorded, load_run
from .run_notes import Begun, Failed, Note, Retried, Stopped

__all__ = [
    "Begun",
    "Failed",
    "Note",
    "PathLike",
    "RecordedRun",
    "Retried",
    "RunFile",
    "Session",
    "Step",
    "Stopped",
    "effect_lines",
    "is_recorded",
    "load_context",
    "load_run",
    "save_context",
    "session",
]
