"""How long something may take: clocks, and waiting for tasks that may not end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any, Final, TypeVar

T = TypeVar("T")

GRACE: Final = 0.05
"""The seconds in which what is stopped may still end."""


class TookTooLongError(TimeoutError):
    """Something did not end in its time."""


class Clock:
    """How much time something has left.

    Args:
        seconds: how long it may take; None for as long as it needs.
    """

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else monotonic() + seconds
        self._stopped_at: float | None = None

    @property
    def left(self) -> float | None:
        """The seconds left, at least 0; None when there is no limit."""
        if self._end is None:
            return None
        return max(0.0, self._end - (self._stopped_at or monotonic()))

    @property
    def stands_still(self) -> bool:
        """Whether the time does not count now."""
        return self._stopped_at is not None

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """The time spent inside does not count, such as the time a person thinks."""
        stopped_at = self._stopped_at = monotonic()
        try:
            yield
        finally:
            if self._end is not None:
                self._end += monotonic() - stopped_at
            self._stopped_at = None


clock_within: ContextVar[Clock | None] = ContextVar("clock_within", default=None)
"""The clock of `within`, which stands still while a call waits for a thread."""


async def within(awaitable: Awaitable[T], seconds: float | None) -> T:
    """Await something for a time. The time that a call of it waits for a thread does not count.

    Raises:
        TookTooLongError: it did not end in time. It was cancelled, and is left behind if it does
            not let itself be cancelled.
    """
    clock = Clock(seconds)
    token = clock_within.set(clock)
    task = asyncio.ensure_future(awaitable)
    clock_within.reset(token)
    try:
        while not task.done() and (clock.left != 0 or clock.stands_still):
            left = clock.left
            await asyncio.wait([task], timeout=left and max(left, GRACE * clock.stands_still))
        await stopped([task], GRACE)
    except asyncio.CancelledError:
        await stopped([task], GRACE)
        if not task.done() or task.cancelled() or task.exception() is not None:
            raise
    if not task.done() or task.cancelled():
        raise TookTooLongError("it took too long")
    return task.result()


async def stopped(tasks: Iterable[asyncio.Future[Any]], seconds: float) -> None:
    """Cancel the tasks that are not done, and give them a little time to clean up."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.add_done_callback(look_at_error)
        task.cancel()
    if running:
        await asyncio.wait(running, timeout=seconds)


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
