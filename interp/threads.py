"""Run calls with a timeout, in daemon threads that are abandoned when it expires.

The threads come from one pool. They are used again, and end when they have been idle for a while
or when the process ends: the standard pools wait for theirs. At most `MOST_THREADS` calls run at
once; others wait for a thread, which counts for the time of a run and not for that of a tool. Two
kinds of calls never wait and do not count: those from inside a thread of the pool, which might
wait for each other for ever, and those that were abandoned.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections import deque
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
)
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from queue import Empty, Queue, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")
Item = TypeVar("Item")

MOST_THREADS: Final = 100
"""How many calls the pool runs at once."""

_IDLE = 5.0  # seconds after which an unused thread ends
_GRACE = 0.05  # seconds in which what is stopped may still end
_SLICE = 0.2  # seconds
_BUFFERED = 16  # items of a stream that are ahead of its reader


class TookTooLongError(TimeoutError):
    """A call did not end in its time."""


class EndedMeanwhileError(BaseException):
    """A call was interrupted and ended all the same; the interrupt is the cause.

    Attributes:
        result: what the call returned.
    """

    def __init__(self, result: Any) -> None:
        super().__init__(result)
        self.result = result


class _ReaderStoppedError(BaseException):
    """Raised where a stream gives its next item, when nobody reads it any more."""


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
        """What happens inside does not count, such as a person's thinking."""
        self._stopped_at = monotonic()
        try:
            yield
        finally:
            if self._end is not None:
                self._end += monotonic() - self._stopped_at
            self._stopped_at = None


def least(*clocks: Clock) -> float | None:
    """The seconds until the first of some clocks runs out; None when none of them does."""
    return min((left for each in clocks if (left := each.left) is not None), default=None)


# --- the pool

_Outcome: TypeAlias = tuple[Any, BaseException | None]

_inside: ContextVar[_Call | None] = ContextVar("_inside", default=None)
"""The call of the pool that this code runs in, or None."""

_clock_within: ContextVar[Clock | None] = ContextVar("_clock_within", default=None)
"""The clock of `within`, which stands still while a call waits for a thread."""


class _Call:
    """One call: made in the context of the caller, in whatever thread is free.

    Args:
        function: what is called.
        tell: called when a call that had to wait begins, and when a call has ended.
        counts: whether it counts for `MOST_THREADS`, and may have to wait.
    """

    def __init__(
        self, function: Callable[[], Any], tell: Callable[[], None], *, counts: bool = True
    ) -> None:
        self.function: Callable[[], Any] | None = function
        self.context = contextvars.copy_context()
        self.tell = tell
        self.counts = counts and _inside.get() is None
        self.has_begun = False
        self.outcome: _Outcome | None = None
        self.when_abandoned: list[Callable[[], object]] = []

    def run(self) -> None:
        function, self.function = self.function, None
        self.outcome = self.context.run(self._outcome_of, function)

    def _outcome_of(self, function: Any) -> _Outcome:
        _inside.set(self)
        return _outcome(function)


class _Pool:
    """Threads that run calls, and the calls that wait for one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[_Call]] = []
        self._waiting: deque[_Call] = deque()
        self._busy = 0

    def submit(self, call: _Call) -> None:
        """Run a call as soon as there is a thread for it."""
        with self._lock:
            if call.counts and self._busy >= MOST_THREADS:
                self._waiting.append(call)
            else:
                self._begin(call)

    def abandon(self, call: _Call) -> None:
        """Leave a call behind that has not ended: it no longer counts."""
        with self._lock:
            if call.outcome is not None:
                return
            if call.has_begun:
                self._ended(call)
            elif call in self._waiting:
                self._waiting.remove(call)
        for function in call.when_abandoned:
            function()

    def _begin(self, call: _Call) -> None:
        call.has_begun = True
        self._busy += call.counts
        if self._idle:
            self._idle.pop().put(call)
        else:
            threading.Thread(target=self._work, args=(call,), daemon=True).start()

    def _ended(self, call: _Call) -> None:
        """Count a call no longer, and begin one that waits."""
        if call.counts:
            call.counts = False
            self._busy -= 1
            if self._waiting:
                next_one = self._waiting.popleft()
                self._begin(next_one)
                next_one.tell()

    def _work(self, call: _Call) -> None:
        """Run one call after another; end when there was none for a while."""
        calls: SimpleQueue[_Call] = SimpleQueue()
        while True:
            call.run()
            with self._lock:
                self._idle.append(calls)
                self._ended(call)
            call.tell()
            del call  # nothing is kept while it waits
            try:
                call = calls.get(timeout=_IDLE)
            except Empty:
                with self._lock:
                    if calls in self._idle:
                        self._idle.remove(calls)
                        return
                call = calls.get()


_pool = _Pool()


def _forget_threads() -> None:
    """Begin with an empty pool: a process that was forked has none of its parent's threads."""
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def _outcome(function: Callable[[], Any]) -> _Outcome:
    """How a call ended, to be carried to the thread that waits and raised there."""
    try:
        return function(), None
    except BaseException as error:  # noqa: BLE001  # raised again where it is waited for
        return None, error


