"""Writes conversations, responses and runs as gram, and reads them back."""

from .conversation_files import (
    load_context,
    save_context,
)
from .conversation_pattern import (
    messages_to_patterns,
    written_context,
)
from .effect_text import effect_lines
from .entry_writer import (
    EntryWriter,
    event_lines,
    run_text,
)
from .first_entry import (
    Head,
    Turn,
    context_after,
    head_of,
)
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
