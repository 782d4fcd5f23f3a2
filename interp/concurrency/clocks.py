"""How long something may take: clocks, and waiting for tasks that may not end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from time import get_clock_info
from typing import Any, Final, TypeVar

T = TypeVar("T")
V = TypeVar("V")

GRACE: Final = 0.05
"""The seconds in which what is stopped may still end."""

_EARLY: Final = get_clock_info("monotonic").resolution  # seconds that a timer may go off before


class TookTooLongError(TimeoutError):
    """Something did not end in its time."""


class Clock:
    """Calls a function when a time is up. It can be stopped for a while, see `standing_still`.

    Args:
        seconds: how long the time is, from now on; None for no end.
        up: what is called then, in the event loop that runs.
    """

    def __init__(self, seconds: float | None, up: Callable[[], object]) -> None:
        self.loop, self._up = asyncio.get_running_loop(), up
        self._timer = None if seconds is None else self.loop.call_later(seconds, up)

    @property
    def is_up(self) -> bool:
        """Whether the time is up."""
        return self._timer is not None and self._timer.when() < self.loop.time() + _EARLY

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """The time spent inside does not count, such as the time a person thinks."""
        timer = None if self.is_up else self._timer  # what was called is not called again
        if timer is not None:
            left = timer.when() - self.loop.time()
            timer.cancel()
            self._timer = None
        try:
            yield
        finally:
            if timer is not None:
                self._timer = self.loop.call_later(left, self._up)

    def stop(self) -> None:
        """Call nothing any more."""
        self._up = lambda: None  # a timer that `standing_still` makes later calls this
        if self._timer is not None:
            self._timer.cancel()


@contextmanager
def setting(variable: ContextVar[V], value: V) -> Iterator[None]:
    """Inside, a context variable has a value."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


_clock_within: ContextVar[Clock | None] = ContextVar("_clock_within", default=None)


async def within(awaitable: Awaitable[T], seconds: float) -> T:
    """Await something for a time. The time that a call of it waits for a thread does not count.

    Raises:
        TookTooLongError: it did not end in time, and was cancelled.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(None) as limit:
            clock = Clock(seconds, lambda: limit.reschedule(loop.time()))
            try:
                with setting(_clock_within, clock):
                    return await awaitable
            finally:
                clock.stop()
    except TimeoutError:
        if limit.expired():
            raise TookTooLongError("it took too long") from None
        raise


@contextmanager
def not_counting() -> Iterator[None]:
    """Stops the clock of `within`, of any loop, while a call waits for a thread."""
    clock = _clock_within.get()
    if clock is None:
        yield
        return
    still = clock.standing_still()
    with suppress(RuntimeError):  # its loop has ended, and so have those that wait in it
        clock.loop.call_soon_threadsafe(still.__enter__)
    try:
        yield
    finally:
        with suppress(RuntimeError):
            clock.loop.call_soon_threadsafe(still.__exit__, None, None, None)


async def stopped(tasks: Iterable[asyncio.Future[Any]], seconds: float) -> None:
    """Cancel the tasks that are not done, and give them a little time to clean up."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.add_done_callback(look_at_error)
        task.cancel()
    if running:
        await asyncio.wait(running, timeout=seconds)


async def wait_or_leave(
    ended: asyncio.Future[Any],
    cancel: Callable[[], object] = lambda: None,
    *,
    is_here: bool = False,
) -> None:
    """Wait for what is under way; cancelled, leave it behind unless it ends right then.

    Args:
        ended: done when it has ended.
        cancel: hands on that the task which waits for it is cancelled.
        is_here: whether it goes on in this loop, and is left behind only where its time is up: who
            has cancelled it knows how long to wait.
    """
    told = asyncio.get_running_loop().create_future()  # half the cost of `asyncio.wait`

    def tell(_: object) -> None:
        if not told.done():
            told.set_result(None)

    ended.add_done_callback(tell)
    try:
        await told
    except asyncio.CancelledError:
        ended.add_done_callback(look_at_error)
        cancel()
        clock = _clock_within.get()
        is_late = not is_here or (clock is not None and clock.is_up)
        await asyncio.wait([ended], timeout=GRACE if is_late else None)
        if not ended.done() or ended.cancelled():
            raise


async def to_its_end(awaitable: Awaitable[T]) -> T:
    """Await something to its end, also where the task that awaits it is cancelled meanwhile.

    The cancellation is raised when it has ended.
    """
    task = asyncio.ensure_future(awaitable)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        look_at_error(task)
        raise cancelled
    return task.result()


def look_at_error(task: asyncio.Future[Any]) -> None:
    """Look at the error of a task that is done, since asyncio complains of those nobody saw."""
    if not task.cancelled():
        task.exception()
