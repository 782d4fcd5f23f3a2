"""The queue of runs: Procrastinate's jobs, in the same Postgres as the store.

A job only says "go on with run X". It may be delivered more than once: the store lets one worker
write to a run at a time, and what is recorded there is not done again. Beside the jobs, a table
lists the work: the runs that workers are to drive until they have ended. Whatever is lost of the
jobs is found again by a look at that list, see `RunQueue.without_jobs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ..errors import ConfigurationError
from ..json_text import write_json
from ..stores import ENDED, PostgresDatabase, RunStore
from .tables import CLOCK, HAS_ITS_JOBS, SEEN, WORK

if TYPE_CHECKING:
    import psycopg

GO_ON: Final = "gram.go_on"
"""The name of the task that goes on with a run."""

_SOME: Final = 8
"""How many workers are told of a new job. The others ask by themselves when they look, so that
one of many that are idle finds it soon if these are busy."""

Connection: TypeAlias = "psycopg.Connection[Any]"

IS_OVER: Final = (*ENDED, "limited")
"""The statuses of runs that workers do nothing more with."""

_HAS_JOB = (
    "(EXISTS (SELECT 1 FROM procrastinate_jobs WHERE queueing_lock = r.id AND status = 'todo') OR "
    "EXISTS (SELECT 1 FROM procrastinate_jobs AS job JOIN procrastinate_workers AS worker "
    "ON worker.id = job.worker_id WHERE queueing_lock = r.id AND status = 'doing' "
    f"AND last_heartbeat > now() - interval '{HAS_ITS_JOBS} seconds'))"
)
_HAS_GONE_ON = (
    "EXISTS (SELECT 1 FROM gram_conversations AS talk WHERE talk.name = {turn}.conversation "
    "AND talk.size <> {turn}.messages)"
)
_GO_FIRST = (
    "FROM gram_runs AS other WHERE other.conversation = r.conversation AND other.id <> r.id AND ("
    f"(other.status = 'running' AND other.leased_until >= {CLOCK}) OR ((other.status = 'queued' OR "
    "(other.status IN ('running', 'stopped', 'waiting') "
    "AND EXISTS (SELECT 1 FROM gram_work WHERE run = other.id) "
    f"AND NOT {_HAS_GONE_ON.format(turn='other')})) "
    "AND (other.status = 'queued', other.created, other.id) < "
    "(r.status = 'queued', r.created, r.id)))"
)
"""The turns of the run's conversation that go first: one that somebody drives, and, of those that
are to go on, what has begun before what has not. One that can never go on keeps none waiting."""

_IS_BEHIND = f"(r.conversation IS NOT NULL AND EXISTS (SELECT 1 {_GO_FIRST}))"
_FIRST = (
    f"(SELECT other.id {_GO_FIRST} ORDER BY other.status = 'queued', other.created, other.id "
    "LIMIT 1)"
)

_ALIVE = f"FROM gram_workers WHERE seen > {CLOCK} - {SEEN}"

_LOOK: Final = '{"type": "job_inserted", "job_id": 0}'
"""What tells a worker to look, as Procrastinate says it."""

_A_PAGE: Final = 500
_MOST_REASONS: Final = 3

MOST_PRIORITY: Final = 1_000_000
"""The highest priority of a run; the lowest is as far below 0."""

_BEGUN_FIRST: Final = 2 * MOST_PRIORITY + 1
"""What a run that has begun is ahead of all that have not: else they would keep it waiting."""


class RunQueue:
    """The work of a store, and the jobs for it.

    Args:
        database: the store's database.

    Raises:
        ConfigurationError: Procrastinate is not installed.
        StoreError: the database cannot be reached or changed, or a later version has changed it.
    """

    def __init__(self, database: PostgresDatabase) -> None:
        try:
            import procrastinate
        except ImportError:
            raise ConfigurationError(
                "a queue of runs needs Procrastinate\n  hint: pip install 'gram-agents[workers]'"
            ) from None
        self._database = database
        # Jobs are put in with connections of the store; those of this app are never opened.
        app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector())
        self._configure: Callable[..., Any] = app.configure_task
        self._already = procrastinate.exceptions.AlreadyEnqueued
        WORK.make(database)

    def add(self, run: str, queue: str, due: float | None) -> None:
        """Add a run to the work, and put its job into the queue; once, however often it is called.

        Args:
            run: the id of the run, which is in the store.
            queue: where its job goes, see `queue_of`.
            due: when it may begin, in seconds since 1970, or None for now.
        """

        def carry_out(connection: Connection) -> None:
            with connection.transaction():
                connection.execute(
                    "INSERT INTO gram_queues (name) VALUES (%s) ON CONFLICT DO NOTHING", (queue,)
                )
                connection.execute(
                    "INSERT INTO gram_work (run, queue, due) VALUES (%s, %s, %s) "
                    "ON CONFLICT DO NOTHING",
                    (run, queue, due or 0.0),
                )
                self._put(connection, [run])

        self._database.connected(carry_out)

    def put(self, runs: Sequence[str]) -> None:
        """Put jobs into the queue for those of some runs that are work and have none waiting."""
        if runs:
            self._database.connected(lambda connection: self._put(connection, runs))

    def may_look(self, what: str, seconds: float) -> bool:
        """Whether nobody has looked for something for some seconds; who asks looks now, then.

        Args:
            what: what is looked for.
            seconds: how long one look is enough for all workers.
        """
        # Most ask in vain, so they only read.
        return not self._column(
            f"SELECT 1 FROM gram_looks WHERE what = %s AND at BETWEEN {CLOCK} - %s AND {CLOCK}",
            what,
            seconds,
        ) and bool(
            self._column(
                f"INSERT INTO gram_looks AS last VALUES (%s, {CLOCK}) ON CONFLICT (what) "
                "DO UPDATE SET at = excluded.at "
                "WHERE last.at NOT BETWEEN excluded.at - %s AND excluded.at RETURNING 1",
                what,
                seconds,
            )
        )

    def without_jobs(self, *, begun: bool) -> list[str]:
        """Runs that nobody drives and that have no job, though they could go on.

        Args:
            begun: those that had begun, such as of a worker that was killed; else those that have
                not, such as where submitting was interrupted.
        """
        now = f"(SELECT {CLOCK} AS time) AS now"
        left = (  # found by their status first: the planner may else read all runs that are kept
            f"WITH r AS MATERIALIZED (SELECT id FROM gram_runs, {now} "
            "WHERE status IN ('running', 'stopped') AND leased_until < time) "
            f"SELECT r.id FROM {now}, r JOIN gram_work ON run = r.id WHERE TRUE"
        )
        lost = (
            f"SELECT r.id FROM {now}, gram_runs AS r LEFT JOIN gram_work ON run = r.id "
            f"WHERE r.status = 'queued' AND r.changed < time - 5 AND NOT {_IS_BEHIND}"
        )
        return self._column(
            f"{left if begun else lost} AND coalesce(due, 0) <= time AND NOT {_HAS_JOB} "
            f"LIMIT {_A_PAGE}"
        )

    def is_work(self, run: str) -> bool:
        """Whether a run is among the work."""
        return bool(self._column("SELECT run FROM gram_work WHERE run = %s", run))

    def due(self, run: str) -> float | None:
        """When a run of the work may begin, 0 for at once; None for a run that is no work."""
        return next(iter(self._column("SELECT due FROM gram_work WHERE run = %s", run)), None)

    def goes_first(self, run: str) -> str | None:
        """The turn of a run's conversation that goes before it, or None."""
        sql = f"SELECT {_FIRST} FROM gram_runs AS r WHERE r.id = %s AND r.conversation IS NOT NULL"
        return next(iter(self._column(sql, run)), None)

    def has_gone_on(self, run: str) -> bool:
        """Whether a turn has begun, and its conversation has gone on since, so that it cannot."""
        return bool(
            self._column(
                "SELECT r.id FROM gram_runs AS r WHERE r.id = %s AND r.status <> 'done' "
                f"AND {_HAS_GONE_ON.format(turn='r')} "
                "AND EXISTS (SELECT 1 FROM gram_entries WHERE run = r.id AND seq > 0)",
                run,
            )
        )

    def ended(self, run: str) -> None:
        """Take a run that has ended from the work, and let the next of its conversation begin."""

        def carry_out(connection: Connection) -> None:
            connection.execute("DELETE FROM gram_work WHERE run = %s", (run,))
            following = connection.execute(
                "SELECT r.id FROM gram_runs AS r JOIN gram_runs AS ended USING (conversation) "
                "WHERE ended.id = %s AND r.status = 'queued' ORDER BY r.created, r.id LIMIT 1",
                (run,),
            ).fetchall()
            if following:
                self._put(connection, [run for (run,) in following])

        self._database.connected(carry_out)

    def failed_again(self, run: str) -> int:
        """Count that a run has failed in a way that may pass; returns how often it has."""
        found = self._column(
            "UPDATE gram_work SET attempts = attempts + 1 WHERE run = %s RETURNING attempts", run
        )
        return int(found[0]) if found else 1

    def deaths(self, run: str, events: int) -> int:
        """How many workers died with a run one after the other, and recorded no event of it.

        If a worker has died with it just now, that is counted; once, however often it is asked.

        Args:
            run: the id of the run.
            events: how many events are recorded of it.
        """

        def carry_out(connection: Connection) -> int:
            connection.execute(
                "INSERT INTO gram_deaths AS known (run, deaths, events, fence) "
                "SELECT run, 1, %s, fence FROM gram_runs JOIN gram_work ON run = id "
                f"WHERE id = %s AND status = 'running' AND leased_until < {CLOCK} "
                "ON CONFLICT (run) DO UPDATE SET fence = excluded.fence, events = excluded.events, "
                "deaths = 1 + CASE known.events WHEN excluded.events THEN known.deaths ELSE 0 END "
                "WHERE known.fence < excluded.fence",
                (events, run),
            )
            found = connection.execute(
                "SELECT deaths FROM gram_deaths WHERE run = %s AND events = %s", (run, events)
            ).fetchone()
            return int(found[0]) if found else 0

        return self._database.connected(carry_out)

    def remove_ended(self) -> None:
        """Take runs from the work that others have ended or removed, and forget dead workers."""

        def carry_out(connection: Connection) -> None:
            connection.execute(  # a look for each run of the work: kept runs may be millions
                "DELETE FROM gram_work WHERE "
                "coalesce((SELECT status FROM gram_runs WHERE id = gram_work.run), 'done') "
                "= ANY(%s)",
                (list(IS_OVER),),
            )
            dead = f"SELECT id FROM gram_workers WHERE seen < {CLOCK} - %s"
            connection.execute(f"DELETE FROM gram_requests WHERE worker IN ({dead})", (SEEN,))
            connection.execute(f"DELETE FROM gram_workers WHERE id IN ({dead})", (SEEN,))

        self._database.connected(carry_out)

    def seen(
        self, worker: str, channel: str, queues: Iterable[str], leaves: Mapping[str, str]
    ) -> float:
        """Say that a worker is alive; returns the time, in seconds since 1970.

        Args:
            worker: its name.
            channel: what it listens to.
            queues: the queues that it takes runs from.
            leaves: why it takes none from others, by their names.
        """
        (now,) = self._column(
            "INSERT INTO gram_workers (id, channel, seen, queues, leaves) "
            f"VALUES (%s, %s, {CLOCK}, %s, %s::jsonb) ON CONFLICT (id) DO UPDATE "
            "SET seen = excluded.seen, queues = excluded.queues, leaves = excluded.leaves "
            f"RETURNING {CLOCK}",
            worker,
            channel,
            list(queues),
            write_json(dict(leaves)),
        )
        return float(now)

    def left(self, worker: str) -> None:
        """Say that a worker has ended, and have others take what it has left."""

        def carry_out(connection: Connection) -> None:
            connection.execute("DELETE FROM gram_requests WHERE worker = %s", (worker,))
            for (queues,) in connection.execute(
                "DELETE FROM gram_workers WHERE id = %s RETURNING queues", (worker,)
            ).fetchall():
                for queue in queues:
                    _tell_some(connection, queue)

        self._database.connected(carry_out)

    def tell(self, channel: str) -> None:
        """Have the worker that listens to a channel look for jobs now."""
        self._column("SELECT pg_notify(%s, %s)", channel, _LOOK)

    def queues(self, after: int, others: Iterable[str]) -> list[tuple[int, str, str | None]]:
        """Queues with their numbers and names, and one run of each, if there is any.

        Args:
            after: the queues with higher numbers, which were made since.
            others: the names of more.
        """
        found: list[tuple[int, str, str | None]] = self._database.connected(
            lambda connection: connection.execute(
                "SELECT number, name, (SELECT run FROM gram_work WHERE queue = name LIMIT 1) "
                "FROM gram_queues WHERE number > %s OR name = ANY(%s) ORDER BY number",
                (after, list(others)),
            ).fetchall()
        )
        return found

    def _put(self, connection: Connection, runs: Sequence[str]) -> None:
        found = connection.execute(
            "SELECT run, queue, due, priority, status <> 'queued' FROM gram_work "
            "JOIN gram_runs ON id = run WHERE run = ANY(%s)",
            (list(runs),),
        ).fetchall()
        for run, queue, due, priority, has_begun in found:
            with suppress(self._already), connection.transaction():
                self._configure(
                    GO_ON,
                    queue=queue,
                    priority=priority + _BEGUN_FIRST if has_begun else priority,
                    queueing_lock=run,
                    schedule_at=datetime.fromtimestamp(due, UTC) if due else None,
                    connection=connection,
                ).defer(run=run)
        for queue in {queue for _, queue, *_ in found}:
            _tell_some(connection, queue)

    def _column(self, sql: str, *values: object) -> list[Any]:
        """The first value of each row that a statement gives."""
        return self._database.connected(
            lambda connection: [row[0] for row in connection.execute(sql, values).fetchall()]
        )


