"""Run functions in daemon threads, with a timeout after which they are abandoned.

`_Work` is a function in a thread and what it gives to its one reader. `in_thread` and
`read_from_thread` block while they read it, `call_in_thread` and `iterate_in_thread` do not.
Threads are used again. Unlike those of ``concurrent.futures`` they end with the process.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import closing, nullcontext, suppress
from contextvars import ContextVar
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeAlias, TypeVar

from .clocks import GRACE, Clock, TimeLimit, TookTooLongError, clock_within, least

T = TypeVar("T")
Item = TypeVar("Item")

MOST_THREADS: Final = 100
"""How many calls of coroutines run at once; others wait for their turn."""

_MOST_IDLE = 8  # threads that are kept for other work
_FIRST_SLICE = 0.01  # seconds
_SLICE = 0.2  # seconds
_BUFFERED = 16  # items that a function may be ahead of its reader

_Give: TypeAlias = Callable[[Any], None]
_Outcome: TypeAlias = tuple[Any, BaseException | None]


class _ReaderStoppedError(BaseException):
    """Raised in a function that gives an item when nobody reads it any more."""


class _Work:
    """A function that runs in a thread, in the context of the caller, and what it gives.

    Args:
        function: it gets a function to give items with, which waits while the reader is far
            behind and raises when the reader has stopped.
        may_drop: that function drops items in place of waiting and raising.
    """

    def __init__(self, function: Callable[[_Give], Any], *, may_drop: bool = False) -> None:
        self._function = function
        self._may_drop = may_drop
        self._context = contextvars.copy_context()
        self._context.run(_inside.set, self)
        self._entries: SimpleQueue[tuple[Any, _Outcome | None]] = SimpleQueue()
        self._room: threading.Semaphore | None = None  # made where items are given
        self._outcome: _Outcome | None = None
        self._is_abandoned = False
        self.is_awaited = True
        self.has_begun = False
        self.when_abandoned: list[Callable[[], object]] = []

    def tell(self) -> None:
        """Called when there is something to read."""

    def begin(self) -> None:
        """Run the function in an idle thread, or in a new one."""
        self.has_begun = True
        try:
            _idle.pop().put(self)
        except IndexError:
            given: SimpleQueue[_Work] = SimpleQueue()
            given.put(self)  # a thread keeps its arguments as long as it lives
            threading.Thread(target=_serve, args=(given,), daemon=True).start()

    def run(self) -> None:
        """Run the function to its end; called in the thread."""
        context, function = self._context, self._function
        del self._context, self._function  # the context holds this work: a cycle is garbage later
        try:
            give = self._offer if self._may_drop else self._give
            self._outcome = context.run(function, give), None
        except BaseException as error:  # noqa: BLE001  # raised again where it is waited for
            self._outcome = None, error

    def _give(self, item: Any) -> None:
        if self._room is None:
            self._room = threading.Semaphore(_BUFFERED)
        self._room.acquire()
        if self._is_abandoned:
            self._room.release()
            raise _ReaderStoppedError
        self._entries.put((item, None))
        self.tell()

    def _offer(self, item: Any) -> None:
        """Give an item unless the reader is far behind; from any thread, without waiting."""
        if not self._is_abandoned and self._entries.qsize() < _BUFFERED:
            self._entries.put((item, None))
            self.tell()

    def end(self) -> None:
        """Tell the reader how the function has ended."""
        self._entries.put((None, self._outcome))
        self.tell()

    def abandon(self) -> None:
        """Stop reading. A function that has not ended is told when it gives its next item."""
        self.is_awaited = False
        if self._outcome is None:
            self._is_abandoned = True
            if self._room:
                self._room.release()
            for function in self.when_abandoned:
                function()

    def entry(self, seconds: float) -> tuple[Any, _Outcome | None]:
        """The next item, or how the function has ended.

        Raises:
            Empty: nothing has come in so many seconds.
        """
        entry = self._entries.get(timeout=seconds)
        if self._room:
            self._room.release()
        return entry

    def read(self, *clocks: TimeLimit) -> tuple[Any, _Outcome | None]:
        """The next entry, waited for until one of the clocks runs out.

        Raises:
            TookTooLongError: none came in time.
        """
        seconds = _FIRST_SLICE  # whoever has begun the work waits at once, and gives Python's lock
        while True:  # in slices: a Ctrl-C that comes just before a wait does not interrupt it
            try:
                return self.entry(seconds)
            except Empty:
                if seconds == 0:
                    self.abandon()
                    raise TookTooLongError from None
            left = least(*clocks)
            seconds = _SLICE if left is None else min(left, _SLICE)

    def stop(self) -> None:
        """Abandon it, unless it ends within a moment: the reader was interrupted."""
        self.is_awaited = False
        grace = Clock(GRACE)
        try:
            with suppress(TookTooLongError):
                while self._outcome is None:
                    self.read(grace)
        finally:
            self.abandon()


_inside: ContextVar[_Work | None] = ContextVar("_inside", default=None)
"""The work that this code is part of, or None."""


_idle: list[SimpleQueue[_Work]] = []
"""Where threads that have nothing to do wait for work."""


def _serve(given: SimpleQueue[_Work]) -> None:
    """Do one given work after another; end when enough other threads are idle."""
    while True:
        work = given.get()
        work.run()
        is_kept = len(_idle) < _MOST_IDLE
        if is_kept:
            _idle.append(given)
        work.end()
        del work  # nothing is kept while the thread waits
        if not is_kept:
            return


class _Turns:
    """Begins work in the order in which it comes, `MOST_THREADS` at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[_AsyncWork] = set()
        self._waiting: deque[_AsyncWork] = deque()

    def add(self, work: _AsyncWork) -> None:
        """Begin some work as soon as it is its turn."""
        with self._lock:
            self._waiting.append(work)
            self._begin_next()

    def remove(self, work: _AsyncWork) -> None:
        """Count some work no longer: it has ended, or was abandoned."""
        with self._lock:
            self._running.discard(work)
            if work in self._waiting:
                self._waiting.remove(work)
            self._begin_next()

    def _begin_next(self) -> None:
        while self._waiting and len(self._running) < MOST_THREADS:
            work = self._waiting.popleft()
            self._running.add(work)
            work.begin()


