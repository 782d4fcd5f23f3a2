"""Writes conversations, responses and runs as gram, and reads them back."""

from .conversation_files import (
    Session as Session,
    load_context as load_context,
    save_context as save_context,
    session as session,
)
from .conversation_pattern import (
    context_from_pattern as context_from_pattern,
    messages_to_patterns as messages_to_patterns,
)
from .effect_text import effect_lines as effect_lines
from .entry_writer import (
    EntryWriter as EntryWriter,
    event_lines as event_lines,
    run_text as run_text,
)
from .first_entry import Head as Head, head_of as head_of
from .nodes import pattern_line as pattern_line
from .pattern_parts import (
    Reader as Reader,
    expect_one_of as expect_one_of,
    without_empty as without_empty,
    write_text as write_text,
)
from .recorded_run import Entry as Entry, RecordedRun as RecordedRun, position_text as position_text
from .replayer import RecordedStep as RecordedStep, Replayer as Replayer
from .run_file import (
    PathLike as PathLike,
    RunFile as RunFile,
    differences as differences,
    has_nothing_begun as has_nothing_begun,
    is_recorded as is_recorded,
    load_run as load_run,
)
from .run_reading import read_run as read_run