def with_workers(store: RunStore) -> PostgresDatabase | None:
    """The database of a store that runs were submitted to; None for another.

    Raises:
        StoreError: the store cannot be read.
    """
    database = store.database
    if not isinstance(database, PostgresDatabase):
        return None
    has_queue = database.execute("SELECT to_regclass('gram_requests')::text") != [(None,)]
    return database if has_queue else None


def why_queued(store: RunStore, runs: Sequence[str]) -> dict[str, str]:
    """Why runs wait that workers are to take, by their ids; one that will be taken has no reason.

    Args:
        store: any store; only those on Postgres have queued runs.
        runs: the ids of the runs.

    Raises:
        StoreError: the store cannot be read.
    """
    database = with_workers(store)
    if database is None:
        return {}
    found = database.connected(
        lambda connection: connection.execute(
            f"SELECT r.id, {_FIRST}, due, due > {CLOCK}, "
            f"(SELECT coalesce(bool_or(queue = ANY(queues)), FALSE) {_ALIVE}), "
            f"(SELECT count(*) {_ALIVE}), (SELECT array_agg(DISTINCT leaves ->> queue) {_ALIVE}) "
            "FROM gram_runs AS r JOIN gram_work ON run = r.id "
            "WHERE r.id = ANY(%s) AND r.status IN ('queued', 'stopped')",
            (list(runs),),
        ).fetchall()
    )
    return {row[0]: reason for row in found if (reason := _why(*row[1:]))}


def _why(
    first: str | None, due: float, is_early: bool, is_taken: bool, workers: int, leaves: list[str]
) -> str | None:
    if is_early:
        return f"begins at {datetime.fromtimestamp(due, UTC):%Y-%m-%d %H:%M:%S} UTC"
    if first is not None:
        return f"waits for another turn of its conversation: run {first}"
    if not workers:
        return "no worker is there"
    reasons = [each for each in leaves if each][:_MOST_REASONS]
    return None if is_taken or not reasons else f"no worker takes it: {'; '.join(reasons)}"


def _tell_some(connection: Connection, queue: str) -> None:
    """Have some of the workers that take runs from a queue look for jobs now."""
    connection.execute(
        f"SELECT pg_notify(channel, %s) FROM (SELECT channel {_ALIVE} "
        f"AND %s = ANY(queues) ORDER BY random() LIMIT {_SOME}) AS told",
        (_LOOK, queue),
    )