def _result(outcome: _Outcome) -> Any:
    result, error = outcome
    if error is None:
        return result
    try:
        raise error
    finally:
        del outcome, error  # else the error would hold this frame, and the frame the error


def when_abandoned(function: Callable[[], object]) -> None:
    """Have a function called if the call of the pool that this code runs in is abandoned."""
    if (call := _inside.get()) is not None:
        call.when_abandoned.append(function)


def in_thread(function: Callable[[], T], seconds: float | None, run: Clock) -> T:
    """Call a function in a thread of the pool, in the context of the caller, and wait for it.

    Args:
        function: what is called.
        seconds: how long it may take once it has a thread; None for as long as it needs.
        run: how long to wait at most, for the thread too.

    Raises:
        TookTooLongError: it did not end in time, and was abandoned.
        EndedMeanwhileError: the caller was interrupted, as by Ctrl-C, and the call has ended.
    """
    changed: SimpleQueue[None] = SimpleQueue()
    call = _Call(function, lambda: changed.put(None))
    _pool.submit(call)
    try:
        if not call.has_begun:
            _get(changed, run.left)
        clock = Clock(seconds)
        while call.outcome is None:
            _get(changed, least(clock, run))
    except Empty:
        _pool.abandon(call)
        raise TookTooLongError from None
    except BaseException as interrupt:
        with suppress(Empty):
            while call.outcome is None:
                _get(changed, _GRACE)
        if call.outcome is None or call.outcome[1] is not None:
            _pool.abandon(call)
            raise
        raise EndedMeanwhileError(call.outcome[0]) from interrupt
    found: T = _result(call.outcome)
    return found


def _get(queue: SimpleQueue[T] | Queue[T], seconds: float | None) -> T:
    """The next item of a queue, waited for in slices.

    A Ctrl-C that comes just before a wait begins does not interrupt it.

    Raises:
        Empty: none came in time.
    """
    clock = Clock(seconds)
    while True:
        left = clock.left
        try:
            return queue.get(timeout=_SLICE if left is None else min(left, _SLICE))
        except Empty:
            if clock.left == 0:
                raise


async def call_in_thread(function: Callable[[], T]) -> T:
    """Call a function in a thread of the pool, in the context of the caller.

    The clock of `within` stands still while there is no thread for it. A cancellation abandons
    the call, unless it ends right then.
    """
    import asyncio  # imported where it is used: it takes longer than a short program

    changed = asyncio.Event()
    call = _Call(function, _setting(changed))
    _pool.submit(call)
    try:
        clock = _clock_within.get()
        if not call.has_begun and clock is not None:
            with clock.standing_still():
                await changed.wait()
        while call.outcome is None:
            changed.clear()
            if call.outcome is None:
                await changed.wait()
    except asyncio.CancelledError:
        with suppress(TimeoutError):
            while call.outcome is None and call.has_begun:
                changed.clear()
                await asyncio.wait_for(changed.wait(), _GRACE)
        if call.outcome is None:
            raise
    finally:
        _pool.abandon(call)
    found: T = _result(call.outcome)
    return found


def _setting(changed: asyncio.Event) -> Callable[[], None]:
    """A function that sets an event of this loop from any thread."""
    import asyncio

    loop = asyncio.get_running_loop()

    def tell() -> None:
        with suppress(RuntimeError):  # the loop has ended meanwhile: nobody waits
            loop.call_soon_threadsafe(changed.set)

    return tell


# --- streams