_turns = _Turns()


def _forget_threads() -> None:
    """Begin anew in a process that was forked, which has none of its parent's threads."""
    global _turns
    _turns = _Turns()
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def _result(outcome: _Outcome) -> Any:
    result, error = outcome
    if error is None:
        return result
    try:
        raise error
    finally:
        del outcome, error  # else the error would hold this frame, and the frame the error


def when_abandoned(function: Callable[[], object]) -> None:
    """Have a function called if the work that this code is part of is abandoned."""
    if (work := _inside.get()) is not None:
        work.when_abandoned.append(function)


def is_awaited() -> bool:
    """Whether somebody still waits for the work that this code is part of."""
    work = _inside.get()
    return work is None or work.is_awaited


# --- readers that block


def in_thread(function: Callable[[], T], seconds: float | None, run: TimeLimit) -> T:
    """Call a function in a thread, in the context of the caller, and wait for it.

    Args:
        function: what is called.
        seconds: how long it may take; None for as long as it needs.
        run: another clock that may run out first.

    Raises:
        TookTooLongError: it did not end in time, and was abandoned.
    """
    work, clock = _Work(lambda _: function()), Clock(seconds)
    try:
        work.begin()
        _, outcome = work.read(clock, run)
    except TookTooLongError:
        raise
    except BaseException:  # the thread is stopped, then it is raised again
        work.stop()
        raise
    assert outcome is not None, "it gives no items"
    found: T = _result(outcome)
    return found


