"""The event loops of the process: blocking code waits for coroutines that run in them.

Two loops run in daemon threads, each from its first coroutine on. Runs that somebody waits for in
a blocking call go on in the first; no line of the user's code runs in it. The user's coroutines
run in the second one, which is replaced when it does not answer: what goes on in it goes on to its
end, since it may only be slow. A child of ``fork`` begins anew.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from contextvars import ContextVar, copy_context
from math import inf
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, Final, Generic, TypeVar

from .clocks import stopped, wait_or_leave
from .threads import FromOutside, as_outcome, call_in_thread, when_left_behind

T = TypeVar("T")

_SLICE: Final = 0.2  # seconds: a Ctrl-C that comes just before a wait does not interrupt it
_NOTICE: Final = 0.05  # seconds in which a loop begins what it is given, if nothing blocks it
_PATIENCE: Final = 5.0  # seconds for what is cancelled: a server that hangs is ended in two
_AT_EXIT: Final = 0.2  # seconds for what is under way when the process ends


class Caller:
    """A thread that waits for a coroutine, and calls functions meanwhile that are for it."""

    def __init__(self) -> None:
        self._given: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    async def call(self, function: Callable[[], T]) -> T:
        """Have the thread call a function, in the context of whoever asks for it."""
        context, answer = copy_context(), Future[T]()

        def answer_it() -> None:
            if not answer.set_running_or_notify_cancel():
                return
            try:
                result = context.run(function)
            except BaseException as error:  # raised again where it is awaited
                answer.set_exception(as_outcome(error))
                if isinstance(error, KeyboardInterrupt):
                    raise
            else:
                answer.set_result(result)

        self._given.put(answer_it)
        return await asyncio.wrap_future(answer)

    def serve(self) -> None:
        """Call what is given, until `end`."""
        while (function := self._given.get()) is not None:
            function()

    def end(self) -> None:
        """Have `serve` end."""
        self._given.put(None)

    def wait_for(self, begun: _Begun[T], until: float = inf) -> None:
        """Serve until a coroutine has ended, or until a time of the monotonic clock."""
        begun.ended.add_done_callback(lambda _: self.end())
        while not begun.ended.done() and monotonic() < until:
            with suppress(Empty):
                function = self._given.get(timeout=_SLICE)
                if function is not None:
                    function()


class OneThread:
    """A worker thread that calls functions one after another; a new one after one that hangs."""

    def __init__(self) -> None:
        self._caller: Caller | None = None

    async def call(self, function: Callable[[], T]) -> T:
        """Have the thread call a function, in the context of whoever asks for it."""
        if self._caller is None:
            self._caller = Caller()
            threading.Thread(target=self._caller.serve, daemon=True).start()
        try:
            return await self._caller.call(function)
        except asyncio.CancelledError:
            self._caller = None
            raise

    def end(self) -> None:
        """Let the thread end."""
        if self._caller is not None:
            self._caller.end()


def waited_for(make: Callable[[], Awaitable[T]], caller: Caller | None = None) -> T:
    """Await what a function gives, such as a coroutine, in the loop of the process.

    Ctrl-C cancels the coroutine, and is raised when that has ended, however often it comes. So
    does the end of the tool in whose thread this is called.

    Args:
        make: gives what is awaited, in the context of the caller.
        caller: what has this thread call functions; a new one by default.

    Raises:
        RuntimeError: this is called in that loop.
    """
    if is_in_own_loop():
        where = "the loop of runs, which calls cost_of and handlers of logs"
        raise RuntimeError(f"a run cannot be waited for in {where}: do it in a thread")
    caller = caller or Caller()
    begun = _Begun(_running(_OURS).loop, make)
    token = _caller.set(caller)
    try:
        when_left_behind(begun.cancel)
        begun.begin()
        _caller.reset(token)
        caller.wait_for(begun)
    except BaseException:  # raised again, when what was under way has ended
        until = monotonic() + _PATIENCE
        while not begun.ended.done() and monotonic() < until:
            with suppress(KeyboardInterrupt):
                begun.cancel()
                caller.wait_for(begun, until)
        raise
    try:
        return begun.ended.result()
    except FromOutside as error:
        raise error.raised from None
    except CancelledError:
        raise asyncio.CancelledError from None


def read_by_waiting(items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    """Yield what an asynchronous generator gives, which runs in the loop of the process."""
    caller, ends = Caller(), object()

    async def following() -> Any:
        return await anext(items, ends)

    try:
        _read.add(items)
        while (item := waited_for(following, caller)) is not ends:
            yield item
    finally:
        _read.discard(items)
        if is_in_own_loop():  # collected there: to wait would be for ever
            _closing.append(asyncio.ensure_future(items.aclose()))
            _closing[-1].add_done_callback(_closing.remove)
        elif not _is_exiting:  # else its loop has closed it
            waited_for(items.aclose, caller)


_read: Final = set[AsyncGenerator[Any, None]]()
"""What is read now: it is closed first at the end, since what it reads itself is closed by it."""

_closing: Final[list[asyncio.Future[None]]] = []  # else they may be collected before they end


def work_on(items: Iterable[T], work: Callable[[T], Awaitable[None]], jobs: int) -> None:
    """Await ``work`` for each item, in their order, as many at once as there are jobs.

    An error of one, or Ctrl-C, stops those that go on, and is raised.
    """
    left = deque(items)

    async def worker() -> None:
        while left:
            await work(left.popleft())

    async def all_of_them() -> None:
        workers = [asyncio.ensure_future(worker()) for _ in range(min(jobs, len(left)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for each in workers:
                each.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    waited_for(all_of_them)


def is_in_own_loop() -> bool:
    """Whether this code runs in the loop of the process, for which a thread waits."""
    return _threads.get(_OURS) is threading.current_thread()


async def in_loop_of_user(make: Callable[[], Awaitable[T]]) -> T:
    """Await what a function of the user gives, where it can block no run but its own.

    Below a blocking call that is the second loop; else it is the loop that runs, the user's own.
    What does not let itself be cancelled is left behind, in the user's own loop by who cancels it.

    Raises:
        SelfCancelledError: it has cancelled the task that it runs in.
    """
    ended: asyncio.Future[T]
    if is_in_own_loop():
        begun = await _begun_for_user(make)
        ended = asyncio.wrap_future(begun.ended)
        await wait_or_leave(ended, begun.cancel)
    else:
        ended = asyncio.ensure_future(_awaited(make))
        await wait_or_leave(ended, ended.cancel, is_here=True)
    if ended.cancelled():
        raise SelfCancelledError("it cancelled its own task")
    return ended.result()


class SelfCancelledError(RuntimeError):
    """Code of the user has cancelled the task that it runs in, which nobody else has."""


async def _awaited(make: Callable[[], Awaitable[T]]) -> T:
    try:
        return await make()
    except (KeyboardInterrupt, SystemExit) as error:
        raise FromOutside(error) from error


_caller: ContextVar[Caller | None] = ContextVar("_caller", default=None)
"""The thread that waits for what this code is part of, if one does."""


async def in_waiting_thread(function: Callable[[], T]) -> T:
    """Call a plain function of the user in the thread that waits for the run.

    Where none does, since the run goes on in the user's own loop, a worker thread calls it.
    """
    caller = _caller.get() if is_in_own_loop() else None
    return await (call_in_thread(function) if caller is None else caller.call(function))


class _Begun(Generic[T]):
    """What is awaited in a loop of another thread, in the context of whoever begins it.

    Attributes:
        began: done when it has begun.
        ended: done when the coroutine has ended, cancelled when that was by a cancellation.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, make: Callable[[], Awaitable[T]]) -> None:
        self.began: Future[None] = Future()
        self.ended: Future[T] = Future()
        self._loop = loop
        self._task: asyncio.Task[T] | None = None
        self._is_cancelled = False
        self._make = make

    def begin(self) -> None:
        self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        self._task = self._loop.create_task(self._run())
        self._task.add_done_callback(self._end)
        if self._is_cancelled:
            self._task.cancel()

    async def _run(self) -> T:
        if not self.began.set_running_or_notify_cancel():  # it has begun elsewhere
            raise asyncio.CancelledError
        self.began.set_result(None)
        return await _awaited(self._make)

    def _end(self, task: asyncio.Task[T]) -> None:
        if _is_exiting:  # whoever waits is a daemon, and ends with the process
            return
        if task.cancelled():
            self.ended.cancel()
            self.ended.set_running_or_notify_cancel()
        elif (error := task.exception()) is not None:
            self.ended.set_exception(error)
        else:
            self.ended.set_result(task.result())

    def cancel(self) -> None:
        """Cancel it, from any thread; what it does then is not cancelled by a second time."""

        def cancel() -> None:
            if self._task is not None and not self._is_cancelled:
                self._task.cancel()
            self._is_cancelled = True

        with suppress(RuntimeError):  # the loop is closed: nothing runs
            self._loop.call_soon_threadsafe(cancel)


