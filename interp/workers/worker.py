"""A worker: it takes runs from the queue of a store, and drives them to their ends."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from gram.errors import expect, expect_all
from lenses_ext.schemas import Match

from ..concurrency import call_in_thread
from ..errors import ConfigurationError
from ..execution import Telemetry, log_fields
from ..history.stores import Address, PostgresDatabase, open_store
from ..tools import LibraryLike, expect_match, library_of
from .database_errors import in_words, is_of_database, log_event, refusal, stays
from .driving import Driver
from .limits import SharedLimits
from .looking import Looks, WorkerMetrics
from .queue import GO_ON, LOOK, SEEN, LaterError, RunQueue, expect_procrastinate
from .submission import Schedule

if TYPE_CHECKING:
    import procrastinate

_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 30.0
"""Seconds until it starts again after the database failed it; each time twice as long."""
_TO_CLOSE: Final = 5.0
"""Seconds that it has after the grace, to leave its runs to others."""


class Worker:
    """Takes the runs of a store whose tools it has, and drives them to their ends.

    Several workers, on any machines, share the work: each run is driven by one at a time. When one
    is killed, others go on with its runs, from what is recorded of them.

    Args:
        store: the address of a store on Postgres.
        tools: the implementations of tools. Runs that need others are left to other workers.
        match: how closely tools have to match, see `bind_tool`.
        at_once: how many runs it drives at once.
        grace: how many seconds runs may still take when it is told to stop; others take them then.
        schedules: runs to submit at times, see `read_schedules`; each time is submitted once,
            however many workers have the schedule.
        telemetry: makes spans and metrics of its runs.

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
        tools: LibraryLike = None,
        *,
        match: Match = "full",
        at_once: int = 8,
        grace: float = 30.0,
        schedules: Iterable[Schedule] = (),
        telemetry: Telemetry | None = None,
    ) -> None:
        expect(store, str, "store", by="Worker")
        expect(match, str, "match", by="Worker")
        expect_match(match)
        expect(at_once, int, "at_once", by="Worker")
        expect(grace, (int, float), "grace", by="Worker")
        schedules = expect_all(schedules, Schedule, "schedules", by="Worker")
        expect(telemetry, (Telemetry, type(None)), "telemetry", by="Worker")
        if at_once < 1:
            raise ConfigurationError(f"at_once must be at least 1, found {at_once}")
        if grace < 0:
            raise ConfigurationError(f"grace must not be negative, found {grace}")
        self._tools = library_of(tools, by="Worker")
        self._at_once = at_once
        self._grace = grace
        if Address.of(store).is_database:
            expect_procrastinate()  # before psycopg is missed, which comes with it
        self.store: Final = open_store(store)
        self._queue = RunQueue.of(self.store)
        self._name = f"{socket.gethostname()}/{os.getpid()}/{os.urandom(3).hex()}"

        def connection() -> PostgresDatabase:
            return PostgresDatabase(self._queue.database.address)

        shared = SharedLimits(connection(), self._name)
        metrics = WorkerMetrics(telemetry.meter, connection()) if telemetry else None
        self._driver = Driver(
            self.store, self._queue, self._tools, match, shared, telemetry, metrics
        )
        self._looks = Looks(self._name, self._driver, RunQueue(connection()), schedules)
        self._down_since: float | None = None
        self._driving: set[asyncio.Task[Any]] = set()
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()
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
            told = "did not end in time: others go on with its runs in some seconds"
            log_event("worker_left_behind", told, logging.WARNING, worker=self._name)

    async def awork(self) -> None:
        """Take runs until `stop` is called, or this is cancelled; signals are the caller's."""
        with log_fields(worker=self._name):
            tools = ", ".join(sorted(self._tools)) or "none"
            log_event("worker_started", f"takes runs of {self.store.name}; tools: {tools}")
            await self._work_until_told()
            log_event("worker_ended", "has ended")

    async def _work_until_told(self) -> None:
        self._loop, self._woken = asyncio.get_running_loop(), asyncio.Event()
        self._loop.set_exception_handler(_log_lost_jobs)
        pause = _PAUSE
        try:
            while not self._is_stopping:
                began = monotonic()
                self._task = asyncio.create_task(self._work())
                try:
                    await self._task
                except asyncio.CancelledError:
                    if not self._is_stopping and self._refused is None:
                        raise
                except Exception as error:  # noqa: BLE001  # the database is gone, in many ways
                    self._looked(error)
                if self._refused is not None:
                    raise refusal(self.store.name, self._refused) from self._refused
                if monotonic() - began > _LONGEST_PAUSE:
                    pause = _PAUSE
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._woken.wait(), pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
        finally:
            self._loop, self._is_stopping = None, False
            await call_in_thread(self._looks.end)
            await call_in_thread(self.store.close)

    def stop(self) -> None:
        """Take no more runs, and end what is under way within the grace; now, if called again.

        It may be called in any thread, and where a signal is handled.
        """
        is_again, self._is_stopping = self._is_stopping, True
        when = "now" if is_again else f"its runs have {self._grace:g} s"
        log_event("worker_stopping", f"is told to stop: {when}", worker=self._name)
        self._ends_at = monotonic() + (0.0 if is_again else self._grace) + _TO_CLOSE
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._stop_now, is_again)

    def _stop_now(self, is_again: bool) -> None:
        self._woken.set()
        if self._task is not None:
            self._task.cancel()
        for task in self._driving if is_again else ():
            task.cancel()

    async def _job(self, context: procrastinate.JobContext, run: str) -> None:
        task = asyncio.current_task()
        assert task is not None, "a job is a task"
        self._driving.add(task)
        try:
            await self._go_on(context.job.queue, run)
        except Exception as error:
            if is_of_database(error):  # and not of a run that was removed meanwhile
                self._looked(error)
            await asyncio.sleep(_PAUSE)
            raise
        finally:
            self._driving.discard(task)

    async def _go_on(self, queue: str, run: str) -> None:
        """Go on with a run, and put in its next job unless it has ended."""
        try:
            await self._driver.go_on(run)
        except LaterError as error:
            if error.is_elsewhere or error.held:
                self._looks.leave(queue, run, error)
            seconds = error.seconds
            log_event("run_waits", f"waits for {seconds:.0f} s: {error}", error.level, run=run)
            await call_in_thread(lambda: self._queue.put(run, seconds))

    def _looked(self, error: Exception | None) -> None:
        """Tell of outages once; end if the database refuses what it would refuse again."""
        name, since = self.store.name, self._down_since
        if error is None and since is not None:
            self._down_since = None
            told = f"{name} answers again, after {monotonic() - since:.0f} s"
            log_event("database_back", told, logging.WARNING)
        elif error is not None and stays(error):
            self._refused = error
            self._woken.set()
            if self._task is not None:
                self._task.cancel()
        elif error is not None and since is None:
            self._down_since = monotonic()
            said = in_words(error)
            told = said if said.startswith(name) else f"{name}: {said}"
            log_event("database_down", f"cannot work, and tries again: {told}", logging.WARNING)

    async def _work(self) -> None:
        import procrastinate
        from psycopg import AsyncConnection
        from psycopg_pool import AsyncConnectionPool

        from .jobs import AtOnce, Connector  # an extra

        address = self._queue.database.address
        async with await AsyncConnection.connect(address):
            pass  # the pool would not say why it cannot connect
        pool: AsyncConnectionPool[Any]
        async with AsyncConnectionPool(
            address,
            min_size=1,
            max_size=4,
            open=False,
            kwargs={"prepare_threshold": None},  # a pooler may forget what is prepared
            check=AsyncConnectionPool.check_connection,
        ) as pool:
            await pool.wait()
            app = procrastinate.App(connector=Connector(self._looks.channel))
            app.task(name=GO_ON, retry=AtOnce(), pass_context=True)(self._job)
            async with app.open_async(pool):
                await self._looks.look(app)
                self._looked(None)
                if self._is_stopping:  # a call that ends right then hides a cancellation
                    return
                looking = asyncio.create_task(self._looks.keep_on(app, self._looked))
                try:
                    await app.run_worker_async(
                        queues=self._looks.queues,
                        name=self._name,
                        concurrency=self._at_once,
                        shutdown_graceful_timeout=self._grace,
                        delete_jobs="always",
                        install_signal_handlers=False,
                        update_heartbeat_interval=LOOK,
                        fetch_job_polling_interval=LOOK,
                        stalled_worker_timeout=3 * SEEN,  # it starts again if it lives
                    )
                finally:
                    looking.cancel()
                    await asyncio.wait({looking})


