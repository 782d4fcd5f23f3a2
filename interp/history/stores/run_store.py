"""A store of runs: the entries of many runs, each run written by one owner at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from types import TracebackType
from typing import Final

from attrs import asdict

from gram import ArgumentError
from gram.errors import expect

from ...errors import RunExistsError, RunTakenError
from ...machine import Usage
from ..records import RecordedRun
from .conversations import Conversation, begin_turn, found_conversations
from .database import Database, Rows, make_store
from .leases import Keeper, Lease
from .run_rows import (
    ENDED,
    RunFacts,
    RunRow,
    RunStatus,
    entries_of,
    expect_name,
    expect_status,
    found_rows,
    has_status,
    name_of,
    no_run,
    recorded_run,
    this_process,
)

_MANY: Final = 500
"""How many runs are removed in one go, so that others do not wait for long."""


class RunStore:
    """A store of runs in a database; `open_store` makes one.

    It can be used by several threads, and by any number of processes at once. Used with ``with``,
    it is closed at the end.

    Attributes:
        name: how messages name it.
        database: the database.
    """

    def __init__(self, database: Database) -> None:
        if not hasattr(database, "together"):
            found = type(database).__name__
            raise ArgumentError(f"RunStore: database must be one, got {found}; see open_store")
        self.database = database
        self._has_tables = False
        self._keeper = Keeper(self.ready)
        self.name = database.name

    def __repr__(self) -> str:
        return f"RunStore({self.name!r})"

    def __enter__(self) -> RunStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; what is done next opens a new one."""
        self.database.close()
        self._has_tables = False  # the file may be another one then

    def ready(self) -> Database:
        """The database, with the tables of a store.

        Raises:
            StoreError: it cannot be reached, or holds something else.
        """
        if not self._has_tables:
            make_store(self.database)
            self._has_tables = True
        return self.database

    # --- one run

    def create(
        self,
        run: str,
        head: str,
        facts: RunFacts,
        *,
        before: int = 0,
        path: str = "",
        status: RunStatus = "stopped",
        entries: Sequence[str] = (),
        usage: Usage = Usage(None, None),
        reason: str | None = None,
    ) -> None:
        """Make a run with its first entry.

        Args:
            run: its id.
            head: its first entry; that of a turn has no messages of the conversation.
            facts: what a list shows of it.
            before: how many messages its conversation had when it began, if it is a turn.
            path: the path of the program, which that conversation is with.
            status: its status.
            entries: the entries that follow, if it was recorded elsewhere.
            usage: the tokens that it has used.
            reason: what it was stopped by, or None.

        Raises:
            RunExistsError: there is a run of this id.
            StoreError: the store cannot be written.
        """
        database = self.ready()
        maker = f"{this_process()}/{os.urandom(4).hex()}"
        columns = asdict(facts) | {
            "id": run,
            "status": status,
            "messages": None if facts.conversation is None else before,
            "owner": maker,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "reason": reason,
        }

        def make() -> Rows:
            if facts.conversation is not None:
                begin_turn(database, facts.conversation, before, path)
            made = database.execute(
                f"INSERT INTO gram_runs ({', '.join(columns)}, created, changed, fence, "
                f"leased_until) VALUES ({', '.join('?' * len(columns))}, {database.clock}, "
                f"{database.clock}, 0, 0) ON CONFLICT (id) DO NOTHING RETURNING id",
                *columns.values(),
            )
            for place, entry in enumerate([head, *entries] if made else ()):
                database.execute(
                    "INSERT INTO gram_entries (run, seq, fence, text) VALUES (?, ?, 0, ?)",
                    run,
                    place,
                    entry,
                )
            return made or database.execute(  # made before, where its success could not be told
                "SELECT id FROM gram_runs WHERE id = ? AND owner = ?", run, maker
            )

        if not database.together(make):
            raise RunExistsError(f"{database.name}: it has a run {run} already")

    def claim(
        self, run: str, size: int | None = None, *, fence: int = 0, had_ended: bool = False
    ) -> Lease:
        """Claim a run, to write to it; the lease is renewed until it is let go, or dropped.

        Args:
            run: its id.
            size: how many entries it had when it was read; None if it does not matter.
            fence: that of the last lease of whoever claims it: entries with it are their own.
            had_ended: whether it had ended when it was read.

        Raises:
            RunTakenError: somebody else has claimed it, or has gone on with it since it was read;
                or it is a turn, and another one of its conversation goes first.
            StoreError: there is no such run, or the store cannot be written.
        """
        lease = Lease(self.ready(), run)
        lease.database.together(lambda: lease.claim(size, fence, had_ended))
        return self._keeper.keep(lease)

    def take_over(self, run: str) -> Lease:
        """Claim a run even if somebody else has it, who can write nothing more to it then.

        Raises:
            StoreError: there is no such run, it has ended, or the store cannot be written.
        """
        lease = Lease(self.ready(), run)
        lease.take_over()
        return self._keeper.keep(lease)

    def entries(self, run: str) -> list[str]:
        """The entries of a run, in their order; the first of a turn has no messages before it.

        Raises:
            StoreError: there is no such run, or the store cannot be read.
        """
        return entries_of(self.ready(), run)

    def recorded(self, run: str) -> RecordedRun:
        """What is recorded of a run, which can be looked at and replayed.

        Raises:
            StoreError: there is no such run, or the store cannot be read.
            GramDecodeError: what is kept is not gram.
            ValidationError: what is kept is not the record of a run; the fault has its place.
            ReplayError: an event does not fit the run.
        """
        return recorded_run(self.ready(), run)

    def name_of(self, run: str) -> str:
        """How messages name a run."""
        return name_of(self.database, run)

    # --- many runs

    def row(self, run: str) -> RunRow:
        """A run as a list shows it.

        Raises:
            StoreError: there is no such run, or the store cannot be read.
        """
        for row in found_rows(self.ready(), "id = ?", [run], 1):
            return row
        raise no_run(self.database, run)

    def rows(
        self,
        *,
        status: Sequence[RunStatus] = (),
        agent: str | None = None,
        tenant: str | None = None,
        conversation: str | None = None,
        since: datetime | None = None,
        before: datetime | None = None,
        beginning: str = "",
        limit: int | None = None,
    ) -> Iterator[RunRow]:
        """The runs of the store, the newest first, read a page at a time.

        Args:
            status: only runs that have one of these statuses.
            agent: only runs of this agent.
            tenant: only runs for this tenant.
            conversation: only turns of this conversation.
            since: only runs made at this time or later.
            before: only runs made before this time.
            beginning: only runs whose id begins with this.
            limit: how many at most.

        Raises:
            StoreError: the store cannot be read.
        """
        expect_status(status, by="rows")
        for name, time in (("since", since), ("before", before)):
            expect(time, (datetime, type(None)), name, by="rows")
        expect(beginning, str, "beginning", by="rows")
        expect(limit, (int, type(None)), "limit", by="rows")
        where, values = ["TRUE"], list[object]()
        columns = {"agent": agent, "tenant": tenant, "conversation": conversation}
        for name, text in columns.items():
            expect(text, (str, type(None)), name, by="rows")
        for condition, value in (
            *((f"{column} = ?", text) for column, text in columns.items()),
            ("created >= ?", since and since.timestamp()),
            ("created < ?", before and before.timestamp()),
        ):
            if value is not None:
                where.append(condition)
                values.append(value)
        if beginning:
            where.append("substr(id, 1, ?) = ?")
            values += [len(beginning), beginning]
        if status:
            condition, given = has_status(status, self.database.clock)
            where.append(condition)
            values += given
        return found_rows(self.ready(), " AND ".join(where), values, limit)

    def prune(
        self, before: datetime, *, status: Sequence[RunStatus] = ENDED, tenant: str | None = None
    ) -> int:
        """Remove runs that have ended; returns how many.

        Args:
            before: only runs that last changed before this time.
            status: the statuses of these runs; none that somebody has claimed is removed.
            tenant: only runs for this tenant.

        Raises:
            StoreError: the store cannot be written.
        """
        expect(before, datetime, "before", by="prune")
        expect_status(status, by="prune")
        expect(tenant, (str, type(None)), "tenant", by="prune")
        database = self.ready()
        is_free = f"(owner IS NULL OR leased_until < {database.clock})"
        where, values = has_status(status, database.clock)
        values.append(before.timestamp())
        if tenant is not None:
            values.append(tenant)

        def remove() -> int:
            removed = database.execute(
                f"DELETE FROM gram_runs WHERE id IN (SELECT id FROM gram_runs WHERE {where} "
                f"AND changed < ?{'' if tenant is None else ' AND tenant = ?'} AND {is_free} "
                f"LIMIT {_MANY}) AND {is_free} RETURNING id",
                *values,
            )
            if runs := [run for (run,) in removed]:
                marks = ", ".join("?" * len(runs))
                database.execute(f"DELETE FROM gram_entries WHERE run IN ({marks})", *runs)
            return len(removed)

        count = 0
        while removed := database.together(remove):
            count += removed
        return count

    # --- conversations

    def conversation(self, name: str) -> Conversation:
        """A conversation, which is empty until its first turn is done."""
        expect(name, str, "name", by="conversation")
        expect_name(name, "conversation")
        return Conversation(self.ready(), name)

    def last_conversation(self, program: str) -> Conversation | None:
        """The conversation with a program that was gone on with last.

        Args:
            program: the path of the program, resolved.
        """
        found = self.ready().execute(
            "SELECT name FROM gram_conversations WHERE program = ? ORDER BY changed DESC LIMIT 1",
            program,
        )
        return Conversation(self.database, found[0][0]) if found else None

    def conversations(
        self, *, before: datetime | None = None, beginning: str = "", limit: int | None = None
    ) -> Iterator[Conversation]:
        """The conversations of the store that have messages, those that changed last first.

        Args:
            before: only those that last changed before this time.
            beginning: only those whose name begins with this.
            limit: how many at most.

        Raises:
            StoreError: the store cannot be read.
        """
        expect(before, (datetime, type(None)), "before", by="conversations")
        expect(beginning, str, "beginning", by="conversations")
        expect(limit, (int, type(None)), "limit", by="conversations")
        return found_conversations(self.ready(), before, beginning, limit)

    def prune_conversations(self, before: datetime) -> int:
        """Remove conversations with the runs that are their turns; returns how many.

        Args:
            before: only those that last changed before this time. One with a turn that is queued or
                under way stays.

        Raises:
            StoreError: the store cannot be written.
        """
        expect(before, datetime, "before", by="prune_conversations")
        removed = 0
        for each in self.conversations(before=before):
            with suppress(RunTakenError):
                removed += each.remove(before)
        self.database.execute(
            "DELETE FROM gram_conversations WHERE size = 0 AND changed < ? AND NOT EXISTS "
            "(SELECT 1 FROM gram_runs WHERE conversation = name)",
            before.timestamp(),
        )
        return removed
