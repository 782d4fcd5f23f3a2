"""Calling what may hang: in a thread that can be left behind, so that a run goes on and the
process can end.

The standard pools wait for their threads when the process ends; these are daemons.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Awaitable, Callable, Iterable
from contextlib import ExitStack, suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

_PATIENCE = 1.0  # seconds


class TookTooLongError(TimeoutError):
    """What was called did not end in the time it was given."""


_Outcome: TypeAlias = tuple[Any, BaseException | None]


class Worker:
    """A thread that does one thing after another, for a caller who waits only so long.

    It is started when it is first needed. One that does not answer in time is left behind: what
    it is doing goes on, and nobody hears of its end.
    """

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Any] | None = None

    def call(self, function: Callable[[], T], seconds: float) -> T:
        """What the function returns or raises.

        Raises:
            TookTooLongError: it did neither within the seconds.
        """
        if self._tasks is None:
            self._tasks = SimpleQueue()
            threading.Thread(target=_work, args=(self._tasks,), daemon=True).start()
        answer: SimpleQueue[_Outcome] = SimpleQueue()
        context = contextvars.copy_context()
        self._tasks.put((lambda: context.run(function), answer))
        try:
            with ExitStack() as too_late:
                too_late.callback(self.close)  # interrupted, too: the thread may be busy for long
                result, error = answer.get(timeout=min(seconds, threading.TIMEOUT_MAX))
                too_late.pop_all()
        except Empty:
            raise TookTooLongError from None
        if error is not None:
            raise error
        found: T = result
        return found

    def close(self) -> None:
        """Let the thread end when it has done what it is doing."""
        if self._tasks is not None:
            self._tasks.put(None)
            self._tasks = None


async def call_in_thread(function: Callable[[], T]) -> T:
    """What the function returns or raises, from a thread of its own that a cancellation leaves."""
    import asyncio

    loop = asyncio.get_running_loop()
    future: asyncio.Future[_Outcome] = loop.create_future()
    context = contextvars.copy_context()

    def settle(outcome: _Outcome) -> None:
        if not future.done():
            future.set_result(outcome)

    def work() -> None:
        outcome = _outcome(lambda: context.run(function))
        with suppress(RuntimeError):  # the loop has ended meanwhile: nobody waits
            loop.call_soon_threadsafe(settle, outcome)

    threading.Thread(target=work, daemon=True).start()
    result, error = await future
    if error is not None:
        raise error
    found: T = result
    return found


async def within(awaitable: Awaitable[T], seconds: float | None) -> T:
    """What is awaited.

    Raises:
        TookTooLongError: it did not come within the seconds. It is cancelled, and not waited for
            long, since it may not let itself be cancelled.
    """
    import asyncio

    task = asyncio.ensure_future(awaitable)
    try:
        await asyncio.wait([task], timeout=seconds)
        if task.done():
            return task.result()
        raise TookTooLongError
    finally:
        await cancelled([task])


async def cancelled(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Cancel what is not done, and give it a little time to clean up."""
    import asyncio

    running = [task for task in tasks if not task.done()]
    for task in running:
        task.add_done_callback(_look_at_error)
        task.cancel()
    if running:
        await asyncio.wait(running, timeout=_PATIENCE)


def _look_at_error(task: asyncio.Future[Any]) -> None:
    """Asyncio complains of errors that nobody looked at, such as those of what was left behind."""
    if not task.cancelled():
        task.exception()


def _work(tasks: SimpleQueue[Any]) -> None:
    while (task := tasks.get()) is not None:
        function, answer = task
        answer.put(_outcome(function))
        del task, function, answer  # nothing is kept while it waits


def _outcome(function: Callable[[], Any]) -> _Outcome:
    """How a call ended, to be carried to the thread that waits and raised there."""
    try:
        return function(), None
    except BaseException as error:  # noqa: BLE001  # raised again where it is waited for
        return None, error
