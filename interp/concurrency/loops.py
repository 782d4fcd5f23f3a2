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
from typing import Any, Final, Generic, NamedTuple, TypeVar

from .clocks import GRACE, stopped
from .threads import FromOutside, as_outcome, call_in_thread, when_left_behind

T = TypeVar("T")

_SLICE: Final = 0.2  # seconds: a Ctrl-C that comes just before a wait does not interrupt it
_NOTICE: Final = 0.05  # seconds in which a loop begins what it is given, if nothing blocks it
_PATIENCE: Final = 2.0  # seconds for what is cancelled
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
        begun.ended.add_done_callback(lambda _: self._given.put(None))
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
    """
    caller = caller or Caller()
    begun = _Begun(_ours.running(), make)
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
        while (item := waited_for(following, caller)) is not ends:
            yield item
    finally:
        if is_in_own_loop():  # collected there: to wait would be for ever
            _closing.append(asyncio.ensure_future(items.aclose()))
            _closing[-1].add_done_callback(_closing.remove)
        else:
            waited_for(items.aclose, caller)


_closing: Final[list[asyncio.Future[None]]] = []  # else they may be collected before they end


def work_on(items: Iterable[T], work: Callable[[T], Awaitable[None]], jobs: int) -> None:
    """Await ``work`` for each item, in their order, as many at once as there are jobs.

    An error of one, or Ctrl-C, stops those that go on, and is raised.
    """
    waited_for(lambda: _work_on(deque(items), work, jobs))


async def _work_on(items: deque[T], work: Callable[[T], Awaitable[None]], jobs: int) -> None:
    async def worker() -> None:
        while items:
            await work(items.popleft())

    workers = [asyncio.ensure_future(worker()) for _ in range(min(jobs, len(items)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for each in workers:
            each.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


def is_in_own_loop() -> bool:
    """Whether this code runs in the loop of the process, for which a thread waits."""
    return _ours.is_here


async def in_loop_of_user(make: Callable[[], Awaitable[T]]) -> T:
    """Await what a function of the user gives, where it can block no run but its own.

    Below a blocking call that is the second loop; else it is the loop that runs, the user's own.
    """
    inner = asyncio.ensure_future(
        _ended(await _of_user.begun(make)) if _ours.is_here else _awaited(make)
    )
    try:
        return await inner
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise SelfCancelledError("it cancelled its own task") from None


class SelfCancelledError(RuntimeError):
    """Code of the user has cancelled the task that it runs in, which nobody else has."""


async def _awaited(make: Callable[[], Awaitable[T]]) -> T:
    try:
        return await make()
    except (KeyboardInterrupt, SystemExit) as error:
        raise FromOutside(error) from error


async def _ended(begun: _Begun[T]) -> T:
    """What a coroutine gives that runs in another loop; a cancellation is handed on to it."""
    ended = asyncio.wrap_future(begun.ended)
    try:
        await asyncio.wait([ended])
    except asyncio.CancelledError:
        begun.cancel()
        await asyncio.wait([ended], timeout=GRACE)
        if not ended.done() or ended.cancelled():
            raise
    return ended.result()


_caller: ContextVar[Caller | None] = ContextVar("_caller", default=None)
"""The thread that waits for what this code is part of, if one does."""


async def in_waiting_thread(function: Callable[[], T]) -> T:
    """Call a plain function of the user in the thread that waits for the run.

    Where none does, since the run goes on in the user's own loop, a worker thread calls it.
    """
    caller = _caller.get() if _ours.is_here else None
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
        """Begin it."""
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


class _Running(NamedTuple):
    """An event loop and the thread that it runs in."""

    loop: asyncio.AbstractEventLoop
    thread: threading.Thread


class _LoopThread:
    """An event loop in a daemon thread, which begins when it is asked for.

    Nothing here takes a lock: Ctrl-C may come at any line of a thread that waits for a coroutine,
    also before a lock is let go.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._made: dict[str, _Running] = {}

    @property
    def is_here(self) -> bool:
        """Whether this code runs in the loop."""
        made = self._made.get(self._name)
        return made is not None and made.thread is threading.current_thread()

    def running(self) -> asyncio.AbstractEventLoop:
        """The loop, whose thread has been started."""
        made = self._made.get(self._name)
        if made is None:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=_serve, args=(loop,), name=self._name, daemon=True)
            thread.start()
            begun = _Running(loop, thread)
            made = self._made.setdefault(self._name, begun)
            if made is not begun:  # another thread was first
                begun.loop.call_soon_threadsafe(begun.loop.stop)
        return made.loop

    async def begun(self, make: Callable[[], Awaitable[T]]) -> _Begun[T]:
        """Begin a coroutine in the loop, or in a new one if something blocks it."""
        notice = _NOTICE
        while True:
            loop = self.running()
            begun = _Begun(loop, make)
            begun.begin()
            await asyncio.wait([asyncio.wrap_future(begun.began)], timeout=notice)
            if begun.began.done() or not begun.began.cancel():
                return begun
            made = self._made.get(self._name)
            if made is not None and made.loop is loop:
                del self._made[self._name]
                loop.call_soon_threadsafe(_stop_at_end, loop)
            notice *= 2  # on a busy machine no loop may begin it at once

    def stop(self) -> None:
        """End the loop, and what goes on in it, within a moment."""
        made = self._made.get(self._name)
        if made is not None:
            with suppress(RuntimeError):
                made.loop.call_soon_threadsafe(made.loop.stop)
                made.thread.join(_AT_EXIT)


def _stop_at_end(loop: asyncio.AbstractEventLoop) -> None:
    """Stop a loop when nothing goes on in it."""
    if tasks := asyncio.all_tasks(loop):
        tasks.pop().add_done_callback(lambda _: _stop_at_end(loop))
    else:
        loop.stop()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is stopped; then cancel its tasks and close it."""
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        loop.run_until_complete(stopped(asyncio.all_tasks(loop), _AT_EXIT / 2))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        asyncio.set_event_loop(None)
        loop.close()


_ours = _LoopThread("runs")
_of_user = _LoopThread("coroutines of tools")


def _forget_loops() -> None:
    """Begin anew in a process that was forked, which has none of its parent's threads."""
    global _ours, _of_user
    _ours, _of_user = _LoopThread("runs"), _LoopThread("coroutines of tools")


_is_exiting = False


def _stop_loops() -> None:
    global _is_exiting
    _is_exiting = True
    _ours.stop()
    _of_user.stop()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_loops)
atexit.register(_stop_loops)
