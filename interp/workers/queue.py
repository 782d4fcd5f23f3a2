"""The queue of runs: Procrastinate's jobs, in the same Postgres as the store.

A job only says "go on with run X". It may be delivered twice: the store lets one worker write to a
run at a time, and what is recorded there is not done again. A run that was submitted has the name
of its queue in its row, and a job, until it has ended. Whoever takes the job and leaves the run
before its end first puts in the next job; the job of a worker that has died is put in again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, cast

from attrs import define, field

from gram.errors import expect
from gram.extras import install

from ..errors import ConfigurationError
from ..history import stores

if TYPE_CHECKING:
    import psycopg


def make_worker_tables(database: stores.PostgresDatabase) -> None:
    """Make the tables of workers, and those of Procrastinate, in a store that lacks them."""

    def statements() -> Iterator[str]:
        yield from stores.tables_of(__file__)
        if database.execute("SELECT to_regclass('procrastinate_jobs')::text") == [(None,)]:
            from procrastinate.schema import SchemaManager

            yield SchemaManager.get_schema()

    stores.make_tables(database, "the queue of its workers", "gram_workers_format", statements)


LOOK: Final = 2.0  # seconds between two signs of life of a worker, and two looks for all
SEEN: Final = 10.0  # seconds since a worker was heard of, after which it counts as dead
SILENT: Final = 6.0
"""Seconds since a worker was last heard of, after which its jobs are put in again.

