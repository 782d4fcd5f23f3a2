"""Conversations in a store: they only grow, by a turn at a time, and are read by pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from attrs import frozen

from gram import expect, loads_one

from ..errors import StoreError
from ..messages import ConversationContext, Message
from ..records import context_from_pattern, message_node
from ..redaction import redactor
from .database import Database, Execute

_NAME: Final = "messages:"
_BETWEEN: Final = ", "
"""What is between two elements of a pattern on one line."""

_A_PAGE: Final = 50


@frozen
class Turn:
    """Where a run stands in a conversation.

    Attributes:
        conversation: the name of the conversation.
        before: how many messages it had when the run began.
        text: these messages, as the first entry of the run has them.
    """

    conversation: str
    before: int
    text: str = ""

    @classmethod
    def after(cls, conversation: str, context: ConversationContext) -> Turn:
        """The turn that begins after some messages."""
        lines = (message_node(each).line() for each in context)
        return cls(conversation, len(context), _BETWEEN.join(lines))

    @property
    def named(self) -> dict[str, str]:
        """The text by the name that stands for it in the first entry."""
        return {f"{_NAME}{self.before}": self.text}


@frozen
class Conversation:
    """A conversation of a store. It only grows: a turn that has its answer adds its messages.

    Attributes:
        database: the database of the store.
        name: its name.
    """

    database: Database
    name: str

    def __len__(self) -> int:
        found = self.database.execute(
            "SELECT size FROM gram_conversations WHERE name = ?", self.name
        )
        return int(found[0][0]) if found else 0

    @property
    def context(self) -> ConversationContext:
        """All its messages, to go on from."""
        return self.page(limit=None)

    def page(
        self, *, before: int | None = None, limit: int | None = _A_PAGE
    ) -> ConversationContext:
        """Some of its messages, the last ones at first.

        Args:
            before: only messages before this one, counted from 0; None for the end.
            limit: how many at most; None for all.

        Raises:
            StoreError: the store cannot be read.
        """
        expect(before, (int, type(None)), "before", by="page")
        expect(limit, (int, type(None)), "limit", by="page")
        size = len(self)
        end = size if before is None else max(0, min(before, size))
        begin = 0 if limit is None else max(0, end - limit)
        texts = texts_of(self.database.execute, self.name, begin, end)
        pattern = loads_one(f"[:Conversation | {_BETWEEN.join(texts)}]") if texts else None
        return context_from_pattern(pattern) if pattern else ConversationContext()


def texts_of(execute: Execute, conversation: str, begin: int, end: int) -> list[str]:
    """The messages of a conversation from one on to before another, as lines."""
    found = execute(
        "SELECT text FROM gram_messages WHERE conversation = ? AND seq >= ? AND seq < ? "
        "ORDER BY seq",
        conversation,
        begin,
        end,
    )
    return [text for (text,) in found]


def named_text(execute: Execute, conversation: str | None, name: str) -> str | None:
    """The messages that a name in a first entry stands for; None for the name of something else."""
    if conversation is None or not name.startswith(_NAME):
        return None
    return _BETWEEN.join(texts_of(execute, conversation, 0, int(name.removeprefix(_NAME))))


def add_turn(
    execute: Execute, conversation: str, run: str, before: int, messages: Iterable[Message]
) -> None:
    """Add what was said in a turn to its conversation, once.

    Args:
        execute: carries out statements, all or none.
        conversation: the name of the conversation.
        run: the id of the run.
        before: how many messages the conversation had when the run began.
        messages: what was said since.

    Raises:
        StoreError: the conversation has gone on since.
    """
    hidden = redactor()
    lines = [message_node(each).redacted(hidden).line() for each in messages]
    size = execute(
        "INSERT INTO gram_conversations (name, size, run) VALUES (?, 0, '') "
        "ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING size, run",
        conversation,
    )
    if size == [(before + len(lines), run)]:
        return  # written before, where its success could not be told
    if size[0][0] != before:
        raise StoreError(gone_on(conversation))
    for index, line in enumerate(lines):
        execute(
            "INSERT INTO gram_messages (conversation, seq, text) VALUES (?, ?, ?)",
            conversation,
            before + index,
            line,
        )
    execute(
        "UPDATE gram_conversations SET size = ?, run = ? WHERE name = ?",
        before + len(lines),
        run,
        conversation,
    )


def gone_on(conversation: str) -> str:
    """What is told of a turn that does not follow its conversation any more."""
    return (
        f"the conversation {conversation} has gone on since this turn began\n"
        "  hint: say it again, in a new turn"
    )
