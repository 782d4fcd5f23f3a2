"""What a worker does beside its jobs, every few seconds: it says that it lives, and looks for work.

Each worker learns of queues by itself. For jobs whose worker has died, one worker looks for all:
whoever comes first when some time has passed since the last look.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from ..concurrency import call_in_thread
from ..errors import RunTakenError, StoreError
from ..history.records import RecordedRun
from ..history.stores import PostgresDatabase, RunStore
from .database_errors import is_of_database
from .driving import reason_of
from .limits import SharedLimits
from .overview import Registry
from .queue import GO_ON, LOOK, SILENT, LaterError, RunQueue
from .schedules import Schedule, submit_due

if TYPE_CHECKING:
    import procrastinate

LOGGER: Final = logging.getLogger("interp.workers")

_NONE: Final = "none"
"""A queue without jobs, for a worker that knows no other; Procrastinate would take from all."""


class Looks:
    """The looks of one worker; those of its methods that ask the database block.

    Args:
        name: the name of the worker.
        store: the store.
        database: its database, by a connection that nothing else uses.
        why_not: why a run cannot be driven here, or None if it can.
        fail: writes that a run has failed, with the reason, where it cannot be read.
        schedules: runs to submit at times.
        limits: the limits on its requests.

    Attributes:
        channel: what the worker listens to.
        queues: the queues that it takes runs from; it grows.
    """

    def __init__(
        self,
        name: str,
        store: RunStore,
        database: PostgresDatabase,
        why_not: Callable[[RecordedRun], str | None],
        fail: Callable[[str, str], None],
        schedules: Iterable[Schedule],
        limits: SharedLimits,
    ) -> None:
        self.channel: Final = f"gram_worker_{os.urandom(8).hex()}"
        self.queues: Final = [_NONE]  # Procrastinate looks into it for each job
        self._name = name
        self._store = store
        self._database = database
        self._queue = RunQueue(database)
        self._registry = Registry(database)
        self._why_not = why_not
        self._fail = fail
        self._schedules = tuple(schedules)
        self._submitted_until: float | None = None
        self._limits = limits
        self._leaves: dict[str, str] = {}
        self._held: dict[str, LaterError] = {}

    def end(self) -> None:
        """Say that the worker has ended."""
        with suppress(StoreError):
            self._registry.left(self._name)
        self._database.close()
        self._limits.close()

    def leave(self, queue: str, run: str, reason: str) -> None:
        """Leave the runs of a queue to other workers.

        Args:
            queue: the name of the queue.
            run: one of its runs.
            reason: why none of them can be driven here.
        """
        self._leaves[queue] = reason
        if queue in self.queues:
            self.queues.remove(queue)
        extra = {"event": "queue_left", "run": run}
        LOGGER.info("leaves runs such as this to others: %s", reason, extra=extra)

    def hold(self, queue: str, error: LaterError) -> None:
        """Take no runs from a queue while a model that they need is left alone.

        Args:
            queue: the name of the queue.
            error: why one of its runs waits.
        """
        self._held[queue] = error
        if queue in self.queues:
            self.queues.remove(queue)

    async def keep_on(
        self, app: procrastinate.App, looked: Callable[[Exception | None], None]
    ) -> None:
        """Look every few seconds, until this is cancelled.

        Args:
            app: Procrastinate's, which is open.
            looked: told of each look, with the error of one that failed; the next is made all the
                same.
        """
        task = asyncio.current_task()
        assert task is not None, "a coroutine that is awaited"
        while not task.cancelling():  # a look that ends right then hides a cancellation
            await asyncio.sleep(LOOK)
            try:
                await self.look(app)
            except Exception as error:  # noqa: BLE001  # the database is gone, in many ways
                looked(error)
            else:
                looked(None)

    async def look(self, app: procrastinate.App) -> None:
        """Say that the worker lives, learn of queues, and find the jobs of workers that died."""
        if await call_in_thread(self._looks_for_all):
            await self._put_again(app)

    def _looks_for_all(self) -> bool:
        self._limits.settle()
        for queue, error in list(self._held.items()):
            if not self._limits.is_held(error.held):
                del self._held[queue]  # it is learned of again
        self._learn_of_queues()
        held = {queue: str(error).partition("\n")[0] for queue, error in self._held.items()}
        now, looks_for_all = self._registry.seen(
            self._name, self.channel, self.queues, {**self._leaves, **held}
        )
        submit_due(self._schedules, self._store, self._submitted_until, now)
        self._submitted_until = now
        if looks_for_all:
            self._registry.forget_dead()
        return looks_for_all

    def _learn_of_queues(self) -> None:
        for name, run in self._registry.queues():
            is_known = name in self.queues or name in self._leaves or name in self._held
            if is_known or not (found := self._read(run)):
                continue
            if reason := self._why_not(found):
                self.leave(name, run, reason)
            else:
                self.queues.append(name)
                self._registry.tell(self.channel)

    def _read(self, run: str) -> RecordedRun | None:
        """A run; one that cannot be read has failed, since no worker would take it."""
        try:
            return self._store.recorded(run)
        except Exception as error:
            if is_of_database(error):
                raise
            reason = reason_of(error)
            extra = {"event": "run_unreadable", "run": run}
            LOGGER.warning("the run cannot be read: %s", reason, extra=extra)
        try:
            self._fail(run, reason)
        except RunTakenError:
            return None
        except StoreError as error:  # nothing is left of it but its name
            if is_of_database(error):
                raise
        self._queue.ended(run)
        return None

    async def _put_again(self, app: procrastinate.App) -> None:
        """Put in new jobs for those of workers that have died."""
        import procrastinate

        stalled = await app.job_manager.get_stalled_jobs(
            task_name=GO_ON, seconds_since_heartbeat=SILENT
        )
        runs = {job.id: str(job.task_kwargs["run"]) for job in stalled if job.id is not None}
        for job, run in runs.items():
            await call_in_thread(partial(self._queue.put, run))
            with suppress(procrastinate.exceptions.ConnectorException):  # its worker lives
                await app.job_manager.finish_job_by_id_async(
                    job, procrastinate.jobs.Status.FAILED, delete_job=True
                )
