"""Who works on the runs of a store now, on what, and what waits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from attrs import frozen

from gram.errors import expect

from ..history.stores import PostgresDatabase, RunRow, RunStore, this_process
from ..json_text import write_json
from .queue import ALIVE, CLOCK, FIRST_TURN, LOOK, LOOK_NOW, SEEN, tell_some, with_workers
from .submission import postgres_of

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Meter, Observation


_GOING: Final = "('queued', 'running', 'stopped', 'waiting')"
"""SQL for the statuses of runs that have not ended."""


@frozen
class WorkerNow:
    """A worker that lives.

    Attributes:
        name: its name: machine, process, and what tells it from others.
        silent: for how many seconds it was not heard of.
        runs: the ids of the runs that it drives.
        queues: how many kinds of runs it takes.
        leaves: why it takes others not.
    """

    name: str
    silent: float
    runs: tuple[str, ...]
    queues: int
    leaves: tuple[str, ...]


@frozen
class Overview:
    """What workers have to do.

    Attributes:
        statuses: how many runs have each status, but those that have ended.
        waiting: how many runs could begin or go on now, and no worker drives them.
        oldest: the id of the one that has waited longest, or None.
        seconds: for how many seconds that has waited.
    """

    statuses: Mapping[str, int]
    waiting: int
    oldest: str | None
    seconds: float


def workers_now(store: RunStore) -> tuple[WorkerNow, ...]:
    """The workers of a store that live, by their names.

    Raises:
        ConfigurationError: the store is not on Postgres, or Procrastinate is not installed.
        StoreError: the store cannot be read.
    """
    expect(store, RunStore, "store", by="workers_now")
    database = postgres_of(store)
    found = database.execute(
        f"SELECT id, {CLOCK} - seen, (SELECT coalesce(array_agg(r.id ORDER BY r.id), '{{}}') "
        "FROM gram_runs AS r WHERE r.status = 'running' "
        f"AND starts_with(r.owner, process || '/') AND leased_until >= {CLOCK}), "
        f"cardinality(queues) - 1, leaves {ALIVE} ORDER BY id"
    )
    return tuple(
        WorkerNow(name, silent, tuple(runs), queues, tuple(sorted(set(leaves.values()))))
        for name, silent, runs, queues, leaves in found
    )


def overview(store: RunStore) -> Overview:
    """What the workers of a store have to do; see `workers_now`."""
    expect(store, RunStore, "store", by="overview")
    database = postgres_of(store)
    return _overview(database)


def _overview(database: PostgresDatabase) -> Overview:
    statuses = database.execute(
        f"SELECT CASE WHEN status = 'running' AND leased_until < {CLOCK} THEN 'stopped' "
        f"ELSE status END, count(*) FROM gram_runs WHERE status IN {_GOING} GROUP BY 1"
    )
    since = "greatest(due, CASE status WHEN 'queued' THEN created ELSE changed END)"
    waiting = f"queue IS NOT NULL AND status IN ('queued', 'stopped') AND due <= {CLOCK}"
    ((count, oldest, seconds),) = database.execute(
        f"SELECT count(*), (array_agg(id ORDER BY {since}))[1], "
        f"coalesce({CLOCK} - min({since}), 0) FROM gram_runs WHERE {waiting}"
    )
    return Overview(dict(statuses), count, oldest, seconds)


class WorkerMetrics:
    """What one worker counts, and what it finds in its store when it is asked.

    Args:
        meter: what makes the instruments.
        database: the store's database, by a connection that nothing else uses.
    """

    def __init__(self, meter: Meter, database: PostgresDatabase) -> None:
        self._database = database
        self._ended = meter.create_counter(
            "gram.runs.ended", description="Runs of this worker that ended, or wait for approval"
        )
        self._takeovers = meter.create_counter(
            "gram.runs.taken_over", description="Runs of dead workers that this one went on with"
        )
        for name, unit, description, observe in (
            ("gram.runs", "{run}", "Runs of the store that have not ended", self._statuses),
            ("gram.queue.depth", "{run}", "Runs that could go on, and nobody drives", self._depth),
            ("gram.queue.oldest", "s", "How long the oldest of them has waited", self._oldest),
        ):
            meter.create_observable_gauge(name, [observe], unit=unit, description=description)

    def ended(self, row: RunRow) -> None:
        """Count a run that has ended, or waits for approval."""
        self._ended.add(1, {"status": row.status, "gen_ai.agent.name": row.facts.agent})

    def taken_over(self) -> None:
        """Count a run whose worker has died."""
        self._takeovers.add(1)

    def _statuses(self, _: CallbackOptions) -> Iterable[Observation]:
        from opentelemetry.metrics import Observation

        known = dict.fromkeys(("queued", "running", "stopped", "waiting"), 0)
        for status, count in {**known, **_overview(self._database).statuses}.items():
            yield Observation(count, {"status": status})

    def _depth(self, _: CallbackOptions) -> Iterable[Observation]:
        from opentelemetry.metrics import Observation

        yield Observation(_overview(self._database).waiting)

    def _oldest(self, _: CallbackOptions) -> Iterable[Observation]:
        from opentelemetry.metrics import Observation

        yield Observation(_overview(self._database).seconds)


_MOST_REASONS: Final = 3


@frozen
class Registry:
    """The workers of a store.

    Attributes:
        database: the store's database, with the tables of workers.
    """

    database: PostgresDatabase

    def seen(
        self, worker: str, channel: str, queues: Iterable[str], leaves: Mapping[str, str]
    ) -> tuple[float, bool]:
        """Say that a worker is alive.

        Args:
            worker: its name.
            channel: what it listens to.
            queues: the queues that it takes runs from.
            leaves: why it takes none from others, by their names.

        Returns:
            The time, in seconds since 1970, and whether the worker is to look for all: whoever
            comes first some time after the last look does.
        """
        ((now, looks),) = self.database.execute(
            "INSERT INTO gram_workers AS worker "
            "(id, channel, seen, looked, process, queues, leaves) "
            "SELECT ?, ?, now, CASE WHEN last BETWEEN now - ? AND now THEN 0 ELSE now END, "
            f"?, ?, ?::jsonb FROM (SELECT {CLOCK} AS now, "
            "(SELECT max(looked) FROM gram_workers) AS last) AS clock "
            "ON CONFLICT (id) DO UPDATE SET seen = excluded.seen, queues = excluded.queues, "
            "leaves = excluded.leaves, "
            "looked = CASE excluded.looked WHEN 0 THEN worker.looked ELSE excluded.looked END "
            "RETURNING seen, looked = seen",
            worker,
            channel,
            LOOK / 2,
            this_process(),
            list(queues),
            write_json(dict(leaves)),
        )
        return float(now), bool(looks)

    def left(self, worker: str) -> None:
        """Say that a worker has ended, and have others take what it has left."""

        def work() -> None:
            self.database.execute("DELETE FROM gram_requests WHERE worker = ?", worker)
            for (queues,) in self.database.execute(
                "DELETE FROM gram_workers WHERE id = ? RETURNING queues", worker
            ):
                for queue in queues:
                    tell_some(self.database, queue)

        self.database.together(work)

    def forget_dead(self) -> None:
        """Forget the workers that have died, and the requests that they had under way."""
        dead = f"SELECT id FROM gram_workers WHERE seen < {CLOCK} - ?"
        self.database.execute(f"DELETE FROM gram_requests WHERE worker IN ({dead})", SEEN)
        self.database.execute(f"DELETE FROM gram_workers WHERE id IN ({dead})", SEEN)

    def tell(self, channel: str) -> None:
        """Have the worker that listens to a channel look for jobs now."""
        self.database.execute("SELECT pg_notify(?, ?)", channel, LOOK_NOW)

    def queues(self) -> list[tuple[str, str]]:
        """The queues that have runs, by their names, each with one of its runs."""
        # From one name to the next in the index: a queue may have many runs.
        found: list[tuple[str, str]] = self.database.execute(
            "WITH RECURSIVE each AS (SELECT min(queue) AS queue FROM gram_runs UNION ALL "
            "SELECT (SELECT min(queue) FROM gram_runs WHERE gram_runs.queue > each.queue) "
            "FROM each WHERE queue IS NOT NULL) "
            "SELECT queue, (SELECT min(id) FROM gram_runs WHERE gram_runs.queue = each.queue) "
            "FROM each WHERE queue IS NOT NULL"
        )
        return found


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
    found = database.execute(
        f"SELECT r.id, {FIRST_TURN}, due, due > {CLOCK}, "
        f"(SELECT coalesce(bool_or(queue = ANY(queues)), FALSE) {ALIVE}), "
        f"(SELECT count(*) {ALIVE}), (SELECT array_agg(DISTINCT leaves ->> queue) {ALIVE}) "
        "FROM gram_runs AS r "
        "WHERE r.id = ANY(?) AND queue IS NOT NULL AND r.status IN ('queued', 'stopped')",
        list(runs),
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
