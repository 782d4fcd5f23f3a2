"""Worker threads: what blocks is called in one, while the event loop goes on.

They are daemons, unlike those of ``concurrent.futures``: a process ends though a call in one never
returns. At most `MOST_THREADS` work at once; other work waits for its turn. Work that begins inside
a worker thread never waits, since what it is part of would wait for it.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import closing, nullcontext
from contextvars import ContextVar, copy_context
from queue import SimpleQueue
from typing import Any, Final, TypeVar
from weakref import ref

from .clocks import GRACE, not_counting, stopped, wait_or_leave

T = TypeVar("T")
Item = TypeVar("Item")

MOST_THREADS: Final = 100
"""How many calls that somebody waits for run at once."""

_MOST_IDLE: Final = 8  # threads that are kept for other work
_BUFFERED: Final = 16  # items that an iterator may be ahead of its reader


async def call_in_thread(function: Callable[[], T]) -> T:
    """Call a function in a worker thread, in the context of the caller.

    The clock of `within` stands still until it is its turn. A cancellation leaves the call behind,
    unless it ends right then.
    """
    work = _Work(function)
    try:
        _workers.queue(work)
        if not work.turn.done():
            with not_counting():
                await asyncio.wrap_future(work.turn)
        work.begin()
        outcome: asyncio.Future[T] = asyncio.wrap_future(work.outcome)
        await wait_or_leave(outcome)
    except BaseException:  # raised again, when other work has its turn
        work.leave_behind()
        raise
    return outcome.result()


async def iterate_in_thread(iterate: Callable[[], Iterator[Item]]) -> AsyncGenerator[Item, None]:
    """Yield what an iterator gives that blocks; one worker thread runs it from end to end.

    The iterator waits while its reader is far behind. When the reader stops, it is closed in its
    thread.
    """
    loop = asyncio.get_running_loop()
    items, ended = asyncio.Queue[Any](), object()
    room = threading.Semaphore(_BUFFERED)
    is_read = True

    def give_all() -> None:
        given = iterate()
        with closing(given) if isinstance(given, Generator) else nullcontext():
            for item in given:
                room.acquire()
                if not is_read:
                    return
                loop.call_soon_threadsafe(items.put_nowait, item)

    work = asyncio.ensure_future(call_in_thread(give_all))
    work.add_done_callback(lambda _: items.put_nowait(ended))  # after all that it has given
    try:
        while (item := await items.get()) is not ended:
            room.release()
            yield item
        await work
    finally:
        is_read = False
        room.release()
        await stopped([work], GRACE)


def when_left_behind(function: Callable[[], object]) -> None:
    """Have a function called if the work that this code is part of is left behind."""
    if (work := _inside.get()) is not None:
        work.when_left_behind.append(function)


class FromOutside(BaseException):  # it carries what is no error
    """Carries Ctrl-C, or an exit, that the user's code raised, out of an event loop.

    Raised as it is, it would end the loop.
    """

    def __init__(self, raised: BaseException) -> None:
        super().__init__(raised)
        self.raised = raised


def as_outcome(error: BaseException) -> BaseException:
    """What a future may have for an exception."""
    if isinstance(error, KeyboardInterrupt | SystemExit):
        return FromOutside(error)
    if isinstance(error, StopIteration):  # no coroutine can be left by it
        told = RuntimeError("a plain function raised StopIteration")
        told.__cause__ = error
        return told
    return error


class _Work:
    """A function that runs in a worker thread, in the context of whoever made this."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.is_inside_other = _inside.get() is not None
        self.turn: Future[None] = Future()
        self.outcome: Future[Any] = Future()
        self.when_left_behind: list[Callable[[], object]] = []
        self._function = function
        self._context = copy_context()

    def begin(self) -> None:
        """Run the function in an idle thread, or in a new one."""
        try:
            _workers.idle.pop().put(self)
        except IndexError:
            given: SimpleQueue[_Work] = SimpleQueue()
            given.put(self)  # a thread keeps its arguments as long as it lives
            threading.Thread(target=_serve, args=(given,), daemon=True).start()

    def run(self) -> Callable[[], object]:
        """Run the function to its end, in the thread; returns what tells whoever waits for it."""
        context, function = self._context, self._function
        del self._context, self._function  # the context holds this work: a cycle is garbage later
        context.run(_inside.set, self)
        try:
            result = context.run(function)
        except BaseException as error:  # noqa: BLE001  # raised again where it is waited for
            raised = as_outcome(error)
            return lambda: self.outcome.set_exception(raised)
        return lambda: self.outcome.set_result(result)

    def leave_behind(self) -> None:
        """Wait for it no more; other work takes its turn."""
        _workers.release(self)
        for function in self.when_left_behind:
            function()


_inside: ContextVar[_Work | None] = ContextVar("_inside", default=None)
"""The work that this code is part of, or None."""


class _Workers:
    """Who works and who waits for a turn, in the order in which they came.

    Nothing here takes a lock, for the same reason as in `loops`: each step on a collection is
    whole. Places are taken by weak references: what Ctrl-C has cut off from its end has none.
    """

    def __init__(self) -> None:
        self.idle: list[SimpleQueue[_Work]] = []
        self._working: set[ref[_Work]] = set()
        self._waiting: deque[_Work] = deque()

    def queue(self, work: _Work) -> None:
        """Give some work its turn as soon as that may be."""
        if work.is_inside_other or (not self._waiting and self._has_place(work)):
            work.turn.set_result(None)
        else:
            self._waiting.append(work)
            self._give_turns_elsewhere()

    def release(self, work: _Work) -> None:
        """Count some work no longer: it has ended, or is left behind."""
        work.turn.cancel()  # if it still waits for it
        self._working.discard(ref(work))
        self._give_turns_elsewhere()

    def _has_place(self, work: _Work) -> bool:
        self._working.add(ref(work, self._working.discard))
        if len(self._working) <= MOST_THREADS:  # looked at last: others may come at once
            return True
        self._working.discard(ref(work))
        return False

    def _give_turns_elsewhere(self) -> None:
        """Give turns where no Ctrl-C comes between two steps."""
        if not self._waiting or len(self._working) >= MOST_THREADS:
            return
        if threading.current_thread() is threading.main_thread():
            threading.Thread(target=self._give_turns, daemon=True).start()
        else:
            self._give_turns()

    def _give_turns(self) -> None:
        while self._waiting and len(self._working) < MOST_THREADS:
            try:
                work = self._waiting.popleft()
            except IndexError:
                return
            if not self._has_place(work):
                self._waiting.appendleft(work)
            elif work.turn.set_running_or_notify_cancel():
                work.turn.set_result(None)
            else:  # nobody waits for it, though its error may still be looked at and hold it
                self._working.discard(ref(work))
            del work  # where Ctrl-C has cut it off, its place is free


_workers = _Workers()


def _serve(given: SimpleQueue[_Work]) -> None:
    """Do one given work after another; end when enough other threads are idle."""
    while True:
        work = given.get()
        tell = work.run()
        is_kept = len(_workers.idle) < _MOST_IDLE
        if is_kept:
            _workers.idle.append(given)
        _workers.release(work)
        tell()
        del work, tell  # nothing is kept while the thread waits
        if not is_kept:
            return


def _forget_threads() -> None:
    """Begin anew in a process that was forked, which has none of its parent's threads."""
    global _workers
    _workers = _Workers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
