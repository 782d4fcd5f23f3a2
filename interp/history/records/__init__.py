"""Writes conversations, responses and runs as gram, and reads them back."""

from .conversation_files import (
    Session,
    load_context,
    save_context,
    session,
)
from .conversation_pattern import (
    context_from_pattern,
    messages_to_patterns,
)
from .effect_text import effect_lines
from .entry_writer import (
    EntryWriter,
    event_lines,
    run_text,
)
from .first_entry import Head, head_of
from .nodes import pattern_line
from .pattern_parts import (
    Reader,
    expect_one_of,
    without_empty,
    write_text,
)
from .recorded_run import Entry, RecordedRun, position_text
from .replayer import RecordedStep, Replayer
from .run_file import (
    PathLike,
    RunFile,
    differences,
    has_nothing_begun,
    is_recorded,
    load_run,
)
from .run_reading import read_run
