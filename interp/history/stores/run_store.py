"""A store of runs: the entries of many runs, each run written by one owner at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from types import TracebackType

from gram import ArgumentError, Source, expect

from ...machine import Message, Usage
from ..records import RecordedRun, read_run
from . import leases, writing
from .conversations import Conversation, Turn, conversations_of
from .database import Database
from .leases import Lease
from .reading import entries_of
from .removing import prune, remove_unused_texts
from .renewing import Keeper
from .run_rows import (
    ENDED,
    RunFacts,
    RunRow,
    RunStatus,
    expect_name,
    expect_status,
    has_status,
    name_of,
    row_of,
    rows_of,
)
from .tables import make_store


class RunStore:
    """A store of runs in a database; `open_store` makes one.

    It can be used by several threads, and by any number of processes at once. Used with ``with``,
    it is closed at the end.

    Args:
        database: the database.

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
        self._keeper = Keeper(self._renew)
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
        shared: Sequence[str] = (),
        turn: Turn | None = None,
        status: RunStatus = "stopped",
        entries: Sequence[str] = (),
        usage: Usage = Usage(None, None),
        reason: str | None = None,
    ) -> None:
        """Make a run with its first entry.

        Args:
            run: its id.
            head: its first entry.
            facts: what a list shows of it.
            shared: parts of the first entry that other runs have, too; they are kept once.
            turn: its place in its conversation, if it is a turn of one.
            status: its status.
            entries: the entries that follow, if it was recorded elsewhere.
            usage: the tokens that it has used.
            reason: what it was stopped by, or None.

        Raises:
            RunExistsError: there is a run of this id.
            StoreError: the store cannot be written.
        """
        writing.create(self.ready(), run, head, facts, shared, turn, status, entries, usage, reason)

    def claim(self, run: str, size: int | None = None) -> Lease:
        """Claim a run, to write to it; the claim is renewed until it is let go.

        Args:
            run: its id.
            size: how many entries it had when it was read; None if it does not matter.

        Raises:
            RunTakenError: somebody else has claimed it, or has gone on with it since it was read.
            StoreError: there is no such run, or the store cannot be written.
        """
        return self._kept(leases.claim(self.ready(), run, size))

    def take_over(self, run: str) -> Lease:
        """Claim a run even if somebody else has it, who can write nothing more to it then.

        Raises:
            StoreError: there is no such run, it has ended, or the store cannot be written.
        """
        return self._kept(leases.take_over(self.ready(), run))

    def append(self, claim: Lease, *entries: str, may_be_lost: bool = False) -> None:
        """Write entries, all or none; one thread at a time for each claim.

        Args:
            claim: the claim of the run.
            entries: the entries.
            may_be_lost: whether they may be lost when the server of the database crashes, so that
                nothing waits for its disk.

        Raises:
            RunTakenError: somebody else has claimed the run since.
            StoreError: the store cannot be written.
        """
        writing.append(self.ready(), claim, entries, may_be_lost)

    def let_go(
        self,
        claim: Lease,
        status: RunStatus,
        usage: Usage,
        reason: str | None = None,
        *,
        context: Sequence[Message] = (),
    ) -> None:
        """Give a claim up, and say what the status of the run is.

        Args:
            claim: the claim.
            status: the status of the run.
            usage: the tokens that it has used; what is unknown stays as it was.
            reason: what it was stopped by, or None.
            context: the conversation at its end; a turn that is done adds what is new of it.

        Raises:
            RunTakenError: somebody else has claimed the run since.
            StoreError: the store cannot be written.
        """
        self._keeper.let_go(claim)
        leases.let_go(self.ready(), claim, status, usage, reason, context)

    def begin_anew(
        self, run: str, head: str, *, shared: Sequence[str] = (), turn: Turn | None = None
    ) -> bool:
        """Replace the first entry of a run that nobody has begun; False if somebody has.

        Args:
            run: its id.
            head: its first entry.
            shared: parts of it that other runs have, too.
            turn: its place in its conversation, if it is a turn of one.

        Raises:
            StoreError: the store cannot be written.
        """
        return writing.begin_anew(self.ready(), run, head, shared, turn)

    def entries(self, run: str) -> list[str]:
        """The entries of a run, in their order.

        Raises:
            StoreError: there is no such run, or the store cannot be read.
        """
        return entries_of(self.ready(), run)

    def conversation(self, name: str) -> Conversation:
        """A conversation, which is empty until its first turn is done."""
        expect(name, str, "name", by="conversation")
        expect_name(name, "conversation")
        return Conversation(self.ready(), name)

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
        return conversations_of(self.ready(), before, beginning, limit)

    def recorded(self, run: str) -> RecordedRun:
        """What is recorded of a run, which can be looked at and replayed.

        Raises:
            StoreError: there is no such run, or the store cannot be read.
            GramDecodeError: what is kept is not gram.
            ValidationError: what is kept is not the record of a run; the fault has its place.
            ReplayError: an event does not fit the run.
        """
        found = self.source_of(run)
        return read_run(found.text, found.filename)

    def source_of(self, run: str) -> Source:
        """The text of a run, an entry a line.

        Raises:
            StoreError: there is no such run, or the store cannot be read.
        """
        lines = (f"{each}\n" for each in self.entries(run))
        return Source("".join(lines), self.name_of(run))

    def name_of(self, run: str) -> str:
        """How messages name a run."""
        return name_of(self.database, run)

    # --- many runs

    def row(self, run: str) -> RunRow:
        """A run as a list shows it.

        Raises:
            StoreError: there is no such run, or the store cannot be read.
        """
        return row_of(self.ready(), run)

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
        expect(since, (datetime, type(None)), "since", by="rows")
        expect(before, (datetime, type(None)), "before", by="rows")
        expect(beginning, str, "beginning", by="rows")
        expect(limit, (int, type(None)), "limit", by="rows")
        columns = {"agent": agent, "tenant": tenant, "conversation": conversation}
        for name, text in columns.items():
            expect(text, (str, type(None)), name, by="rows")
        return rows_of(self.ready(), status, columns, since, before, beginning, limit)

    def prune(
        self, before: datetime, *, status: Sequence[RunStatus] = ENDED, tenant: str | None = None
    ) -> int:
        """Remove runs that have ended, and the texts that only they used; returns how many.

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
        where, values = has_status(status, self.database.clock)
        values.append(before.timestamp())
        if tenant is not None:
            values.append(tenant)
        of_tenant = "" if tenant is None else " AND tenant = ?"
        return prune(self.ready(), f"{where} AND changed < ?{of_tenant}", values)

    def prune_conversations(self, before: datetime) -> int:
        """Remove conversations with the runs that are their turns; returns how many.

        Args:
            before: only those that last changed before this time. One with a turn that is queued or
                under way stays.

        Raises:
            StoreError: the store cannot be written.
        """
        expect(before, datetime, "before", by="prune_conversations")
        removed = sum(each.remove_if_old(before) for each in self.conversations(before=before))
        remove_unused_texts(self.database)
        return removed

    def _kept(self, claim: Lease) -> Lease:
        """A claim that is renewed from now on."""
        self._keeper.keep(claim)
        return claim

    def _renew(self, held: Sequence[Lease]) -> None:
        leases.renew(self.ready(), held)
        for claim in held:
            if claim.is_lost:
                self._keeper.let_go(claim)