def read_from_thread(
    produce: Callable[[Callable[[Item], None]], T], run: Clock, *, may_drop: bool = False
) -> Generator[Item, None, T]:
    """Yield the items that a function gives while it runs, in one thread and context of its own.

    The function gets one argument: a function to give items with. That waits while the reader is
    far behind, and raises when the reader has stopped.

    Args:
        produce: the function.
        run: the clock of the run.
        may_drop: the function to give items with never waits and never raises, and may be called
            from any thread: what comes while the reader is far behind is dropped.

    Returns:
        What the function returns.

    Raises:
        TookTooLongError: the time of the run is up.
    """
    work = _Work(produce, may_drop=may_drop)
    try:
        work.begin()
        while True:
            item, outcome = work.read(run)
            if outcome is not None:
                found: T = _result(outcome)
                return found
            if run.left == 0:  # or one that gives items all the time would never be stopped
                raise TookTooLongError
            yield item
    except (GeneratorExit, TookTooLongError):
        raise
    except BaseException:  # the thread is stopped, then it is raised again
        work.stop()
        raise
    finally:
        work.abandon()


# --- readers that do not


class _AsyncWork(_Work):
    """Work for a coroutine: it waits for its turn, and tells the event loop.

    Work that is begun by other work never waits: each might wait for the other for ever.
    """

    def __init__(self, function: Callable[[_Give], Any]) -> None:
        import asyncio  # imported late: it takes longer than a short program

        super().__init__(function)
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._is_queued = False
        if _inside.get() is None:
            _turns.add(self)
        else:
            self.begin()

    def tell(self) -> None:
        with suppress(RuntimeError):  # the loop has ended meanwhile: nobody waits
            self._loop.call_soon_threadsafe(self._changed.set)

    def begin(self) -> None:
        """The same; whoever waits for its turn is told."""
        super().begin()
        if self._is_queued:
            self.tell()

    def end(self) -> None:
        """The same; it is the turn of other work."""
        _turns.remove(self)
        super().end()

    def abandon(self) -> None:
        """The same; if it has not ended, it is the turn of other work."""
        if self._outcome is None:
            _turns.remove(self)
        super().abandon()

    async def turn(self) -> None:
        """Wait until it begins."""
        self._is_queued = True
        if not self.has_begun:
            await self._changed.wait()

    async def aread(self) -> tuple[Any, _Outcome | None]:
        """The next item, or how the function has ended."""
        while True:
            self._changed.clear()
            try:
                return self.entry(0)
            except Empty:
                await self._changed.wait()


async def call_in_thread(function: Callable[[], T]) -> T:
    """Call a function in a thread, in the context of the caller.

    The clock of `within` stands still until it is its turn. A cancellation abandons the call,
    unless it ends right then.
    """
    import asyncio

    work = _AsyncWork(lambda _: function())
    outcome: _Outcome | None = None
    try:
        if clock := clock_within.get():
            with clock.standing_still():
                await work.turn()
        _, outcome = await work.aread()
    except asyncio.CancelledError:
        if work.has_begun:
            with suppress(TimeoutError):
                _, outcome = await asyncio.wait_for(work.aread(), GRACE)
        if outcome is None:
            raise
    finally:
        work.abandon()
    assert outcome is not None, "it gives no items"
    found: T = _result(outcome)
    return found


async def iterate_in_thread(iterate: Callable[[], Iterator[Item]]) -> AsyncGenerator[Item, None]:
    """Yield what an iterator gives that blocks; one thread runs it from end to end.

    When the reader stops, the iterator is closed in its thread.
    """

    def produce(give: Callable[[Item], None]) -> None:
        items = iterate()
        with closing(items) if isinstance(items, Generator) else nullcontext():
            for item in items:
                give(item)

    work = _AsyncWork(produce)
    try:
        while True:
            item, outcome = await work.aread()
            if outcome is not None:
                _result(outcome)
                return
            yield item
    finally:
        work.abandon()
