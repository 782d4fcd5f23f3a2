"""A text with its patterns and their places; files; the layout of a whole text."""

from .document import Document, parse
from .files import PathOrFile as PathOrFile, decode as decode
from .formatting import format_text
from .new_layout import format_changes as format_changes
from .saving import (
    HeldFile as HeldFile,
    holding as holding,
    resolved as resolved,
    write_together as write_together,
)
from .watching import WatchedFiles as WatchedFiles