That is sooner than it counts as dead, since a run that is claimed is only looked at again.
"""
LONGEST_REQUEST: Final = 3600.0  # seconds after which a request counts as under way no more
LONGEST_WAIT: Final = 3600.0  # seconds after which a run is looked at again in any case
_SHORTEST_PAUSE: Final = 5.0
_LONGEST_PAUSE: Final = 300.0
SOON: Final = 1.0  # seconds until a run is taken again that waits for what nobody tells workers of

GO_ON: Final = "gram.go_on"  # the task that goes on with a run
LOOK_NOW: Final = '{"type": "job_inserted", "job_id": 0}'  # as Procrastinate says it

IS_OVER: Final = (*stores.ENDED, "limited")
"""The statuses of runs that workers do nothing more with."""

MOST_PRIORITY: Final = 1_000_000
"""The highest priority of a run; the lowest is as far below 0."""
_BEGUN_FIRST: Final = 2 * MOST_PRIORITY + 1
"""What a run that has begun is ahead of all that have not: else they would keep it waiting."""

SQL: Final = stores.statements_of(__file__, seen=SEEN, longest=LONGEST_REQUEST)


def pause_after(failures: int) -> float:
    """Seconds until what has failed is tried again; each time twice as long."""
    return min(_SHORTEST_PAUSE * 2.0 ** min(failures, 10), _LONGEST_PAUSE)


def expect_procrastinate() -> None:
    """Refuse to go on without what workers need."""
    if find_spec("procrastinate") is None:
        hint = install("workers")
        raise ConfigurationError(f"workers and schedules need Procrastinate\n  hint: {hint}")


@define
class LaterError(Exception):
    """A run is to go on later.

    Attributes:
        reason: why.
        seconds: how much later, an hour at most.
        level: how it is logged.
        is_elsewhere: whether neither it nor others of its queue can be driven here.
        held: what is left alone meanwhile, as limits name it: a model that did not answer.
        may_be_of_run: whether that answered until now, so that the run itself may be why.
    """

    reason: str
    seconds: float
    level: int = logging.DEBUG
    is_elsewhere: bool = field(default=False, kw_only=True)
    held: Sequence[str] = field(default=(), kw_only=True)
    may_be_of_run: bool = field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        self.seconds = min(self.seconds, LONGEST_WAIT)

    def __str__(self) -> str:
        return self.reason


class RunQueue:
    """The runs of a store that workers are to drive, and the jobs for them.

    It makes its tables in a store that lacks them.
    """

    @classmethod
    def of(cls, store: stores.RunStore, *, by: str = "RunQueue") -> RunQueue:
        """The queue of a store that can have workers, with the tables of both.

        Raises:
            ConfigurationError: the store is not on Postgres, or Procrastinate is not installed.
        """
        expect(store, stores.RunStore, "store", by=by)
        if not isinstance(store.database, stores.PostgresDatabase):
            raise ConfigurationError(
                f"{store.name}: workers need a store on Postgres, which tells them of new runs\n"
                "  hint: give --record postgresql://user@host/database (store= in Python)"
            )
        store.ready()
        return cls(store.database)

    def __init__(self, database: stores.PostgresDatabase) -> None:
        expect_procrastinate()
        import procrastinate

        self.database: Final = database
        # Jobs are put in with connections of the store; those of this app are never opened.
        app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector())
        self._configure: Callable[..., Any] = app.configure_task
        make_worker_tables(database)

    def add(self, run: str, queue: str, due: float = 0.0) -> None:
        """Have workers drive a run from a time on, in seconds since 1970; it is queued once."""

        def work() -> None:
            self.database.execute(SQL["add"], queue, due, run)
            self.put(run)

        self.database.together(work)

    def put(self, run: str, seconds: float = 0.0) -> None:
        """Have a job for a run that workers are to drive in some seconds, once it may begin.

        A job that waits already stays, and is put forward if it is later.
        """
        from procrastinate.exceptions import AlreadyEnqueued, ConnectorException

        found = self.database.execute(SQL["job"], _BEGUN_FIRST, seconds, seconds, run)
        if not found:
            return
        queue, priority, at, is_due = found[0]
        when = None if is_due else at

        def defer(connection: psycopg.Connection[Any]) -> None:
            try:
                with connection.transaction():
                    self._configure(
                        GO_ON, queue=queue, priority=priority, queueing_lock=run,
                        schedule_at=when, connection=connection,
                    ).defer(run=run)  # fmt: skip
            except ConnectorException as error:
                raise error.__cause__ or error from None

        try:
            self.database.connected(defer)
        except AlreadyEnqueued:
            self.database.execute(SQL["put_job_forward"], at, run, at)
        if is_due:
            self.tell_some(queue)

    def tell_some(self, queue: str) -> None:
        """Have some of the workers that take runs from a queue look for jobs now; all do soon."""
        self.database.execute(SQL["tell_some"], LOOK_NOW, queue)

    def due(self, run: str) -> float | None:
        """When a queued run may begin, 0 for at once; None for a run that is not queued."""
        sql = "SELECT due FROM gram_runs WHERE id = ? AND queue IS NOT NULL"
        return cast("float | None", self.database.value(sql, run))

    def patience(self, run: str) -> float:
        """The seconds until a run is looked at again that others let go on: as long as it waits."""
        sql = "SELECT {clock} - changed FROM gram_runs WHERE id = ?"
        return min(max(float(self.database.value(sql, run) or 0.0), SOON), _LONGEST_PAUSE)

    def goes_first(self, run: str) -> list[tuple[str, bool]]:
        """The turn of a run's conversation that goes before it, and whether workers drive that."""
        found = self.database.execute(SQL["first_turns"], [run])
        return [(first, is_driven) for _, first, is_driven in found]

    def has_gone_on(self, run: str) -> bool:
        """Whether a turn has begun, and its conversation has gone on since, so that it cannot."""
        return bool(self.database.execute(SQL["has_gone_on"], run))

    def follow(self, run: str) -> None:
        """Have a turn that has not begun follow what was said in its conversation so far."""
        self.database.execute(SQL["follow"], run)

    def ended(self, run: str) -> None:
        """Take a run that has ended off the queue, and let the next of its conversation begin."""

        def work() -> None:
            self.database.execute("UPDATE gram_runs SET queue = NULL WHERE id = ?", run)
            if following := self.database.value(SQL["next_turn"], run):
                self.put(following)

        self.database.together(work)

    def failed_again(self, run: str) -> int:
        """Count that a run has failed in a way that may pass; returns how often it has."""
        sql = "UPDATE gram_runs SET attempts = attempts + 1 WHERE id = ? RETURNING attempts"
        return int(self.database.value(sql, run) or 0)

    def deaths(self, run: str, events: int, left_by: str | None) -> int:
        """How many workers died with a run one after the other, and recorded no event of it.

        If a worker has died with it just now, that is counted; once, however often it is asked.
        """
        self.database.execute(SQL["count_death"], events, events, run, left_by)
        sql = "SELECT deaths FROM gram_runs WHERE id = ? AND died_after = ?"
        return int(self.database.value(sql, run, events) or 0)


def tell_workers(store: stores.StoreLike, run: str) -> None:
    """Have workers go on at once with a run, or with what waited for one that has ended.

    Without it they find that later. Nothing is done in a store that has no workers.
    """
    with stores.opened(store) as found, suppress(ConfigurationError):
        if database := with_workers(found):
            queue = RunQueue(database)
            if found.row(run).status in IS_OVER:
                queue.ended(run)
            else:
                queue.put(run)


def with_workers(store: stores.RunStore) -> stores.PostgresDatabase | None:
    """The database of a store that runs were submitted to; None for another."""
    database = store.database
    if not isinstance(database, stores.PostgresDatabase):
        return None
    has_queue = database.execute("SELECT to_regclass('gram_requests')::text") != [(None,)]
    return database if has_queue else None
