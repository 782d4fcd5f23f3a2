"""A text with its patterns and their places; files; the layout of a whole text."""

from .document import Document, parse
from .files import (
    HeldFile as HeldFile,
    PathOrFile as PathOrFile,
    WatchedFiles as WatchedFiles,
    decode as decode,
    holding as holding,
    resolved as resolved,
    write_together as write_together,
)
from .formatting import format_changes as format_changes, format_text
