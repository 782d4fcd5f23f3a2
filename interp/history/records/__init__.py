"""Writes conversations, responses and runs as gram, and reads them back."""

from .conversation_pattern import load_context, messages_of, messages_to_patterns, save_context
from .entry_lines import (
    RecordedTurns,
    event_line,
    event_lines,
    note_line,
    read_run,
    read_turns,
    run_text,
    taken_back,
)
from .first_entry import Turn, context_after, head_of, program_text
from .pattern_parts import (
    Reader,
    expect_one_of,
    pattern_line,
    without_empty,
    write_text,
)
from .recorded_run import Entry, RecordedRun, RecordedStep, Replayer, effect_lines, position_text
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
