"""What workers tell each other of themselves, what waits for them, and the looks of each.

Every few seconds each worker says that it lives, and looks for work. It learns of queues by itself.
For jobs whose worker has died, one worker looks for all: whoever comes first after some time.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from attrs import define, field, frozen

from ..concurrency import call_in_thread
from ..errors import RunTakenError, StoreError
from ..history.records import RecordedRun
from ..history.stores import PostgresDatabase, RunRow, RunStore, this_process
from ..json_text import write_json
from .database_errors import is_of_database, log_event, reason_of
from .queue import GO_ON, LOOK, LOOK_NOW, SEEN, SILENT, SQL, LaterError, RunQueue, with_workers
from .submission import Schedule, submit_due, why_not

if TYPE_CHECKING:
    import procrastinate
    from opentelemetry.metrics import Meter, Observation

    from .driving import Driver

_GOING: Final = ("queued", "running", "stopped", "waiting")
"""The statuses of runs that have not ended."""


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
    database = RunQueue.of(store, by="workers_now").database
    return tuple(
        WorkerNow(name, silent, tuple(runs), queues, tuple(sorted(set(leaves.values()))))
        for name, silent, runs, queues, leaves in database.execute(SQL["workers_now"])
    )


def overview(store: RunStore) -> Overview:
    """What the workers of a store have to do; see `workers_now`."""
    return _overview(RunQueue.of(store, by="overview").database)


def _overview(database: PostgresDatabase) -> Overview:
    statuses = database.execute(SQL["statuses"])
    ((count, oldest, seconds),) = database.execute(SQL["waiting"])
    return Overview(dict(statuses), count, oldest, seconds)


class WorkerMetrics:
    """What one worker counts, and what it finds in its store when it is asked."""

    def __init__(self, meter: Meter, database: PostgresDatabase) -> None:
        from opentelemetry.metrics import Observation

        def gauge(name: str, unit: str, told: str, of: Callable[[Overview], Any]) -> None:
            look = [lambda _: of(_overview(database))]
            meter.create_observable_gauge(name, look, unit=unit, description=told)

        def of_statuses(now: Overview) -> list[Observation]:
            counts = {**dict.fromkeys(_GOING, 0), **now.statuses}
            return [Observation(count, {"status": status}) for status, count in counts.items()]

        self._ended = meter.create_counter(
            "gram.runs.ended", description="Runs of this worker that ended, or wait for approval"
        )
        self.takeovers = meter.create_counter(
            "gram.runs.taken_over", description="Runs of dead workers that this one went on with"
        )
        gauge("gram.runs", "{run}", "Runs of the store that have not ended", of_statuses)
        told = "Runs that could go on, and nobody drives"
        gauge("gram.queue.depth", "{run}", told, lambda now: [Observation(now.waiting)])
        told = "How long the oldest of them has waited"
        gauge("gram.queue.oldest", "s", told, lambda now: [Observation(now.seconds)])

    def ended(self, row: RunRow) -> None:
        """Count a run that has ended, or waits for approval."""
        self._ended.add(1, {"status": row.status, "gen_ai.agent.name": row.facts.agent})


_ONE_LOOK: Final = LOOK / 2  # seconds after a look for all in which no other is made


def seen(
    database: PostgresDatabase,
    worker: str,
    channel: str,
    queues: Iterable[str] = (),
    leaves: Mapping[str, str] = {},
) -> tuple[float, bool]:
    """Say that a worker is alive."""
    now_here = (this_process(), list(queues), write_json(dict(leaves)))
    ((now, looks),) = database.execute(SQL["seen"], worker, channel, _ONE_LOOK, *now_here)
    return float(now), bool(looks)


def forget_dead(database: PostgresDatabase) -> None:
    """Forget the workers that have died, and the requests that they had under way."""
    dead = "SELECT id FROM gram_workers WHERE seen < {clock} - ?"
    database.execute(f"DELETE FROM gram_requests WHERE worker IN ({dead})", SEEN)
    database.execute(f"DELETE FROM gram_workers WHERE id IN ({dead})", SEEN)


def why_queued(store: RunStore, runs: Sequence[str]) -> dict[str, str]:
    """Why runs wait that workers are to take, by their ids; one that will be taken has none."""
    database = with_workers(store)
    if database is None:
        return {}
    found = database.execute(SQL["why_queued"], [*runs])
    waiting = [run for run, *_ in found]
    turns = {run: first for run, first, _ in database.execute(SQL["first_turns"], waiting)}
    reasons = {run: _why(turns.get(run), *facts) for run, *facts in found}
    return {run: reason for run, reason in reasons.items() if reason}


def _why(
    first: str | None, due: float, is_early: bool, is_taken: bool, workers: int, leaves: list[str]
) -> str | None:
    if is_early:
        return f"begins at {datetime.fromtimestamp(due, UTC):%Y-%m-%d %H:%M:%S} UTC"
    if first is not None:
        return f"waits for another turn of its conversation: run {first}"
    if not workers:
        return "no worker is there"
    reasons = [each for each in leaves if each][:3]
    return None if is_taken or not reasons else f"no worker takes it: {'; '.join(reasons)}"


_NONE: Final = "none"
"""A queue without jobs, for a worker that knows no other; Procrastinate would take from all."""


@define(eq=False)
class Looks:
    """The looks of one worker, whose queue has a connection that nothing else uses.

    Those of its methods that ask the database block.
    """

    _name: str
    _driver: Driver
    _queue: RunQueue
    _schedules: tuple[Schedule, ...]
    channel: str = field(factory=lambda: f"gram_worker_{os.urandom(8).hex()}", init=False)
    queues: list[str] = field(factory=lambda: [_NONE], init=False)  # looked into for each job
    _submitted_until: float | None = field(default=None, init=False)
    _left: dict[str, LaterError] = field(factory=dict, init=False)

    def end(self) -> None:
        """Say that the worker has ended, and have others take what it has left."""

        def work() -> None:
            self._queue.database.execute("DELETE FROM gram_requests WHERE worker = ?", self._name)
            sql = "DELETE FROM gram_workers WHERE id = ? RETURNING queues"
            for queue in self._queue.database.value(sql, self._name) or ():
                self._queue.tell_some(queue)

        with suppress(StoreError):
            self._queue.database.together(work)
        self._queue.database.close()
        self._driver.limits.database.close()

    def leave(self, queue: str, run: str, error: LaterError) -> None:
        """Leave the runs of a queue to others, or alone for as long as their model is."""
        self._left[queue] = error
        if queue in self.queues:
            self.queues.remove(queue)
        if error.is_elsewhere:
            log_event("queue_left", f"leaves runs such as this to others: {error}", run=run)

    async def keep_on(
        self, app: procrastinate.App, looked: Callable[[Exception | None], None]
    ) -> None:
        """Look every few seconds, and tell of each look how it ended, until this is cancelled."""
        task = asyncio.current_task()
        assert task is not None, "a coroutine that is awaited"
        while not task.cancelling():  # a look that ends right then hides a cancellation
            await asyncio.sleep(LOOK)
            try:
                await self.look(app)
                looked(None)
            except Exception as error:  # noqa: BLE001  # the database is gone, in many ways
                looked(error)

    async def look(self, app: procrastinate.App) -> None:
        """Say that the worker lives, learn of queues, and put in the jobs of dead workers again."""
        if await call_in_thread(self._look_for_itself):
            await self._look_for_all(app)

    async def _look_for_all(self, app: procrastinate.App) -> None:
        import procrastinate

        stalled = await app.job_manager.get_stalled_jobs(
            task_name=GO_ON, seconds_since_heartbeat=SILENT
        )
        failed = procrastinate.jobs.Status.FAILED
        for job in stalled:
            assert job.id is not None, "it is in the table"
            await call_in_thread(partial(self._queue.put, str(job.task_kwargs["run"])))
            with suppress(procrastinate.exceptions.ConnectorException):  # its worker lives
                await app.job_manager.finish_job_by_id_async(job.id, failed, delete_job=True)

    def _look_for_itself(self) -> bool:
        """Look without the jobs of others; gives whether this one is to look for all."""
        self._driver.limits.settle()
        self._learn_of_queues()
        leaves = {queue: str(error).partition("\n")[0] for queue, error in self._left.items()}
        told = (self._name, self.channel, self.queues, leaves)
        now, looks_for_all = seen(self._queue.database, *told)
        submit_due(self._schedules, self._driver.store, self._submitted_until, now)
        self._submitted_until = now
        if looks_for_all:
            forget_dead(self._queue.database)
        return looks_for_all

    def _learn_of_queues(self) -> None:
        for queue, error in list(self._left.items()):
            if error.held and not self._driver.limits.is_held(error.held):
                del self._left[queue]  # it is learned of again
        for name, run in self._queue.database.execute(SQL["queues"]):
            if name in self.queues or name in self._left or not (found := self._read(run)):
                continue
            if reason := why_not(found, self._driver.library, self._driver.match):
                self.leave(name, run, LaterError(reason, 0.0, is_elsewhere=True))
            else:
                self.queues.append(name)
                self._queue.database.execute("SELECT pg_notify(?, ?)", self.channel, LOOK_NOW)

    def _read(self, run: str) -> RecordedRun | None:
        """A run; one that cannot be read has failed, since no worker would take it."""
        try:
            return self._driver.store.recorded(run)
        except Exception as error:
            if is_of_database(error):
                raise
            reason = reason_of(error)
            told = f"the run cannot be read: {reason}"
            log_event("run_unreadable", told, logging.WARNING, run=run)
        try:
            self._driver.let_go(run, "failed", reason)
        except RunTakenError:
            return None
        except StoreError as error:  # nothing is left of it but its name
            if is_of_database(error):
                raise
        self._queue.ended(run)
        return None