def _log_lost_jobs(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log that others were given the job of a worker that was not heard of meanwhile."""
    from procrastinate.exceptions import ConnectorException

    error = context.get("exception")
    if isinstance(error, ConnectorException):
        log_event("job_lost", f"the end of a job could not be written: {in_words(error)}")
    else:
        loop.default_exception_handler(context)


def until_told(
    work: Callable[[], None], stop: Callable[[], None], end: Callable[[], float]
) -> bool:
    """Do some work in another thread, and tell it to stop at a signal; gives whether it is over.

    This thread only waits, so that it sees a signal, and the time, whatever the work waits for.

    Args:
        stop: called at SIGTERM and SIGINT; both stay ignored where they are.
        end: the time, as `monotonic` counts, after which this waits no more.
    """
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  # raised again where it is waited for
            raised.append(error)

    thread = threading.Thread(target=run, name="gram-worker", daemon=True)
    with _signals_call(stop):
        thread.start()
        while thread.is_alive() and monotonic() < end():
            thread.join(0.1)  # then looks at the time
    if raised:
        raise raised[0]
    return not thread.is_alive()


@contextmanager
def _signals_call(stop: Callable[[], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # others have no signals
        yield
        return
    told = (signal.SIGTERM, signal.SIGINT)
    taken = {each: old for each in told if (old := signal.getsignal(each)) is not signal.SIG_IGN}
    for each in taken:
        signal.signal(each, lambda *_: stop())
    try:
        yield
    finally:
        for each, old in taken.items():
            signal.signal(each, old or signal.SIG_DFL)
