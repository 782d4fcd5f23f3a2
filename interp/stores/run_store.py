"""A store of runs: the entries of many runs, each run written by one owner at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Final

from gram import ArgumentError, Source, expect

from ..errors import RunExistsError, RunTakenError, StoreError
from ..messages import Message, Usage
from ..records import RecordedRun, read_run
from .claims import LEASE, Claim, Keeper, is_dead, new_owner
from .conversations import Conversation, Turn, add_turn, gone_on, named_text
from .database import FORMAT, TABLES, Database, Execute, Rows
from .heads import cut, joined
from .pruning import prune
from .run_rows import ENDED, RunFacts, RunRow, RunStatus, expect_name, found, stand

_TEXTS_ARE_USED_FOR: Final = 3600.0  # seconds after which a text is marked as used again


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

    def ready(self) -> Database:
        """The database, with the tables of a store.

        Raises:
            StoreError: it cannot be reached, or holds something else.
        """
        if not self._has_tables:
            self.database.together(self._make_tables)
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
    ) -> None:
        """Make a run with its first entry.

        Args:
            run: its id.
            head: its first entry.
            facts: what a list shows of it.
            shared: parts of the first entry that other runs have, too; they are kept once.
            turn: where the run stands in its conversation, if it is a turn of one.
            status: how it stands.
            entries: the entries that follow, if it was recorded elsewhere.
            usage: the tokens that it has used.

        Raises:
            RunExistsError: there is a run of this id.
            StoreError: the store cannot be written.
        """
        own, texts = cut(head, shared, turn.named if turn else {})
        maker = new_owner()

        def make(execute: Execute) -> Rows:
            self._keep_texts(execute, texts)
            made = execute(
                "INSERT INTO gram_runs (id, status, agent, model, filename, program, parent, "
                "tenant, conversation, messages, priority, owner, created, changed, fence, "
                "leased_until, input_tokens, output_tokens) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                f"{self._clock}, {self._clock}, 0, 0, ?, ?) "
                "ON CONFLICT (id) DO NOTHING RETURNING id",
                run,
                status,
                facts.agent,
                facts.model,
                facts.filename,
                facts.program,
                facts.parent,
                facts.tenant,
                facts.conversation,
                turn.before if turn else None,
                facts.priority,
                maker,
                usage.input_tokens,
                usage.output_tokens,
            )
            for place, entry in enumerate([own, *entries] if made else ()):
                execute(
                    "INSERT INTO gram_entries (run, seq, fence, text) VALUES (?, ?, 0, ?)",
                    run,
                    place,
                    entry,
                )
            return made or execute(  # made before, where its success could not be told
                "SELECT id FROM gram_runs WHERE id = ? AND owner = ?", run, maker
            )

        if not self.ready().together(make):
            raise RunExistsError(f"{self.name}: it has a run {run} already")

    def claim(self, run: str, size: int | None = None) -> Claim:
        """Claim a run, to write to it; the claim is renewed until it is let go.

        Args:
            run: its id.
            size: how many entries it had when it was read; None if it does not matter.

        Raises:
            RunTakenError: somebody else has claimed it, or has gone on with it since it was read.
            StoreError: there is no such run, or the store cannot be written.
        """
        name = new_owner()
        is_left = f"(owner IS NULL OR owner = ? OR leased_until < {self._clock})"
        claimed = self._claimed_in_turn(run, size, name, is_left, name)
        if not claimed:
            found = self._rows("SELECT status, owner FROM gram_runs WHERE id = ?", run)
            if not found:
                raise self._no_run(run)
            status, holder = found[0]
            if status == "cancelled":
                raise self._taken(run)
            if holder is None or is_dead(holder):
                is_left = "(owner IS NULL OR owner IN (?, ?))"
                claimed = self._claimed_in_turn(run, size, name, is_left, name, holder)
        if not claimed:
            raise RunTakenError(
                f"{self.name_of(run)}: another process goes on with it\n"
                f"  hint: it can be taken over {LEASE:.0f} seconds after that one was last heard of"
            )
        claim = self._kept(run, claimed[0][0])
        if size not in (None, claim.size):  # its owner has added to it just before
            self.let_go(claim, "stopped", Usage(None, None))
            raise self._gone_on(run)
        return claim

    def take_over(self, run: str) -> Claim:
        """Claim a run even if somebody else has it, who can write nothing more to it then.

        Raises:
            StoreError: there is no such run, it has ended, or the store cannot be written.
        """
        marks = ", ".join("?" * len(ENDED))
        has_not_ended = f"status NOT IN ({marks})"
        claimed = self._claimed(self.ready().execute, run, new_owner(), has_not_ended, *ENDED)
        if not claimed:
            raise StoreError(f"{self.name_of(run)} is {self.row(run).status}: it has ended")
        return self._kept(run, claimed[0][0])

    def append(self, claim: Claim, *entries: str) -> None:
        """Write entries, all or none.

        Raises:
            RunTakenError: somebody else has claimed the run since.
            StoreError: the store cannot be written.
        """
        if len(entries) == 1:
            is_written = self._is_appended(self.ready().execute, claim, claim.size, entries[0])
        else:
            is_written = self.ready().together(
                lambda execute: all(
                    self._is_appended(execute, claim, claim.size + index, entry)
                    for index, entry in enumerate(entries)
                )
            )
        if not is_written:
            claim.is_lost = True
            raise self._taken(claim.run)
        claim.size += len(entries)

    def _is_appended(self, execute: Execute, claim: Claim, place: int, entry: str) -> bool:
        written = execute(
            "INSERT INTO gram_entries (run, seq, fence, text) "
            "SELECT id, ?, fence, ? FROM gram_runs WHERE id = ? AND fence = ?"
            f"{self.database.row_lock} ON CONFLICT (run, seq) DO NOTHING RETURNING seq",
            place,
            entry,
            claim.run,
            claim.fence,
        ) or execute(  # written before, where its success could not be told
            "SELECT seq FROM gram_entries WHERE run = ? AND seq = ? AND fence = ?",
            claim.run,
            place,
            claim.fence,
        )
        return bool(written)

    def let_go(
        self,
        claim: Claim,
        status: RunStatus,
        usage: Usage,
        reason: str | None = None,
        *,
        context: Sequence[Message] = (),
    ) -> None:
        """Give a claim up, and say how the run stands.

        Args:
            claim: the claim.
            status: how the run stands.
            usage: the tokens that it has used; what is unknown stays as it was.
            reason: what it was stopped by, or None.
            context: the conversation at its end; a turn that is done adds what is new of it.

        Raises:
            RunTakenError: somebody else has claimed the run since.
            StoreError: the store cannot be written.
        """
        self._keeper.let_go(claim)

        def work(execute: Execute) -> Rows:
            left = execute(
                f"UPDATE gram_runs SET owner = NULL, leased_until = 0, changed = {self._clock}, "
                "status = ?, input_tokens = COALESCE(?, input_tokens), "
                "output_tokens = COALESCE(?, output_tokens), reason = ? "
                "WHERE id = ? AND fence = ? RETURNING conversation, messages",
                status,
                usage.input_tokens,
                usage.output_tokens,
                reason,
                claim.run,
                claim.fence,
            )
            if left and status == "done" and left[0][1] is not None:
                conversation, before = left[0]
                add_turn(execute, conversation, claim.run, before, context[before:])
            return left

        if not self.ready().together(work):
            raise self._taken(claim.run)

    def begin_anew(
        self, run: str, head: str, *, shared: Sequence[str] = (), turn: Turn | None = None
    ) -> bool:
        """Replace the first entry of a run that nobody has begun; False if somebody has.

        Args:
            run: its id.
            head: its first entry.
            shared: parts of it that other runs have, too.
            turn: where the run stands in its conversation, if it is a turn of one.

        Raises:
            StoreError: the store cannot be written.
        """
        own, texts = cut(head, shared, turn.named if turn else {})

        def replace(execute: Execute) -> Rows:
            self._keep_texts(execute, texts)
            replaced = execute(
                "UPDATE gram_entries SET text = ? WHERE run = ? AND seq = 0 AND fence = 0 "
                "AND EXISTS (SELECT 1 FROM gram_runs "
                f"WHERE id = ? AND leased_until < {self._clock}) "
                "AND NOT EXISTS (SELECT 1 FROM gram_entries WHERE run = ? AND seq > 0) "
                "RETURNING seq",
                own,
                *[run] * 3,
            )
            if replaced and turn:
                execute("UPDATE gram_runs SET messages = ? WHERE id = ?", turn.before, run)
            return replaced

        return bool(self.ready().together(replace))

    def entries(self, run: str) -> list[str]:
        """The entries of a run, in their order.

        Raises:
            StoreError: there is no such run, or the store cannot be read.
        """
        found = self._rows("SELECT text FROM gram_entries WHERE run = ? ORDER BY seq", run)
        if not found:
            raise self._no_run(run)
        (own,), *others = found
        ((conversation,),) = self._rows("SELECT conversation FROM gram_runs WHERE id = ?", run)
        head = joined(own, lambda name: self._text(conversation, name))
        return [head, *(text for (text,) in others)]

    def conversation(self, name: str) -> Conversation:
        """A conversation, which is empty until its first turn is done."""
        expect(name, str, "name", by="conversation")
        expect_name(name, "conversation")
        return Conversation(self.ready(), name)

    def recorded(self, run: str) -> RecordedRun:
        """What is recorded of a run, which can be looked at and replayed.

        Raises:
            StoreError: there is no such run, or the store cannot be read.
            GramDecodeError: what is kept is not gram.
            ValidationError: what is kept is not the record of a run; the fault has its place.
            ReplayError: an event does not fit the run.
        """
        lines = (f"{each}\n" for each in self.entries(run))
        return read_run(Source("".join(lines), self.name_of(run)))

    def name_of(self, run: str) -> str:
        """How messages name a run."""
        return f"run {run} of {self.name}"

    # --- many runs

    def row(self, run: str) -> RunRow:
        """A run as a list shows it.

        Raises:
            StoreError: there is no such run, or the store cannot be read.
        """
        for row in found(self.ready(), "id = ?", [run], 1):
            return row
        raise self._no_run(run)

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
            status: only runs that stand like one of these.
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
        where, values = ["TRUE"], list[object]()
        for sql, value in (
            ("agent = ?", agent),
            ("tenant = ?", tenant),
            ("conversation = ?", conversation),
            ("created >= ?", since.timestamp() if since else None),
            ("created < ?", before.timestamp() if before else None),
            ("substr(id, 1, ?) = ?", beginning or None),
        ):
            if value is not None:
                where.append(sql)
                values += [len(beginning), value] if sql.startswith("substr") else [value]
        if status:
            condition, given = stand(status, self._clock)
            where, values = [*where, condition], [*values, *given]
        return found(self.ready(), " AND ".join(where), values, limit)

    def prune(
        self, before: datetime, *, status: Sequence[RunStatus] = ENDED, tenant: str | None = None
    ) -> int:
        """Remove runs that have ended, and the texts that only they used; returns how many.

        Args:
            before: only runs that last changed before this time.
            status: how these runs stand; none that somebody has claimed is removed.
            tenant: only runs for this tenant.

        Raises:
            StoreError: the store cannot be written.
        """
        where, values = stand(status, self._clock)
        values.append(before.timestamp())
        if tenant is not None:
            values.append(tenant)
        of_tenant = "" if tenant is None else " AND tenant = ?"
        return prune(self.ready(), f"{where} AND changed < ?{of_tenant}", values)

    # --- inside

    @property
    def _clock(self) -> str:
        return self.database.clock

    def _make_tables(self, execute: Execute) -> None:
        execute(self.database.guard)
        for statement in TABLES:
            execute(statement)
        execute(
            "INSERT INTO gram_store (format) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM gram_store)",
            FORMAT,
        )
        (found,) = execute("SELECT max(format) FROM gram_store")[0]
        if found != FORMAT:
            raise StoreError(
                f"{self.name}: the store has format {found}, and this version knows {FORMAT}\n"
                "  hint: it was written by another version of this package"
            )

    def _rows(self, sql: str, *values: object) -> Rows:
        return self.ready().execute(sql, *values)

    def _claimed_in_turn(
        self, run: str, size: int | None, owner: str, condition: str, *values: object
    ) -> Rows:
        """Claim a run that nobody has gone on with since it was read, where it is its turn.

        It is not if another turn of its conversation is under way, or went before it.
        """
        condition = f"status <> 'cancelled' AND {condition}"

        def work(execute: Execute) -> Rows:
            if size is not None and size != self._size(execute, run):
                raise self._gone_on(run)
            turns = execute(
                "SELECT conversation, messages FROM gram_runs "
                "WHERE id = ? AND messages IS NOT NULL AND status <> 'done'",
                run,
            )
            for conversation, before in turns:
                self._expect_turn(execute, run, conversation, before)
            return self._claimed(execute, run, owner, condition, *values)

        return self.ready().together(work)

    def _expect_turn(self, execute: Execute, run: str, conversation: str, before: int) -> None:
        ((size,),) = execute(
            "INSERT INTO gram_conversations (name, size, run) VALUES (?, 0, '') "
            "ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING size",
            conversation,
        )
        if size != before:
            raise RunTakenError(f"{self.name_of(run)}: {gone_on(conversation)}")
        others = execute(
            "SELECT id FROM gram_runs WHERE conversation = ? AND id <> ? "
            f"AND status = 'running' AND leased_until >= {self._clock}",
            conversation,
            run,
        )
        if others:
            raise RunTakenError(
                f"{self.name_of(run)}: another turn of the conversation {conversation} is under "
                f"way: run {others[0][0]}"
            )

    def _claimed(
        self, execute: Execute, run: str, owner: str, condition: str, *values: object
    ) -> Rows:
        return execute(
            "UPDATE gram_runs SET fence = fence + 1, owner = ?, status = 'running', reason = NULL, "
            f"leased_until = {self._clock} + ?, changed = {self._clock} "
            f"WHERE id = ? AND {condition} RETURNING fence",
            owner,
            LEASE,
            run,
            *values,
        )

    def _kept(self, run: str, fence: int) -> Claim:
        claim = Claim(run, fence, self._size(self._rows, run))
        self._keeper.keep(claim)
        return claim

    def _size(self, execute: Execute, run: str) -> int:
        """How many entries a run has; it is in the store."""
        ((size,),) = execute("SELECT max(seq) + 1 FROM gram_entries WHERE run = ?", run)
        if size is None:
            raise self._no_run(run)
        return int(size)

    def _gone_on(self, run: str) -> RunTakenError:
        return RunTakenError(
            f"{self.name_of(run)}: another process has gone on with it since it was read"
        )

    def _renew(self, claim: Claim) -> None:
        renewed = self._rows(
            f"UPDATE gram_runs SET leased_until = {self._clock} + ? "
            "WHERE id = ? AND fence = ? RETURNING id",
            LEASE,
            claim.run,
            claim.fence,
        )
        if not renewed:
            claim.is_lost = True
            self._keeper.let_go(claim)

    def _keep_texts(self, execute: Execute, texts: Mapping[str, str]) -> None:
        for sha256, text in sorted(texts.items()):  # in one order, so that nobody waits in a circle
            execute(
                f"INSERT INTO gram_texts (sha256, text, used) VALUES (?, ?, {self._clock}) "
                "ON CONFLICT (sha256) DO UPDATE SET used = excluded.used "
                "WHERE gram_texts.used < excluded.used - ?",
                sha256,
                text,
                _TEXTS_ARE_USED_FOR,
            )

    def _text(self, conversation: str | None, sha256: str) -> str:
        said = named_text(self.ready().execute, conversation, sha256)
        if said is not None:
            return said
        found = self._rows("SELECT text FROM gram_texts WHERE sha256 = ?", sha256)
        if not found:
            raise StoreError(f"{self.name}: a text that a run has is missing: {sha256}")
        return str(found[0][0])

    def _no_run(self, run: str) -> StoreError:
        return StoreError(
            f"{self.name}: there is no run {run}\n"
            "  hint: `gram runs list` shows those that there are"
        )

    def _taken(self, run: str) -> RunTakenError:
        found = self._rows("SELECT status FROM gram_runs WHERE id = ?", run)
        if not found:
            return RunTakenError(f"{self.name_of(run)} was removed")
        if found[0][0] == "cancelled":
            return RunTakenError(f"{self.name_of(run)} was cancelled")
        return RunTakenError(f"{self.name_of(run)} was taken over by another process")
