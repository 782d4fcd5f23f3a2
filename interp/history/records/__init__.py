"""Writes conversations, responses and runs as gram, and reads them back."""

from .conversation_files import Session, load_context, save_context, session
from .conversation_pattern import context_from_pattern, message_node
from .effect_text import effect_lines
from .entry_writer import EntryWriter, event_lines, run_text
from .first_entry import Head, head_of
from .pattern_parts import Reader, expect_one_of, without_empty, write_text
from .recorded_run import Entry, RecordedRun, position_text
from .replayer import RecordedStep, Replayer
from .run_file import PathLike, RunFile, has_nothing_begun, is_recorded, load_run, source_of_run
from .run_reading import RunReading, read_run

__all__ = [
    "Entry",
    "EntryWriter",
    "Head",
    "PathLike",
    "Reader",
    "RecordedRun",
    "RecordedStep",
    "Replayer",
    "RunFile",
    "RunReading",
    "Session",
    "context_from_pattern",
    "effect_lines",
    "event_lines",
    "expect_one_of",
    "has_nothing_begun",
    "head_of",
    "is_recorded",
    "load_context",
    "load_run",
    "message_node",
    "position_text",
    "read_run",
    "run_text",
    "save_context",
    "session",
    "source_of_run",
    "without_empty",
    "write_text",
]
