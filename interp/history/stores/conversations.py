"""Conversations in a store: they only grow, by a turn at a time, and are read by pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from attrs import frozen

from gram.errors import expect

from ...errors import RunTakenError, StoreError
from ...machine import ConversationContext, Message
from ..records import messages_to_patterns, pattern_line
from .database import Database, in_pages
from .run_rows import messages_between, whole_entries

_A_PAGE: Final = 50


@frozen
class Conversation:
    """A conversation of a store. It only grows: a turn that has its answer adds its messages.

    Attributes:
        database: the database of the store.
        name: its name.
        changed: when its last turn was done, if a list of conversations gave it; else None.
    """

    database: Database
    name: str
    changed: datetime | None = None

    def __len__(self) -> int:
        return int(self._of_row("size") or 0)

    @property
    def program(self) -> str:
        """The path of the program that it is with, or ""."""
        return str(self._of_row("program") or "")

    def _of_row(self, column: str) -> Any:
        sql = f"SELECT {column} FROM gram_conversations WHERE name = ?"
        found = self.database.execute(sql, self.name)
        return found[0][0] if found else None

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
        return messages_between(self.database, self.name, *page_of(len(self), before, limit))

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
            since = "SELECT id FROM gram_runs WHERE conversation = ? AND messages >= ?"
            for (run,) in execute(since, self.name, size):
                head = whole_entries(self.database, run)[0]
                execute("UPDATE gram_entries SET text = ? WHERE run = ? AND seq = 0", head, run)
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

    def remove(self, before: datetime | None = None) -> bool:
        """Remove the conversation, with the runs that are its turns, for good.

        Args:
            before: only if it last changed before this time; else False is returned.

        Raises:
            RunTakenError: a turn of it is queued or under way.
            StoreError: the store cannot be written.
        """
        return self.database.together(lambda: self._remove(before))

    def _remove(self, before: datetime | None) -> bool:
        execute = self.database.execute
        found = execute(  # new turns wait until it is removed
            "UPDATE gram_conversations SET size = size WHERE name = ? RETURNING changed", self.name
        )
        if found and before and found[0][0] >= before.timestamp():
            return False
        self._expect_idle()
        turns = "SELECT id FROM gram_runs WHERE conversation = ?"
        execute(f"DELETE FROM gram_entries WHERE run IN ({turns})", self.name)
        execute("DELETE FROM gram_runs WHERE conversation = ?", self.name)
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


def add_turn(
    database: Database, conversation: str, run: str, before: int, messages: Sequence[Message]
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
    size, last = size_of(database, conversation)
    if (size, last) == (len(messages), run):
        return  # written before, where its success could not be told
    if size != before:
        raise StoreError(gone_on(conversation))
    for place, message in enumerate(messages[before:], before):
        (pattern,) = messages_to_patterns([message])
        database.execute(
            "INSERT INTO gram_messages (conversation, seq, text) VALUES (?, ?, ?)",
            conversation,
            place,
            pattern_line(pattern),
        )
    database.execute(
        "UPDATE gram_conversations SET size = ?, run = ?, "
        f"changed = {database.clock} WHERE name = ?",
        len(messages),
        run,
        conversation,
    )


def size_of(database: Database, conversation: str) -> tuple[int, str]:
    """How many messages a conversation has, and the run of its last turn; others wait for it.

    It is made, if it is not there.
    """
    ((size, run),) = database.execute(
        "INSERT INTO gram_conversations (name, size, run) VALUES (?, 0, '') "
        "ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING size, run",
        conversation,
    )
    return size, run


def begin_turn(database: Database, conversation: str, before: int, program: str) -> None:
    """Make the conversation of a turn, if it is the first one.

    Args:
        database: the database, in work that is done together.
        conversation: the name of the conversation.
        before: how many messages it had when the run began.
        program: the path of the program that it is with, or "".

    Raises:
        StoreError: the conversation was removed meanwhile.
    """
    ((size,),) = database.execute(
        f"INSERT INTO gram_conversations (name, size, run, program, changed) "
        f"VALUES (?, 0, '', ?, {database.clock}) "
        "ON CONFLICT (name) DO UPDATE SET program = excluded.program RETURNING size",
        conversation,
        program,
    )
    if size < before:
        raise StoreError(
            f"the conversation {conversation} was removed since this turn began\n"
            "  hint: say it again, in a new turn"
        )


def gone_on(conversation: str) -> str:
    """The message about a turn that does not follow its conversation any more."""
    return (
        f"the conversation {conversation} has gone on since this turn began\n"
        "  hint: say it again, in a new turn"
    )
