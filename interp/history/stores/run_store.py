"""A store of runs: the entries of many runs, each run written by one owner at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from shlex import quote
from typing import Any, get_args

from attrs import asdict, astuple, field, frozen

from gram.errors import expect, expect_all
from gram.words import counted, did_you_mean

from ...errors import RunExistsError, RunTakenError, StoreError, ValidationError
from ...json_text import Json
from ...machine import Usage, empty_context
from ...shown import shortened
from ..records import RecordedRun, head_of, read_run
from .conversations import Conversation, expect_name
from .database import SQL, Database, Rows, kept_text, make_tables, tables_of
from .leases import (
    ENDED,
    Keeper,
    Lease,
    RunStatus,
    expect_turn,
    is_dead,
    new_owner,
    process_of,
)


def expect_status(status: Sequence[RunStatus], *, by: str) -> None:
    """Refuse what is no sequence of texts that are statuses."""
    for each in expect_all(status, str, "status", by=by):
        if each not in get_args(RunStatus):
            hint = did_you_mean(each, get_args(RunStatus))
            raise ValidationError(
                f"{by}: there is no status {each!r}; "
                f"{hint or 'there are ' + ', '.join(get_args(RunStatus))}"
            )


def _is_name(_: object, attribute: Any, value: object) -> None:
    expect_name(value, attribute.name)


@frozen
class RunFacts:
    """What is known of a run when it is made.

    Attributes:
        agent: the name of the agent or workflow.
        model: the models that its agents name first, or the one that all ask.
        filename: the name of the program's file, or ``""``.
        program: the hash of the text of the program.
        parent: the id of the run that it was forked of, or None.
        tenant: whom it is done for, or None.
        conversation: the conversation that it is a turn of, or None.
        priority: runs with a higher one are taken first.
        trace: the trace that it was submitted in, as ``traceparent`` of W3C, or None.
    """

    agent: str
    model: str = ""
    filename: str = ""
    program: str = ""
    parent: str | None = None
    tenant: str | None = field(default=None, validator=_is_name)
    conversation: str | None = field(default=None, validator=_is_name)
    priority: int = 0
    trace: str | None = None


@frozen(repr=False)
class RunRow:
    """A run as a list shows it.

    Attributes:
        status: its status, see `RunStatus`.
        facts: what was known when it was made.
        created: when it was made.
        changed: when it was last claimed or let go.
        usage: the tokens that it had used when it was last let go.
        reason: what it was stopped by, or None.
        entries: how many entries it has.
        left_by: the owner that has died with it, if one has and nobody has gone on since.
    """

    id: str
    status: RunStatus
    facts: RunFacts
    created: datetime
    changed: datetime
    usage: Usage = field(factory=lambda: Usage(0, 0))
    reason: str | None = None
    entries: int = 0
    left_by: str | None = None

    def to_json(self) -> dict[str, Json]:
        """The run as a JSON object, or a row of a table."""
        names = {"filename": "file", "program": "program_sha256"}
        facts = asdict(self.facts)
        del facts["trace"]
        return {
            "id": self.id,
            "status": self.status,
            **{names.get(name, name): value for name, value in facts.items()},
            "created": self.created.isoformat(),
            "changed": self.changed.isoformat(),
            "usage": {**self.usage.to_json()},
            "reason": self.reason,
            "entry_count": self.entries,
        }

    def __repr__(self) -> str:
        said = [f"{self.status}, {self.facts.agent}, {self.created:%Y-%m-%d %H:%M:%S %Z}"]
        if self.usage.total_tokens is not None:
            said.append(counted(self.usage.total_tokens, "token"))
        if self.reason:
            said.append(shortened(self.reason.splitlines()[0], 100))
        return f"<RunRow {self.id}: {', '.join(said)}>"


def _row(row: tuple[Any, ...]) -> RunRow:
    created, run, status, *facts = row[:12]
    changed, input_tokens, output_tokens, reason, entries, owner = row[12:]
    left_by = None
    if status == "left" or (status == "running" and owner is not None and is_dead(owner)):
        left_by, status = owner, "stopped"
        reason = f"left by a dead process: {process_of(owner)}"
    return RunRow(
        id=run,
        status=status,
        facts=RunFacts(*facts),
        created=datetime.fromtimestamp(created, UTC),
        changed=datetime.fromtimestamp(changed, UTC),
        usage=Usage(input_tokens, output_tokens),
        reason=reason,
        entries=entries,
        left_by=left_by,
    )


def _has_status(status: Sequence[RunStatus]) -> str:
    """SQL for the runs that have one of some statuses; one that nobody renews has stopped."""
    wanted = ", ".join(f"'{each}'" for each in status) or "''"
    now = "CASE WHEN status = 'running' AND leased_until < {clock} THEN 'stopped' ELSE status END"
    return f"(status IN ('running', {wanted}) AND {now} IN ({wanted}))"


class RunStore:
    """A store of runs in a database; `open_store` makes one.

    It can be used by several threads, and by any number of processes at once. Used with ``with``,
    it is closed at the end. Whatever it does is a `StoreError` where it has no such run, and where
    the database cannot be reached, read or written, or holds something else.

    Attributes:
        name: how messages name it.
        rests: whether it is closed whenever nothing is done in it, since one run alone uses it.
    """

    def __init__(self, database: Database) -> None:
        expect(database, Database, "database", by="RunStore")
        self.database = database
        self.rests = False
        self._has_tables = False
        self._keeper = Keeper()
        self.name = database.name

    def __repr__(self) -> str:
        return f"RunStore({self.name!r})"

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; what is done next opens a new one."""
        self.database.close()
        self._has_tables = False  # the file may be another one then

    def rest(self) -> None:
        """Close the connection if nobody else needs it."""
        if self.rests:
            self.close()

    def ready(self) -> Database:
        """The database, with the tables of a store."""
        if not self._has_tables:
            statements = partial(tables_of, __file__)
            make_tables(self.database, "the store", "gram_store", statements)
            self._has_tables = True
        return self.database

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
        """Make a run with its first entry, and with others if it was recorded elsewhere.

        Args:
            head: its first entry; that of a turn has no messages of the conversation.
            before: how many messages its conversation had when it began, if it is a turn.
            path: the path of the program, which that conversation is with.

        Raises:
            RunExistsError: there is a run of this id.
            RunTakenError: it is a turn, and another one is under way, or went before it.
        """
        database = self.ready()
        maker = new_owner()
        messages = None if facts.conversation is None else before
        ended = (usage.input_tokens, usage.output_tokens, reason and kept_text(reason))
        columns = (run, status, *astuple(facts), messages, *ended, maker)

        def make() -> Rows:
            if facts.conversation is not None:
                Conversation(self, facts.conversation).begin_turn(before, path)
                if status == "stopped" and not entries:  # it is gone on with at once
                    expect_turn(self, run, facts.conversation, before)
            made = database.execute(SQL["create_run"], *columns)
            sql = "INSERT INTO gram_entries (run, seq, fence, text) VALUES (?, ?, 0, ?)"
            for place, entry in enumerate([head, *entries] if made else ()):
                database.execute(sql, run, place, entry)
            # made before, where its success could not be told
            sql = "SELECT id FROM gram_runs WHERE id = ? AND owner = ?"
            return made or database.execute(sql, run, maker)

        if not database.together(make):
            raise RunExistsError(f"{database.name}: it has a run {run} already")

    def claim(
        self, run: str, size: int | None = None, *, fence: int = 0, had_ended: bool = False
    ) -> Lease:
        """Claim a run, to write to it; the lease is renewed until it is let go, or dropped.

        Args:
            size: how many entries it had when it was read; None if it does not matter.
            fence: that of the last lease of whoever claims it: entries with it are their own.
            had_ended: whether it had ended when it was read.

        Raises:
            RunTakenError: somebody else has claimed it, or has gone on with it since it was read;
                or it is a turn, and another one of its conversation goes first.
        """
        lease = Lease(self, run)
        self.ready().together(lambda: lease.claim(size, fence, had_ended))
        return self._keeper.keep(lease)

    def take_over(self, run: str) -> Lease:
        """Claim a run even if somebody else has it, who can write nothing more to it then.

        Raises:
            StoreError: there is no such run, or it has ended.
        """
        self.ready()
        lease = Lease(self, run)
        lease.take_over()
        return self._keeper.keep(lease)

    def entries(self, run: str) -> list[str]:
        """The entries of a run, in their order; the first of a turn has no messages before it."""
        sql = "SELECT text, seq FROM gram_entries WHERE run = ? ORDER BY seq"
        found = self.ready().execute(sql, run)
        if not found:
            raise self.no_run(run)
        for place, (_, seq) in enumerate(found):
            if seq != place:
                raise StoreError(
                    f"{self.name_of(run)}: its entry {place} is missing: was it removed?"
                )
        return [text for text, _ in found]

    def whole_entries(self, run: str) -> list[str]:
        """The entries of a run; the first one has the messages before it."""
        head, *others = self.entries(run)
        if self._turns(run):
            kept = self.recorded(run)
            head = head_of(kept.first, kept.library, kept.started)
        return [head, *others]

    def recorded(self, run: str) -> RecordedRun:
        """What is recorded of a run, which can be looked at and replayed.

        Raises:
            GramDecodeError, ValidationError, ReplayError: what is recorded is no run.
        """
        before = empty_context
        for conversation, size in self._turns(run):
            before = Conversation(self, conversation).between(0, size)
            if len(before) < size:
                raise StoreError(
                    f"the conversation {conversation} was removed, which the run is a turn of"
                )
        lines = (f"{each}\n" for each in self.entries(run))
        return read_run("".join(lines), self.name_of(run), before)

    def _turns(self, run: str) -> Rows:
        """The conversation of a run and how many messages that had before it, if it had any."""
        sql = "SELECT conversation, messages FROM gram_runs WHERE id = ? AND messages > 0"
        return self.ready().execute(sql, run)

    def name_of(self, run: str) -> str:
        """How messages name a run."""
        return f"run {run} of {self.name}"

    def no_run(self, run: str) -> StoreError:
        """The message about a run that is not in the store."""
        return StoreError(
            f"{self.name}: there is no run {run}\n"
            f"  hint: `gram runs list --record {quote(self.name)}` shows those that there are"
        )

    def row(self, run: str) -> RunRow:
        """A run as a list shows it."""
        for row in self._found({"id = ?": run}, (), 1):
            return row
        raise self.no_run(run)

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
        """
        expect_status(status, by="rows")
        for name, time in (("since", since), ("before", before)):
            expect(time, (datetime, type(None)), name, by="rows")
        expect(beginning, str, "beginning", by="rows")
        expect(limit, (int, type(None)), "limit", by="rows")
        columns = {"agent": agent, "tenant": tenant, "conversation": conversation}
        for name, text in columns.items():
            expect(text, (str, type(None)), name, by="rows")
        conditions: dict[str, object] = {f"{name} = ?": text for name, text in columns.items()}
        conditions["created >= ?"] = since and since.timestamp()
        conditions["created < ?"] = before and before.timestamp()
        conditions[f"substr(id, 1, {len(beginning)}) = ?"] = beginning or None
        return self._found(conditions, status, limit)

    def _found(
        self, conditions: Mapping[str, object], status: Sequence[RunStatus], limit: int | None
    ) -> Iterator[RunRow]:
        """The runs for which all conditions hold that have a value, the newest first."""
        database = self.ready()
        given = {each: value for each, value in conditions.items() if value is not None}
        wanted = [_has_status(status)] if status else []
        select = f"{SQL['runs']} WHERE {' AND '.join(['TRUE', *given, *wanted])}"
        return map(_row, database.pages(select, [*given.values()], ("created", "id"), limit))

    def prune(
        self, before: datetime, *, status: Sequence[RunStatus] = ENDED, tenant: str | None = None
    ) -> int:
        """Remove runs that have ended; returns how many.

        Args:
            before: only runs that last changed before this time.
            status: the statuses of these runs; none that somebody has claimed is removed.
            tenant: only runs for this tenant.
        """
        expect(before, datetime, "before", by="prune")
        expect_status(status, by="prune")
        expect(tenant, (str, type(None)), "tenant", by="prune")
        database = self.ready()
        is_free = "(owner IS NULL OR leased_until < {clock})"
        where = f"{_has_status(status)} AND changed < ? AND {is_free}"
        values: list[object] = [before.timestamp()]
        if tenant is not None:
            where, values = f"{where} AND tenant = ?", [*values, tenant]
        sql = (
            f"DELETE FROM gram_runs WHERE id IN (SELECT id FROM gram_runs WHERE {where} "
            f"LIMIT 500) AND {is_free} RETURNING id"
        )  # a part in one go, so that others do not wait for long

        def remove() -> int:
            runs = [run for (run,) in database.execute(sql, *values)]
            marks = ", ".join("?" * len(runs))
            database.execute(f"DELETE FROM gram_entries WHERE run IN ({marks or 'NULL'})", *runs)
            return len(runs)

        count = 0
        while removed := database.together(remove):
            count += removed
        return count

    def conversation(self, name: str) -> Conversation:
        """A conversation, which is empty until its first turn is done."""
        expect(name, str, "name", by="conversation")
        return Conversation(self, name)

    def last_conversation(self, program: str) -> Conversation | None:
        """The conversation that was last gone on with of a program, whose path is resolved."""
        sql = "SELECT name FROM gram_conversations WHERE program = ? ORDER BY changed DESC LIMIT 1"
        name = self.ready().value(sql, program)
        return None if name is None else Conversation(self, name)

    def conversations(
        self, *, before: datetime | None = None, limit: int | None = None
    ) -> Iterator[Conversation]:
        """The conversations of the store that have messages, those that changed last first.

        Args:
            before: only those that last changed before this time.
            limit: how many at most.
        """
        expect(before, (datetime, type(None)), "before", by="conversations")
        expect(limit, (int, type(None)), "limit", by="conversations")
        values = [before and before.timestamp()]
        found = self.ready().pages(SQL["conversations"], values, ("changed", "name"), limit)
        return (Conversation(self, name, datetime.fromtimestamp(at, UTC)) for at, name in found)

    def prune_conversations(self, before: datetime) -> int:
        """Remove conversations with the runs that are their turns; returns how many.

        Args:
            before: only those that last changed before this time, and have no turn under way.
        """
        expect(before, datetime, "before", by="prune_conversations")
        removed = 0
        for each in self.conversations(before=before):
            with suppress(RunTakenError):
                removed += each.remove(before)
        self.database.execute(SQL["forget_empty_conversations"], before.timestamp())
        return removed
