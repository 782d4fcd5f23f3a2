"""A worker: it takes runs from the queue of a store, and drives them to their ends."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from math import inf
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Final

from gram import expect, expect_all
from lenses_ext import Match

from ..errors import ConfigurationError, RunTakenError, StoreError, said_by
from ..machine import State
from ..redaction import redact_error
from ..stores import PostgresDatabase, RunRow, open_store
from ..threads import call_in_thread
from ..tools import LibraryLike, library_of
from .database_errors import is_of_database, refusal, stays
from .driving import Driver, reason_of
from .kept_limits import expect_limits, set_shared_limits
from .needs import queue_of, why_not
from .process import until_told
from .queue import GO_ON, RunQueue
from .schedules import Schedule, submit_due
from .shared_limits import SharedLimit, SharedLimits
from .submission import postgres_of
from .tables import SEEN

if TYPE_CHECKING:
    import procrastinate
    from procrastinate.jobs import Job

LOGGER: Final = logging.getLogger("interp.workers")

_LOOK: Final = 3.0
"""Seconds between two looks for what is to be done beside the jobs."""

_SLOWLY: Final = 20.0
"""How many times as long as a look for lost work takes, at least, until the next."""

_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 30.0
"""Seconds until it starts again after the database failed it; each time twice as long."""

_NONE: Final = "none"
"""A queue without jobs, for a worker that knows no other; Procrastinate would take from all."""

_TO_CLOSE: Final = 5.0
"""Seconds that it has after the grace, to leave its runs to others."""


class Worker:
    """Takes the runs of a store whose tools it has, and drives them to their ends.

    Several workers, on any machines, share the work: each run is driven by one at a time. When one
    is killed, others go on with its runs, from what is recorded of them.

    Args:
        store: the address of a store on Postgres.
        library: the implementations of tools. Runs that need others are left to other workers.
        match: how closely tools have to match, see `bind_tool`.
        at_once: how many runs it drives at once.
        grace: how many seconds runs may still take when it is told to stop; then they are left to
            other workers.
        limits: limits of providers, models and tenants to set for all workers of the store, see
            `set_shared_limits`.
        schedules: runs to submit at times, see `read_schedules`; each time is submitted once,
            however many workers have the schedule.
        told: called with a run each time it has ended, or waits for approval.

    Attributes:
        store: the store.

    Raises:
        ArgumentError: an argument is of a wrong type.
        ConfigurationError: the store is not on Postgres, or Procrastinate is not installed.
        StoreError: the store cannot be reached.
    """

    def __init__(
        self,
        store: str,
        library: LibraryLike = None,
        *,
        match: Match = "full",
        at_once: int = 8,
        grace: float = 30.0,
        limits: Mapping[str, SharedLimit | None] | None = None,
        schedules: Iterable[Schedule] = (),
        told: Callable[[RunRow], None] | None = None,
    ) -> None:
        expect(store, str, "store", by="Worker")
        expect(match, str, "match", by="Worker")
        expect(at_once, int, "at_once", by="Worker")
        expect(grace, (int, float), "grace", by="Worker")
        if limits is not None:
            expect_limits(limits, by="Worker")
        schedules = expect_all(schedules, Schedule, "schedules", by="Worker")
        expect(told, (Callable, type(None)), "told", by="Worker")
        if at_once < 1:
            raise ConfigurationError(f"at_once must be at least 1, found {at_once}")
        if grace < 0:
            raise ConfigurationError(f"grace must not be negative, found {grace}")
        self._library = library_of(library, by="Worker")
        self._match: Match = match
        self._at_once = at_once
        self._grace = grace
        self._limits: dict[str, SharedLimit | None] = dict(limits or {})
        self.store: Final = open_store(store)
        self._address = postgres_of(self.store).address
        self._database = PostgresDatabase(self._address)  # a connection beside that of the store
        self._queue = RunQueue(self._database)
        self._name = f"{socket.gethostname()}/{os.getpid()}/{os.urandom(3).hex()}"
        self._schedules = tuple(schedules)
        self._submitted_until: float | None = None
        self._ahead = 0.0  # seconds that the clock here is ahead of the database's
        self._channel = f"gram_worker_{os.urandom(8).hex()}"
        self._queues = [_NONE]  # Procrastinate looks into it for each job
        self._leaves: dict[str, str] = {}
        self._known = 0
        self._unjudged: set[str] = set()
        ours = RunQueue(postgres_of(self.store))
        self._driver = Driver(self.store, ours, self._library, match, told or (lambda _: None))
        self._driving: set[asyncio.Task[Any]] = set()
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told = asyncio.Event()
        self._ends_at = inf
        self._refused: Exception | None = None
        self._is_stopping = False

    def work(self) -> None:
        """Take runs until SIGTERM or SIGINT, then end what is under way within the grace.

        A second signal ends the grace. What has not ended five seconds after it, such as because
        the database does not answer, is left behind as by a crash.

        Raises:
            StoreError: the database refuses what workers need.
        """
        self._ends_at = inf
        if not until_told(lambda: asyncio.run(self.awork()), self.stop, lambda: self._ends_at):
            LOGGER.warning("did not end in time: others go on with its runs in some seconds")

    async def awork(self) -> None:
        """Take runs until `stop` is called, or this is cancelled; signals are the caller's."""
        self._loop, self._told = asyncio.get_running_loop(), asyncio.Event()
        self._loop.set_exception_handler(_log_lost_jobs)
        pause = _PAUSE
        try:
            while not self._is_stopping:
                began = monotonic()
                await self._work_once()
                if monotonic() - began > _LONGEST_PAUSE:
                    pause = _PAUSE
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._told.wait(), pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
        finally:
            self._loop, self._is_stopping = None, False
            with suppress(StoreError):
                self._queue.left(self._name)
            self._database.close()
            self.store.close()

    def stop(self) -> None:
        """Take no more runs, and end what is under way within the grace; now, if called again.

        It may be called in any thread, and where a signal is handled.
        """
        is_again, self._is_stopping = self._is_stopping, True
        self._ends_at = monotonic() + (0.0 if is_again else self._grace) + _TO_CLOSE
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._stop_now, is_again)

    def _stop_now(self, is_again: bool) -> None:
        self._told.set()
        if self._task is not None:
            self._task.cancel()
        for task in self._driving if is_again else ():
            task.cancel()

    # --- work

    async def _work_once(self) -> None:
        """Work until this worker is told to stop, or the database fails it.

        Raises:
            StoreError: the database refuses what workers need.
        """
        self._task = asyncio.create_task(self._work())
        try:
            await self._task
        except asyncio.CancelledError:
            if not self._is_stopping and self._refused is None:
                raise
        except Exception as error:  # noqa: BLE001  # the database is gone, in many ways
            self._look_at(error)
            LOGGER.warning("starts again: %s", redact_error(said_by(error)))
        if self._refused is not None:
            raise refusal(self.store.name, self._refused) from self._refused

    def _look_at(self, error: Exception) -> None:
        """End this worker if the database refuses something, as it would again."""
        if stays(error):
            self._refused = error
            self._told.set()
            if self._task is not None:
                self._task.cancel()

    async def _work(self) -> None:
        import procrastinate
        from psycopg_pool import AsyncConnectionPool

        from .jobs import Again, Connector  # an extra

        pool: AsyncConnectionPool[Any]
        async with AsyncConnectionPool(
            self._address,
            min_size=1,
            max_size=4 + self._at_once // 4,
            open=False,
            kwargs={"prepare_threshold": None},  # a pooler may forget what is prepared
            check=AsyncConnectionPool.check_connection,
        ) as pool:
            await pool.wait()
            limits = SharedLimits(pool, self._name)
            await limits.begin()
            app = procrastinate.App(connector=Connector(self._channel))

            @app.task(name=GO_ON, retry=Again(self._now))
            async def go_on(run: str) -> None:
                task = asyncio.current_task()
                assert task is not None
                self._driving.add(task)
                try:
                    await self._driver.go_on(run, limits)
                except Exception as error:
                    self._look_at(error)
                    raise
                finally:
                    self._driving.discard(task)

            async with app.open_async(pool):
                if self._limits:  # once, so that what is set later stays
                    await call_in_thread(lambda: set_shared_limits(self.store, self._limits))
                    self._limits = {}
                await call_in_thread(self._look)
                looking = asyncio.create_task(self._keep_looking(app))
                try:
                    await app.run_worker_async(
                        queues=self._queues,
                        name=self._name,
                        concurrency=self._at_once,
                        shutdown_graceful_timeout=self._grace,
                        delete_jobs="always",
                        install_signal_handlers=False,
                        update_heartbeat_interval=SEEN / 3,
                        stalled_worker_timeout=SEEN,
                    )
                finally:
                    while not looking.done():  # a call that ends right then hides a cancellation
                        looking.cancel()
                        await asyncio.wait({looking}, timeout=_PAUSE)

    async def _keep_looking(self, app: procrastinate.App) -> None:
        """Take part in what all workers do beside the jobs."""
        loop = asyncio.get_running_loop()
        next_for_lost = 0.0
        while True:
            await asyncio.sleep(_LOOK)
            try:
                stalled = await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=SEEN)
                await self._remove(app, stalled)
                await call_in_thread(self._look)  # puts in jobs for those that were removed, too
                began = loop.time()
                if began > next_for_lost:
                    await call_in_thread(self._look_for_lost)
                    took = loop.time() - began
                    next_for_lost = loop.time() + max(2 * _LOOK, _SLOWLY * took)
            except Exception as error:  # noqa: BLE001  # the database is gone, in many ways
                self._look_at(error)
                LOGGER.warning("could not look: %s", redact_error(said_by(error)))

    def _look(self) -> None:
        """Say that this worker lives, learn of queues, and find runs that are due or were left."""
        found = self._queue.queues(self._known, self._unjudged)
        for number, name, run in found:
            self._known = max(self._known, number)
            self._unjudged.add(name)
            if run is not None and (state := self._begun(run)):
                self._unjudged.discard(name)
                if reason := why_not(state, self._library, self._match):
                    self._leaves[name] = reason
                    LOGGER.info("leaves runs such as %s to others: %s", run, reason)
                else:
                    self._queues.append(name)
                    self._queue.tell(self._channel)
        now = self._queue.seen(self._name, self._channel, self._queues, self._leaves)
        self._ahead = time() - now
        self._queue.put(self._queue.without_jobs(begun=True))
        submit_due(self._schedules, self.store, self._submitted_until, now)
        self._submitted_until = now

    def _now(self) -> datetime:
        """The time by the clock of the database, which is the same for all workers."""
        return datetime.fromtimestamp(time() - self._ahead, UTC)

    def _look_for_lost(self) -> None:
        """Find runs that were submitted, and have no job."""
        self._queue.remove_ended()
        for run in self._queue.without_jobs(begun=False):
            if self._queue.is_work(run):
                self._queue.put([run])
            elif state := self._begun(run):
                self._queue.add(run, queue_of(state), None)

    def _begun(self, run: str) -> State | None:
        """A run as it begins; one that cannot be read has failed, since no worker would take it."""
        try:
            return self.store.recorded(run).first
        except Exception as error:
            if is_of_database(error):
                raise
            reason = reason_of(error)
            LOGGER.warning("cannot read run %s: %s", run, reason)
        try:
            self._driver.end(run, reason)
        except RunTakenError:
            return None
        except StoreError as error:  # nothing is left of it but its name
            if is_of_database(error):
                raise
        self._queue.ended(run)
        return None

    async def _remove(self, app: procrastinate.App, stalled: Iterable[Job]) -> None:
        """Remove the jobs of workers that died; their runs get new ones."""
        import procrastinate

        for job in stalled:
            if job.id is not None:
                with suppress(procrastinate.exceptions.ConnectorException):  # another has done it
                    await app.job_manager.finish_job_by_id_async(
                        job.id, procrastinate.jobs.Status.FAILED, delete_job=True
                    )


def _log_lost_jobs(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log that others were given the job of a worker that was not heard of meanwhile."""
    from procrastinate.exceptions import ConnectorException

    error = context.get("exception")
    if isinstance(error, ConnectorException):
        LOGGER.info("the end of a job could not be written: %s", error.__cause__ or error)
    else:
        loop.default_exception_handler(context)
