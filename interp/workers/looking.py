"""What a worker does beside its jobs, every few seconds: it says that it lives, and looks for work.

Each worker learns of queues by itself. For runs whose worker has died, and for those that have no
job, one worker looks for all: whoever comes first when some time has passed since the last look.
If that one is killed, the next to come looks.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from time import time
from typing import TYPE_CHECKING, Final

from ..concurrency import call_in_thread
from ..errors import RunTakenError, StoreError, said_by
from ..records import RecordedRun
from ..secrets import without_keys
from ..stores import RunStore
from .database_errors import is_of_database
from .driving import reason_of
from .needs import queue_of
from .queue import RunQueue
from .schedules import Schedule, submit_due
from .tables import LOOK, SEEN

if TYPE_CHECKING:
    import procrastinate

LOGGER: Final = logging.getLogger("interp.workers")

_NONE: Final = "none"
"""A queue without jobs, for a worker that knows no other; Procrastinate would take from all."""


class Looks:
    """The looks of one worker.

    Args:
        name: the name of the worker.
        store: the store.
        queue: its queue, by a connection that nothing else uses.
        why_not: why a run cannot be driven here, or None if it can.
        fail: writes that a run has failed, with the reason, where it cannot be read.
        schedules: runs to submit at times.

    Attributes:
        channel: what the worker listens to.
        queues: the queues that it takes runs from; it grows.
    """

    def __init__(
        self,
        name: str,
        store: RunStore,
        queue: RunQueue,
        why_not: Callable[[RecordedRun], str | None],
        fail: Callable[[str, str], None],
        schedules: Iterable[Schedule],
    ) -> None:
        self.channel: Final = f"gram_worker_{os.urandom(8).hex()}"
        self.queues: Final = [_NONE]  # Procrastinate looks into it for each job
        self._name = name
        self._store = store
        self._queue = queue
        self._why_not = why_not
        self._fail = fail
        self._schedules = tuple(schedules)
        self._submitted_until: float | None = None
        self._ahead = 0.0  # seconds that the clock here is ahead of the database's
        self._leaves: dict[str, str] = {}
        self._known = 0
        self._unjudged: set[str] = set()

    def now(self) -> datetime:
        """The time by the clock of the database, which is the same for all workers."""
        return datetime.fromtimestamp(time() - self._ahead, UTC)

    def end(self) -> None:
        """Say that the worker has ended."""
        self._queue.left(self._name)

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
        LOGGER.info("leaves runs such as %s to others: %s", run, reason)

    async def keep_on(self, app: procrastinate.App, failed: Callable[[Exception], None]) -> None:
        """Look every few seconds, until this is cancelled.

        Args:
            app: Procrastinate's, which is open.
            failed: told of each look that failed; the next is made all the same.
        """
        task = asyncio.current_task()
        assert task is not None, "a coroutine that is awaited"
        while not task.cancelling():  # a look that ends right then hides a cancellation
            await asyncio.sleep(LOOK)
            try:
                if await call_in_thread(self.look):
                    await _remove_jobs_of_dead(app)
            except Exception as error:  # noqa: BLE001  # the database is gone, in many ways
                failed(error)
                LOGGER.warning("could not look for work: %s", without_keys(said_by(error)))

    def look(self) -> bool:
        """Say that the worker lives, learn of queues, and find work; whether it looked for all."""
        self._learn_of_queues()
        now = self._queue.seen(self._name, self.channel, self.queues, self._leaves)
        self._ahead = time() - now
        if is_for_all := self._queue.may_look("left", LOOK / 2):
            self._queue.put(self._queue.without_jobs(begun=True))
            if self._queue.may_look("lost", 3 * LOOK):
                self._find_lost()
        submit_due(self._schedules, self._store, self._submitted_until, now)
        self._submitted_until = now
        return is_for_all

    def _learn_of_queues(self) -> None:
        for number, name, run in self._queue.queues(self._known, self._unjudged):
            self._known = max(self._known, number)
            self._unjudged.add(name)
            if run is not None and (found := self._read(run)):
                self._unjudged.discard(name)
                if reason := self._why_not(found):
                    self.leave(name, run, reason)
                else:
                    self.queues.append(name)
                    self._queue.tell(self.channel)

    def _find_lost(self) -> None:
        """Find runs that were submitted, and have no job."""
        self._queue.remove_ended()
        for run in self._queue.without_jobs(begun=False):
            if self._queue.is_work(run):
                self._queue.put([run])
            elif found := self._read(run):
                self._queue.add(run, queue_of(found.first, found.own_tools), None)

    def _read(self, run: str) -> RecordedRun | None:
        """A run; one that cannot be read has failed, since no worker would take it."""
        try:
            return self._store.recorded(run)
        except Exception as error:
            if is_of_database(error):
                raise
            reason = reason_of(error)
            LOGGER.warning("cannot read run %s: %s", run, reason)
        try:
            self._fail(run, reason)
        except RunTakenError:
            return None
        except StoreError as error:  # nothing is left of it but its name
            if is_of_database(error):
                raise
        self._queue.ended(run)
        return None


async def _remove_jobs_of_dead(app: procrastinate.App) -> None:
    """Remove the jobs of workers that died; their runs have new ones."""
    import procrastinate

    for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=SEEN):
        if job.id is not None:
            with suppress(procrastinate.exceptions.ConnectorException):  # another has done it
                await app.job_manager.finish_job_by_id_async(
                    job.id, procrastinate.jobs.Status.FAILED, delete_job=True
                )
