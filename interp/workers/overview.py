"""Who works on the runs of a store now, on what, and what waits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from attrs import frozen

from gram.errors import expect

from ..history.stores import PostgresDatabase, RunRow, RunStore
from .queue import ALIVE
from .submission import postgres_of
from .tables import CLOCK

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