class _Stream:
    """What a function gives while it runs in one thread, at most so many items ahead of the reader.

    Args:
        produce: the function; it gets a function to give items with, which waits while the reader
            is far behind and raises when the reader has stopped.
        tell: called when there is something to read.
        counts: whether it counts for `MOST_THREADS`.
    """

    def __init__(
        self, produce: Callable[[Callable[[Any], None]], Any], tell: Callable[[], None],
        *, counts: bool,
    ) -> None:  # fmt: skip
        self.items: Queue[tuple[Any, _Outcome | None]] = Queue(_BUFFERED)
        self._has_stopped = False
        self._tell = tell
        self._call = _Call(lambda: self._work(produce), tell, counts=counts)
        _pool.submit(self._call)

    def stop(self) -> None:
        """Read no more: the function is told when it gives its next item."""
        self._has_stopped = True
        with suppress(Empty):
            while True:  # it may be waiting for room
                self.items.get_nowait()
        _pool.abandon(self._call)

    def _work(self, produce: Callable[[Callable[[Any], None]], Any]) -> None:
        outcome = _outcome(lambda: produce(lambda item: self._give(item, None)))
        with suppress(_ReaderStoppedError):
            self._give(None, outcome)

    def _give(self, item: Any, outcome: _Outcome | None) -> None:
        if self._has_stopped:
            raise _ReaderStoppedError
        self.items.put((item, outcome))
        self._tell()


def read_from_thread(
    produce: Callable[[Callable[[Item], None]], T], run: Clock
) -> Generator[Item, None, T]:
    """Yield the items that a function gives while it runs, in one thread and context of its own.

    The function gets one argument: a function to give items with. That waits while the reader is
    far behind, and raises when the reader has stopped. The thread does not count for the pool,
    since a reader may pause for ever.

    Returns:
        What the function returns.

    Raises:
        TookTooLongError: the time of the run is up.
        EndedMeanwhileError: the reader was interrupted, as by Ctrl-C, and the function has ended.
    """
    stream = _Stream(produce, lambda: None, counts=False)
    try:
        while True:
            item, outcome = _get(stream.items, run.left)
            if outcome is not None:
                found: T = _result(outcome)
                return found
            yield item
    except Empty:
        raise TookTooLongError from None
    except KeyboardInterrupt as interrupt:
        with suppress(Empty):
            while True:
                _, outcome = stream.items.get_nowait()
                if outcome is not None and outcome[1] is None:
                    raise EndedMeanwhileError(outcome[0]) from interrupt
        raise
    finally:
        stream.stop()


async def iterate_in_thread(iterate: Callable[[], Iterator[Item]]) -> AsyncGenerator[Item, None]:
    """Yield what an iterator gives that blocks; one thread of the pool runs it from end to end.

    When the reader stops, the iterator is closed in its thread.
    """
    import asyncio

    def produce(give: Callable[[Item], None]) -> None:
        items = iterate()
        try:
            for item in items:
                give(item)
        finally:
            if isinstance(items, Generator):
                items.close()

    changed = asyncio.Event()
    stream = _Stream(produce, _setting(changed), counts=True)
    try:
        while True:
            changed.clear()
            try:
                item, outcome = stream.items.get_nowait()
            except Empty:
                await changed.wait()
                continue
            if outcome is not None:
                _result(outcome)
                return
            yield item
    finally:
        stream.stop()


# --- tasks


async def within(awaitable: Awaitable[T], seconds: float | None) -> T:
    """Await something for a time, which stands still while it waits for a thread of the pool.

    Raises:
        TookTooLongError: it did not end in time. It was cancelled, and is left behind if it does
            not let itself be cancelled.
    """
    import asyncio

    clock = Clock(seconds)
    token = _clock_within.set(clock)
    task = asyncio.ensure_future(awaitable)
    _clock_within.reset(token)
    try:
        while not task.done() and (clock.left != 0 or clock.stands_still):
            left = clock.left
            await asyncio.wait([task], timeout=left and max(left, _GRACE * clock.stands_still))
        await stopped([task], _GRACE)
    except asyncio.CancelledError:
        await stopped([task], _GRACE)
        if not task.done() or task.cancelled() or task.exception() is not None:
            raise
    if not task.done() or task.cancelled():
        raise TookTooLongError
    return task.result()


async def stopped(tasks: Iterable[asyncio.Future[Any]], seconds: float) -> None:
    """Cancel the tasks that are not done, and give them a little time to clean up."""
    import asyncio

    running = [task for task in tasks if not task.done()]
    for task in running:
        task.add_done_callback(_look_at_error)
        task.cancel()
    if running:
        await asyncio.wait(running, timeout=seconds)


def _look_at_error(task: asyncio.Future[Any]) -> None:
    """Asyncio complains of errors that nobody looked at, such as those of what was left behind."""
    if not task.cancelled():
        task.exception()
