"""Conversations in files: saved whole or not at all, loaded to go on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias, Union

from gram import Fault, Span, dumps, format_text
from gram.faults import fault
from gram.files import parse_file, write_atomically

from .conversation_pattern import CONVERSATION, context_from_pattern, context_to_pattern
from .errors import ValidationError
from .messages import ConversationContext
from .redaction import redacted_context

PathLike: TypeAlias = Union[str, "os.PathLike[str]"]


def save_context(path: PathLike, context: ConversationContext) -> None:
    """Write a conversation to a file, in the place of what is there.

    The old content stays until the new is complete, so a crash loses at most what was being
    saved. Keys that the environment holds are redacted (see `interp.redaction`).

    Raises:
        OSError: the file cannot be written.
        ValidationError: it is no conversation.
    """
    if not isinstance(context, ConversationContext):
        raise ValidationError(f"a context is saved, found {type(context).__name__}")
    pattern = context_to_pattern(redacted_context(context))
    write_atomically(Path(path), format_text(dumps(pattern)))


def load_context(path: PathLike) -> ConversationContext:
    """The conversation of a file, which holds nothing else.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: it is not gram.
        ValidationError: it is not one conversation; the fault has its place.
    """
    document = parse_file(Path(path))
    if len(document.patterns) == 1:
        return context_from_pattern(document.patterns[0])
    message = f"expected one pattern labelled {CONVERSATION}, found {len(document.patterns)}"
    if document.patterns:
        raise ValidationError.of([fault("no-conversation", message, document.patterns[1])])
    start = Span(0, 0)
    empty = Fault("no-conversation", "error", message, span=start, source=document.source)
    raise ValidationError.of([empty])
