"""Loads and saves conversations in files, atomically."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias, Union

from gram import Diagnostic, Document, Span, dumps, format_text, parse, parse_file
from gram.documents import holding
from gram.errors import expect

from ...errors import ValidationError
from ...machine import ConversationContext, Message, conversation_of
from .conversation_pattern import CONVERSATION, context_written, written_context

PathLike: TypeAlias = Union[str, "os.PathLike[str]"]


def save_context(path: PathLike, context: Iterable[Message]) -> None:
    """Write a conversation to a file; the old content of the file is replaced.

    The replacement is atomic, so that a crash never loses the old content. A new file
    can be read only by its owner (mode 0600).

    Raises:
        OSError: the file cannot be written.
        ArgumentError: an argument is of the wrong type.
    """
    expect(path, (str, os.PathLike), "path", by="save_context")
    context = conversation_of(context, by="save_context")
    with holding(Path(path), private=True) as file:
        file.write(_with_conversation(parse(""), context).text)


def load_context(path: PathLike) -> ConversationContext:
    """Read the conversation of a file.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: the file is not gram.
        ValidationError: the file is not exactly one conversation; the fault has its place.
    """
    expect(path, (str, os.PathLike), "path", by="load_context")
    return _conversation(parse_file(Path(path)))


def _with_conversation(document: Document, context: ConversationContext) -> Document:
    """Replace the conversation of a document; if it has none, the new text is formatted."""
    pattern = context_written(context, by="save_context")
    if document.patterns:
        return document.replace([pattern])
    return parse(format_text(dumps(pattern)), document.filename)


def _conversation(document: Document) -> ConversationContext:
    if len(document.patterns) == 1:
        return written_context(document.patterns[0], {})
    message = f"expected one pattern labelled {CONVERSATION}, found {len(document.patterns)}"
    if document.patterns:
        raise ValidationError.of([Diagnostic.of("no-conversation", message, document.patterns[1])])
    empty = Diagnostic("no-conversation", "error", message, span=Span(0, 0), source=document.source)
    raise ValidationError.of([empty])
