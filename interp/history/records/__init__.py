"""Writes conversations, responses and runs as gram, and reads them back."""

from .conversation_files import (
    load_context,
    save_context,
)
from .conversation_pattern import messages_of, messages_to_patterns
from .effect_text import effect_lines
from .entry_lines import event_line, event_lines, note_line, run_text
from .first_entry import Turn, context_after, head_of, program_text
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
    add_to_file,
    differences,
    has_nothing_begun,
    is_recorded,
    load_turns,
    text_of_file,
    turn_named,
)
from .run_reading import (
    RecordedTurns,
    read_run,
    read_turns,
    taken_back,
)
