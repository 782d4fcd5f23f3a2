"""A text with its patterns and their places; files; the layout of a whole text."""

from .document import Document
from .formatting import format_text
