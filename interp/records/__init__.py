"""Writes conversations, responses and runs as gram, and reads them back."""

from .conversation_files import Session, load_context, save_context, session
from .effect_text import effect_lines
from .run_file import PathLike, RecordedRun, RunFile, Step, load_run

__all__ = [
    "PathLike",
    "RecordedRun",
    "RunFile",
    "Session",
    "Step",
    "effect_lines",
    "load_context",
    "load_run",
    "save_context",
    "session",
]
