"""Conversations in a store: they only grow, by a turn at a time, and are read by pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from attrs import frozen

from gram import loads_one
from gram.errors import expect

from ...errors import RunTakenError, StoreError
from ...machine import ConversationContext, Message
from ..records import messages_to_patterns, pattern_line, written_context
from .database import Database, in_pages
from .entries import remove_entries, remove_unused_texts, with_texts

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
        program: the path of the program that the conversation is with, or "".
    """

    conversation: str
    before: int
    text: str = ""
    program: str = ""

    @classmethod
    def after(cls, conversation: str, context: ConversationContext, program: str = "") -> Turn:
        """The turn that begins after some messages."""
        lines = map(pattern_line, messages_to_patterns(context))
        return cls(conversation, len(context), _BETWEEN.join(lines), program)

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
    def program(self) -> str:
        """The path of the program that it is with, or ""."""
        sql = "SELECT program FROM gram_conversations WHERE name = ?"
        found = self.database.execute(sql, self.name)
        return str(found[0][0]) if found else ""

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
        begin, end = page_of(len(self), before, limit)
        texts = texts_of(self.database, self.name, begin, end)
        if begin and any(_MAY_REFER in each for each in texts):
            texts = texts_of(self.database, self.name, 0, end)  # a file's bytes may stand before
        pattern = loads_one(f"[:Conversation | {_BETWEEN.join(texts)}]") if texts else None
        context = written_context(pattern, {}) if pattern else ConversationContext()
        return context[begin - end :] if context else context

    def unfinished_turn(self) -> str | None:
        """The run of its last turn, if that has no answer and no worker is to go on with it."""
        found = self.database.execute(
            "SELECT id FROM gram_runs JOIN gram_conversations ON conversation = name "
            "WHERE name = ? AND messages = size AND queue IS NULL "
            "AND status NOT IN ('done', 'cancelled', 'queued') ORDER BY created DESC LIMIT 1",
            self.name,
        )
        return str(found[0][0]) if found else None

    def extend(self, messages: Sequence[Message], run: str = "", program: str = "") -> None:
        """Add messages: those of a turn that has no answer, or of another conversation.

        Args:
            messages: all messages that it has then.
            run: the id of the turn, if it is one.
            program: the path of the program that it is with from now on, resolved; "" for the same.

        Raises:
            StoreError: the conversation has gone on since, or the store cannot be written.
        """
        before = len(self)

        def work() -> None:
            add_turn(self.database, self.name, run, before, messages)
            if program:
                sql = "UPDATE gram_conversations SET program = ? WHERE name = ?"
                self.database.execute(sql, program, self.name)

        self.database.together(work)

    def cut(self, size: int) -> None:
        """Take back all but the first messages; the runs since are kept, and are no turns of it.

        Args:
            size: how many messages stay.

        Raises:
            RunTakenError: a turn of it is queued or under way.
            StoreError: the store cannot be written.
        """
        execute = self.database.execute

        def work() -> None:
            execute("UPDATE gram_conversations SET size = size WHERE name = ?", self.name)
            self._expect_idle()
            for run, own in execute(
                "SELECT id, text FROM gram_runs JOIN gram_entries ON run = id AND seq = 0 "
                "WHERE conversation = ? AND messages >= ?",
                self.name,
                size,
            ):
                whole = with_texts(own, lambda name: named_text(self.database, self.name, name))
                execute("UPDATE gram_entries SET text = ? WHERE run = ? AND seq = 0", whole, run)
            execute(
                "UPDATE gram_runs SET conversation = NULL, messages = NULL "
                "WHERE conversation = ? AND messages >= ?",
                self.name,
                size,
            )
            execute(
                "DELETE FROM gram_messages WHERE conversation = ? AND seq >= ?", self.name, size
            )
            execute(
                "UPDATE gram_conversations SET size = ?, run = '', "
                f"changed = {self.database.clock} WHERE name = ?",
                size,
                self.name,
            )

        self.database.together(work)

    def _expect_idle(self) -> None:
        turns = self.database.execute(
            "SELECT id FROM gram_runs WHERE conversation = ? AND (status = 'queued' OR "
            f"(status = 'running' AND leased_until >= {self.database.clock}))",
            self.name,
        )
        if turns:
            raise RunTakenError(
                f"{self.database.name}: a turn of the conversation {self.name} is queued or under "
                f"way: run {turns[0][0]}\n  hint: cancel it first"
            )

    def remove(self) -> None:
        """Remove the conversation, with the runs that are its turns, for good.

        Raises:
            RunTakenError: a turn of it is queued or under way.
            StoreError: the store cannot be written.
        """
        self.database.together(self._remove)
        remove_unused_texts(self.database)

    def remove_if_old(self, before: datetime) -> bool:
        """Remove it; False if it changed since, or a turn of it is queued or under way.

        Args:
            before: the time before which it changed last.

        Raises:
            StoreError: the store cannot be written.
        """
        try:
            return self.database.together(lambda: self._remove(before))
        except RunTakenError:
            return False

    def _remove(self, before: datetime | None = None) -> bool:
        execute = self.database.execute
        found = execute(  # new turns wait until it is removed
            "UPDATE gram_conversations SET size = size WHERE name = ? RETURNING changed", self.name
        )
        if found and before and found[0][0] >= before.timestamp():
            return False
        self._expect_idle()
        turns = execute("DELETE FROM gram_runs WHERE conversation = ? RETURNING id", self.name)
        remove_entries(self.database, [run for (run,) in turns])
        execute("DELETE FROM gram_messages WHERE conversation = ?", self.name)
        execute("DELETE FROM gram_conversations WHERE name = ?", self.name)
        return True


def page_of(size: int, before: int | None, limit: int | None) -> tuple[int, int]:
    """Where a page of a conversation begins and ends, see `Conversation.page`."""
    end = size if before is None else max(0, min(before, size))
    return 0 if limit is None else max(0, end - limit), end


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


def begin_turn(database: Database, turn: Turn) -> None:
    """Make the conversation of a turn, if it is the first one.

    Raises:
        StoreError: the conversation was removed meanwhile.
    """
    ((size,),) = database.execute(
        f"INSERT INTO gram_conversations (name, size, run, program, changed) "
        f"VALUES (?, 0, '', ?, {database.clock}) "
        "ON CONFLICT (name) DO UPDATE SET program = excluded.program RETURNING size",
        turn.conversation,
        turn.program,
    )
    if size < turn.before:
        raise StoreError(
            f"the conversation {turn.conversation} was removed since this turn began\n"
            "  hint: say it again, in a new turn"
        )


def gone_on(conversation: str) -> str:
    """What is told of a turn that does not follow its conversation any more."""
    return (
        f"the conversation {conversation} has gone on since this turn began\n"
        "  hint: say it again, in a new turn"
    )