class _LoopThread(threading.Thread):
    """A daemon thread that runs an event loop until it is stopped; then its tasks are cancelled."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.loop = asyncio.new_event_loop()

    def run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
            self.loop.run_until_complete(stopped(asyncio.all_tasks(self.loop), _AT_EXIT / 2))
            if self is _threads.get(_OURS):
                self.loop.run_until_complete(_close_what_is_read())
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        finally:
            asyncio.set_event_loop(None)
            self.loop.close()

    def stop(self) -> None:
        """Have the loop end, from any thread."""
        with suppress(RuntimeError):  # it is closed
            self.loop.call_soon_threadsafe(self.loop.stop)

    def stop_at_end(self) -> None:
        """Have the loop end when nothing goes on in it; called in it."""
        if tasks := asyncio.all_tasks(self.loop):
            tasks.pop().add_done_callback(lambda _: self.stop_at_end())
        else:
            self.loop.stop()


async def _close_what_is_read() -> None:
    await asyncio.gather(*(each.aclose() for each in tuple(_read)), return_exceptions=True)


_OURS: Final = "runs"
_OF_USER: Final = "coroutines of tools"
_threads: Final[dict[str, _LoopThread]] = {}
"""The threads of the process by their names, each made when it is first asked for.

Nothing here takes a lock: Ctrl-C may come at any line of a thread that waits for a coroutine, also
before a lock is let go."""


def _running(name: str) -> _LoopThread:
    """A thread, which has been started."""
    found = _threads.get(name)
    if found is None:
        made = _LoopThread(name)
        made.start()
        found = _threads.setdefault(name, made)
        if found is not made:  # another thread was first
            made.stop()
    return found


async def _begun_for_user(make: Callable[[], Awaitable[T]]) -> _Begun[T]:
    """Begin a coroutine in the loop for those of the user, or in a new one if something blocks it.

    What blocks it goes on to its end there.
    """
    notice = _NOTICE
    while True:
        thread = _running(_OF_USER)
        begun = _Begun(thread.loop, make)
        begun.begin()
        await asyncio.wait([asyncio.wrap_future(begun.began)], timeout=notice)
        if begun.began.done() or not begun.began.cancel():
            return begun
        if _threads.get(_OF_USER) is thread:
            del _threads[_OF_USER]
            thread.loop.call_soon_threadsafe(thread.stop_at_end)
        notice *= 2  # on a busy machine no loop may begin it at once


_is_exiting = False


def _stop_loops() -> None:
    """End the loops, and what goes on in them, within a moment."""
    global _is_exiting
    _is_exiting = True
    for each in list(_threads.values()):
        each.stop()
        each.join(_AT_EXIT)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.clear)
    os.register_at_fork(after_in_child=_read.clear)
atexit.register(_stop_loops)
