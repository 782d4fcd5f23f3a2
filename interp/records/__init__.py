"""Writes conversations, responses and runs as gram, and reads them back."""

from .conversation_files import Session, load_context, save_context, session
from .conversation_pattern import context_from_pattern, message_node
from .effect_text import effect_lines
from .entry_writer import EntryWriter, Head
from .pattern_parts import Reader, expect_one_of, without_empty, write_text
from .recorded_run import Entry, RecordedRun, position_text
from .run_file import PathLike, RunFile, has_nothing_begun, is_recorded, load_run, source_of_run
from .run_log import RunLog
from .run_notes import CANCELLED, Begun, Failed, Note, Retried, Stopped
from .run_reading import RunReading, read_run
from .seals import Folded
from .steps import Course, Step

__all__ = [
    "CANCELLED",
    "Begun",
    "Course",
    "Entry",
    "EntryWriter",
    "Failed",
    "Folded",
    "Head",
    "Note",
    "PathLike",
    "Reader",
    "RecordedRun",
    "Retried",
    "RunFile",
    "RunLog",
    "RunReading",
    "Session",
    "Step",
    "Stopped",
    "context_from_pattern",
    "effect_lines",
    "expect_one_of",
    "has_nothing_begun",
    "is_recorded",
    "load_context",
    "load_run",
    "message_node",
    "position_text",
    "read_run",
    "save_context",
    "session",
    "source_of_run",
    "without_empty",
    "write_text",
]
