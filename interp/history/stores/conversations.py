"""Conversations in a store: they only grow, by a turn at a time, and are read by pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from attrs import field, frozen

from gram.errors import expect

from ...errors import RunTakenError, StoreError, ValidationError
from ...machine import ConversationContext, Message
from ..records import message_to_pattern, messages_of, pattern_line
from .database import SQL, Database

if TYPE_CHECKING:
    from .run_store import RunStore

_A_PAGE: Final = 50
_OF_IT: Final = "FROM gram_conversations WHERE name = ?"
_NAME: Final = re.compile("[^\0\ud800-\udfff]{1,200}", re.DOTALL)
_SAY_AGAIN: Final = "hint: say it again, in a new turn"


def expect_name(name: object, what: str) -> None:
    """Refuse a name of no text, or one that not every database can keep."""
    expect(name, (str, type(None)), what, by="a store")
    if name is not None and not _NAME.fullmatch(str(name)):
        raise ValidationError(
            f"a {what} of a store has 1 to 200 characters, none of them a NUL or a lone surrogate; "
            f"found {str(name)[:50]!r}"
        )


@frozen
class Conversation:
    """A conversation of a store. It only grows: a turn that has its answer adds its messages.

    Attributes:
        changed: when its last turn was done, if a list of conversations gave it; else None.
    """

    store: RunStore
    name: str = field(validator=lambda _, __, name: expect_name(name, "conversation"))
    changed: datetime | None = None

    @property
    def _database(self) -> Database:
        return self.store.ready()

    def __len__(self) -> int:
        return int(self._database.value(f"SELECT size {_OF_IT}", self.name) or 0)

    @property
    def program(self) -> str:
        """The path of the program that it is with, or ""."""
        return str(self._database.value(f"SELECT program {_OF_IT}", self.name) or "")

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
        """
        expect(before, (int, type(None)), "before", by="page")
        expect(limit, (int, type(None)), "limit", by="page")
        return self.between(*page_of(len(self), before, limit))

    def between(self, begin: int, end: int) -> ConversationContext:
        """The messages from one on to before another."""
        found = self._database.execute(SQL["messages"], self.name, begin, end)
        return messages_of(text for (text,) in found)

    def unfinished_turn(self) -> str | None:
        """The run of its last turn, if that has no answer and no worker is to go on with it."""
        found: str | None = self._database.value(SQL["unfinished_turn"], self.name)
        return found

    def extend(self, messages: Sequence[Message], run: str = "", program: str = "") -> None:
        """Add messages: those of a turn that has no answer, or of another conversation.

        Args:
            messages: all messages that it has then.
            run: the id of the turn, if it is one.
            program: the path of the program that it is with from now on, resolved; "" for the same.
        """
        before = len(self)

        def work() -> None:
            self.add_turn(run, before, messages)
            if program:
                sql = "UPDATE gram_conversations SET program = ? WHERE name = ?"
                self._database.execute(sql, program, self.name)

        self._database.together(work)

    def cut(self, context: ConversationContext) -> None:
        """Take back what was said after some of its messages; runs since are no turns of it.

        Raises:
            RunTakenError: a turn of it is queued or under way.
        """
        execute, size = self._database.execute, len(context)

        def work() -> None:
            self._expect_idle()
            since = "conversation = ? AND messages >= ?"
            turns = execute(f"SELECT id FROM gram_runs WHERE {since}", self.name, size)
            for (run,) in turns:
                head = self.store.whole_entries(run)[0]
                execute("UPDATE gram_entries SET text = ? WHERE run = ? AND seq = 0", head, run)
            sql = f"UPDATE gram_runs SET conversation = NULL, messages = NULL WHERE {since}"
            execute(sql, self.name, size)
            sql = "DELETE FROM gram_messages WHERE conversation = ? AND seq >= ?"
            execute(sql, self.name, size)
            self._grown_to(size, "")

        self._database.together(work)
        self.store.rest()

    def remove(self, before: datetime | None = None) -> bool:
        """Remove the conversation, with the runs that are its turns, for good.

        Args:
            before: only if it last changed before this time; else False is returned.

        Raises:
            RunTakenError: a turn of it is queued or under way.
        """
        execute = self._database.execute

        def work() -> bool:
            changed = self._expect_idle()
            if changed is not None and before and changed >= before.timestamp():
                return False
            turns = "SELECT id FROM gram_runs WHERE conversation = ?"
            execute(f"DELETE FROM gram_entries WHERE run IN ({turns})", self.name)
            execute("DELETE FROM gram_runs WHERE conversation = ?", self.name)
            execute("DELETE FROM gram_messages WHERE conversation = ?", self.name)
            execute("DELETE FROM gram_conversations WHERE name = ?", self.name)
            return True

        return self._database.together(work)

    def _expect_idle(self) -> float | None:
        """Refuse to change it while a turn is on its way, and let none begin; its last change."""
        sql = "UPDATE gram_conversations SET size = size WHERE name = ? RETURNING changed"
        changed: float | None = self._database.value(sql, self.name)
        if turn := self._database.value(SQL["turn_on_its_way"], self.name):
            raise RunTakenError(
                f"{self._database.name}: a turn of the conversation {self.name} is queued or under "
                f"way: run {turn}\n  hint: cancel it first"
            )
        return changed

    # --- turns, in work that is done together

    def begin_turn(self, before: int, program: str) -> None:
        """Make the conversation of a turn, if it is the first one."""
        if self._database.value(SQL["begin_turn"], self.name, program) < before:
            raise StoreError(
                f"the conversation {self.name} was removed since this turn began\n  {_SAY_AGAIN}"
            )

    def add_turn(self, run: str, before: int, messages: Sequence[Message]) -> None:
        """Add what was said in a turn, once."""
        size, last = self.locked()
        if (size, last) == (len(messages), run):
            return  # written before, where its success could not be told
        if size != before:
            raise StoreError(self.gone_on)
        sql = "INSERT INTO gram_messages (conversation, seq, text) VALUES (?, ?, ?)"
        for place, message in enumerate(messages[before:], before):
            line = pattern_line(message_to_pattern(message, set()))
            self._database.execute(sql, self.name, place, line)
        self._grown_to(len(messages), run)

    def _grown_to(self, size: int, run: str) -> None:
        self._database.execute(SQL["grow_conversation"], size, run, self.name)

    def locked(self) -> tuple[int, str]:
        """Its size and the run of its last turn; others wait to change it. It may be new."""
        ((size, run),) = self._database.execute(SQL["lock_conversation"], self.name)
        return size, run

    @property
    def gone_on(self) -> str:
        """The message about a turn that does not follow it any more."""
        return f"the conversation {self.name} has gone on since this turn began\n  {_SAY_AGAIN}"


def page_of(size: int, before: int | None, limit: int | None) -> tuple[int, int]:
    """Where a page of a conversation begins and ends, see `Conversation.page`."""
    end = size if before is None else max(0, min(before, size))
    return 0 if limit is None else max(0, end - limit), end
