"""Conversations in a store: they only grow, by a turn at a time, and are read by pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from attrs import frozen

from gram import loads_one
from gram.errors import expect

from ...errors import StoreError
from ...machine import ConversationContext, Message
from ..records import context_from_pattern, messages_to_patterns, pattern_line
from .database import Database, in_pages
from .entries import remove_entries, remove_unused_texts

_NAME: Final = "messages:"
_BETWEEN: Final = ", "
"""What is between two elements of a pattern on one line."""

_MAY_REFER: Final = "(:File {"
"""What is in the text of a message with a file whose bytes may be those of a file before it."""

_A_PAGE: Final = 50


@frozen
class Turn:
    """The place of a run in a conversation.

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
        lines = map(pattern_line, messages_to_patterns(context))
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
        changed: when its last turn was done, as a list of conversations found it; else None.
    """

    database: Database
    name: str
    changed: datetime | None = None

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
        texts = texts_of(self.database, self.name, begin, end)
        if begin and any(_MAY_REFER in each for each in texts):
            texts = texts_of(self.database, self.name, 0, end)  # a file's bytes may stand before
        pattern = loads_one(f"[:Conversation | {_BETWEEN.join(texts)}]") if texts else None
        context = context_from_pattern(pattern) if pattern else ConversationContext()
        return context[begin - end :] if context else context

    def remove(self) -> None:
        """Remove the conversation, with the runs that are its turns, for good.

        Raises:
            StoreError: a turn of it is queued or under way, or the store cannot be written.
        """
        if run := self._removed(None):
            raise StoreError(
                f"{self.database.name}: a turn of the conversation {self.name} is queued or under "
                f"way: run {run}\n  hint: cancel it first"
            )
        remove_unused_texts(self.database)

    def remove_if_old(self, before: datetime) -> bool:
        """Remove it; False if it changed since, or a turn of it is queued or under way.

        Args:
            before: the time before which it changed last.

        Raises:
            StoreError: the store cannot be written.
        """
        return self._removed(before) is None

    def _removed(self, before: datetime | None) -> str | None:
        """Remove it; the id of the turn that keeps it from being removed, if there is one."""

        def work() -> str | None:
            execute = self.database.execute
            found = execute(  # new turns wait until it is removed
                "UPDATE gram_conversations SET size = size WHERE name = ? RETURNING run, changed",
                self.name,
            )
            if found and before and found[0][1] >= before.timestamp():
                return str(found[0][0])
            turns = execute(
                "SELECT id, status = 'queued' OR (status = 'running' AND leased_until >= "
                f"{self.database.clock}) FROM gram_runs WHERE conversation = ?",
                self.name,
            )
            for run, is_in_use in turns:
                if is_in_use:
                    return str(run)
            execute("DELETE FROM gram_runs WHERE conversation = ?", self.name)
            remove_entries(self.database, [run for run, _ in turns])
            execute("DELETE FROM gram_messages WHERE conversation = ?", self.name)
            execute("DELETE FROM gram_conversations WHERE name = ?", self.name)
            return None

        return self.database.together(work)


def found_conversations(
    database: Database, before: datetime | None, beginning: str, limit: int | None
) -> Iterator[Conversation]:
    """The conversations of a store, see `RunStore.conversations`."""
    found = in_pages(
        database,
        "SELECT changed, name FROM gram_conversations WHERE size > 0 AND changed < "
        "COALESCE(?, changed + 1) AND substr(name, 1, ?) = ?",
        (before and before.timestamp(), len(beginning), beginning),
        ("changed", "name"),
        limit,
    )
    for changed, name in found:
        yield Conversation(database, name, datetime.fromtimestamp(changed, UTC))


def texts_of(database: Database, conversation: str, begin: int, end: int) -> list[str]:
    """The messages of a conversation from one on to before another, as lines."""
    found = database.execute(
        "SELECT text FROM gram_messages WHERE conversation = ? AND seq >= ? AND seq < ? "
        "ORDER BY seq",
        conversation,
        begin,
        end,
    )
    return [text for (text,) in found]


def named_text(database: Database, conversation: str | None, name: str) -> str | None:
    """The messages that a name in a first entry stands for; None for the name of something else."""
    if conversation is None or not name.startswith(_NAME):
        return None
    size = int(name.removeprefix(_NAME))
    texts = texts_of(database, conversation, 0, size)
    if len(texts) < size:
        raise StoreError(f"the conversation {conversation} was removed, which the run is a turn of")
    return _BETWEEN.join(texts)


def add_turn(
    database: Database,
    conversation: str,
    run: str,
    before: int,
    messages: Sequence[Message],
) -> None:
    """Add what was said in a turn to its conversation, once.

    Args:
        database: the database, in work that is done together.
        conversation: the name of the conversation.
        run: the id of the run.
        before: how many messages the conversation had when the run began.
        messages: those, and what was said since.

    Raises:
        StoreError: the conversation has gone on since.
    """
    written = {file.sha256 for each in messages[:before] for file in each.attachments}
    lines = [*map(pattern_line, messages_to_patterns(messages[before:], written))]
    size = database.execute(
        "INSERT INTO gram_conversations (name, size, run) VALUES (?, 0, '') "
        "ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING size, run",
        conversation,
    )
    if size == [(before + len(lines), run)]:
        return  # written before, where its success could not be told
    if size[0][0] != before:
        raise StoreError(gone_on(conversation))
    for index, line in enumerate(lines):
        database.execute(
            "INSERT INTO gram_messages (conversation, seq, text) VALUES (?, ?, ?)",
            conversation,
            before + index,
            line,
        )
    database.execute(
        "UPDATE gram_conversations SET size = ?, run = ?, "
        f"changed = {database.clock} WHERE name = ?",
        before + len(lines),
        run,
        conversation,
    )


def expect_messages(database: Database, conversation: str, size: int) -> None:
    """Refuse a turn after messages that a conversation does not have any more.

    Raises:
        StoreError: the conversation was removed meanwhile.
    """
    found = database.execute("SELECT size FROM gram_conversations WHERE name = ?", conversation)
    if size and (not found or found[0][0] < size):
        raise StoreError(
            f"the conversation {conversation} was removed since this turn began\n"
            "  hint: say it again, in a new turn"
        )


def gone_on(conversation: str) -> str:
    """What is told of a turn that does not follow its conversation any more."""
    return (
        f"the conversation {conversation} has gone on since this turn began\n"
        "  hint: say it again, in a new turn"
    )
