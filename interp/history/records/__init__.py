"""Writes conversations, responses and runs as gram, and reads them back."""

from .patterns import load_context, message_to_pattern, messages_of, note_line, save_context
from .property_forms import Reader, expect_one_of, pattern_line, without_empty, write_text
from .recorded_run import RecordedRun, RecordedStep, Replayer, effect_lines, position_text
from .run_file import (
    PathLike,
    RunFile,
    add_to_file,
    differences,
    has_nothing_begun,
    is_recorded,
    load_turns,
    turn_named,
)
from .run_text import (
    Turn,
    context_after,
    event_line,
    event_lines,
    head_of,
    program_text,
    read_run,
    read_turns,
    run_text,
    taken_back_line,
)
