"""Threads: how many run at once, what does not count, what is left behind, and streams."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from contextvars import ContextVar
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from interp.concurrency import threads
from interp.concurrency.clocks import Clock, TookTooLongError, within
from interp.concurrency.event_loop import LoopThread
from interp.concurrency.threads import (
    call_in_thread,
    in_thread,
    iterate_in_thread,
    read_from_thread,
)

FOREVER = Clock(None)


@pytest.fixture
def three_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three calls of coroutines run at once."""
    monkeypatch.setattr(threads, "MOST_THREADS", 3)


def test_a_call_returns_or_raises_what_its_function_does() -> None:
    error = ValueError("no")

    def failing() -> None:
        raise error

    assert in_thread(threading.get_ident, None, FOREVER) != threading.get_ident()
    assert asyncio.run(call_in_thread(lambda: 5)) == 5
    with pytest.raises(ValueError, match="no") as caught:
        in_thread(failing, 1, FOREVER)
    assert caught.value is error
    with pytest.raises(StopIteration):
        in_thread(lambda: next(iter(())), 1, FOREVER)


def test_threads_are_used_again() -> None:
    seen = {in_thread(threading.get_ident, 5, FOREVER) for _ in range(50)}

    assert len(seen) < 5


@settings(max_examples=10)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_no_more_calls_of_coroutines_run_at_once_than_the_bound(calls_of_loops: list[int]) -> None:
    most, running, lock = 0, 0, threading.Lock()

    def work() -> None:
        nonlocal most, running
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.005)
        with lock:
            running -= 1

    async def gathered(count: int) -> None:
        await asyncio.gather(*(call_in_thread(work) for _ in range(count)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "MOST_THREADS", 3)
        loops = [
            threading.Thread(target=asyncio.run, args=(gathered(count),))
            for count in calls_of_loops
        ]
        for loop in loops:
            loop.start()
        for loop in loops:
            loop.join()

    assert min(sum(calls_of_loops), 3) >= most >= 1
    assert running == 0


@pytest.mark.usefixtures("three_threads")
def test_calls_from_inside_a_thread_never_wait() -> None:
    def nested(depth: int) -> int:
        return 0 if depth == 0 else 1 + in_thread(lambda: nested(depth - 1), None, FOREVER)

    def nested_in_a_loop(depth: int) -> int:
        if depth == 0:
            return 0
        return 1 + asyncio.run(call_in_thread(lambda: nested_in_a_loop(depth - 1)))

    async def many() -> list[int]:
        deep = (call_in_thread(lambda: nested(5)) for _ in range(6))
        return await asyncio.gather(*deep, call_in_thread(lambda: nested_in_a_loop(4)))

    assert asyncio.run(asyncio.wait_for(many(), 20)) == [5] * 6 + [4]


@pytest.mark.usefixtures("three_threads")
def test_abandoned_calls_do_not_count() -> None:
    released = threading.Event()

    async def one_after_another() -> str:
        for _ in range(9):
            with pytest.raises(TookTooLongError):
                await within(call_in_thread(lambda: released.wait(60)), 0.01)
        return await call_in_thread(lambda: "free")

    assert asyncio.run(asyncio.wait_for(one_after_another(), 20)) == "free"
    released.set()


@pytest.mark.usefixtures("three_threads")
def test_waiting_for_a_turn_does_not_count_for_the_call() -> None:
    def work() -> int:
        time.sleep(0.1)
        return 1

    async def gathered() -> list[Any]:
        return await asyncio.gather(*(within(call_in_thread(work), 0.19) for _ in range(12)))

    assert asyncio.run(gathered()) == [1] * 12


@pytest.mark.usefixtures("three_threads")
def test_a_call_that_is_cancelled_before_its_turn_is_never_made() -> None:
    released, made = threading.Event(), []

    async def main() -> None:
        held = [asyncio.ensure_future(call_in_thread(lambda: released.wait(60))) for _ in "abc"]
        await asyncio.sleep(0.01)
        waiting = asyncio.ensure_future(call_in_thread(lambda: made.append(1)))
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        released.set()
        await asyncio.gather(*held)
        await call_in_thread(lambda: None)

    asyncio.run(main())
    assert made == []


def test_a_coroutine_that_ends_while_it_is_cancelled_gives_its_result() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return "cleaned up"
        return "slept"

    async def deaf() -> None:
        while True:
            try:
                await asyncio.sleep(0.2)
            except asyncio.CancelledError:
                continue
            if released.is_set():
                return

    async def main() -> None:
        assert await within(stubborn(), 0.01) == "cleaned up"
        with pytest.raises(TookTooLongError):
            await within(deaf(), 0.01)
        released.set()

    released = threading.Event()
    began = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - began < 5


def test_a_forked_process_has_a_pool_of_its_own() -> None:
    in_thread(lambda: 1, 5, FOREVER)
    pid = os.fork()
    if pid == 0:
        ended = 1
        try:
            ended = in_thread(lambda: 0, 5, Clock(5))
        finally:
            os._exit(ended)

    assert os.waitpid(pid, 0)[1] == 0


# --- streams


def blocking(iterate: Callable[[], Iterator[Any]]) -> list[Any]:
    """All that a thread gives to a reader that blocks."""

    def produce(give: Callable[[Any], None]) -> None:
        for each in iterate():
            give(each)

    return list(read_from_thread(produce, FOREVER))


def not_blocking(iterate: Callable[[], Iterator[Any]]) -> list[Any]:
    """The same to one that does not."""

    async def collected() -> list[Any]:
        return [each async for each in iterate_in_thread(iterate)]

    return asyncio.run(collected())


either_reader = pytest.mark.parametrize("read", [blocking, not_blocking])


@either_reader
@pytest.mark.parametrize("count", [0, 1, 16, 17, 500])
def test_one_thread_and_one_context_run_a_stream_from_end_to_end(read: Any, count: int) -> None:
    variable: ContextVar[int] = ContextVar("variable", default=-1)
    seen = set()

    def iterate() -> Iterator[int]:
        for each in range(count):
            seen.add(threading.get_ident())
            assert variable.get() == each - 1
            variable.set(each)
            yield each

    assert read(iterate) == list(range(count))
    assert len(seen) == min(count, 1)


@either_reader
def test_an_error_comes_after_what_was_given_before(read: Any) -> None:
    def iterate() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        read(iterate)


def test_a_thread_is_at_most_a_buffer_ahead_and_ends_when_its_reader_stops() -> None:
    given_out, closed = [], threading.Event()

    def iterate() -> Iterator[int]:
        try:
            for each in range(10_000):
                given_out.append(each)
                yield each
        finally:
            closed.set()

    def produce(give: Callable[[Any], None]) -> None:
        with closing(iterate()) as items:
            for each in items:
                give(each)

    with closing(read_from_thread(produce, FOREVER)) as reader:
        assert next(reader) == 0
        time.sleep(0.1)
        assert len(given_out) < 40
    assert closed.wait(5)

    async def one() -> None:
        items = iterate_in_thread(iterate)
        assert await anext(items) == 0
        await asyncio.sleep(0.1)
        assert len(given_out) < 40
        await items.aclose()

    given_out.clear()
    closed.clear()
    asyncio.run(one())
    assert closed.wait(5)


# --- the event loop of a run that blocks


def test_coroutines_of_one_run_share_a_loop_and_a_blocked_one_is_left_behind() -> None:
    async def loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    async def block() -> None:
        released.wait(60)

    released, used = threading.Event(), LoopThread()
    first = used.run(loop())
    assert used.run(loop()) is first
    with pytest.raises(TookTooLongError):
        in_thread(lambda: used.run(block()), 0.05, FOREVER)

    began = time.monotonic()
    second = used.run(loop())
    assert time.monotonic() - began < 0.5
    released.set()

    assert second is not first
    used.close()
    for each in (first, second):
        while not each.is_closed():
            time.sleep(0.01)


def test_a_coroutine_whose_call_is_abandoned_is_cancelled() -> None:
    ended = threading.Event()

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    used = LoopThread()
    with pytest.raises(TookTooLongError):
        in_thread(lambda: used.run(work()), 0.05, FOREVER)

    assert ended.wait(5)
    used.close()


def test_a_loop_runs_where_another_is_running() -> None:
    async def main() -> int:
        used = LoopThread()
        try:
            return used.run(asyncio.sleep(0, 5))  # type: ignore[no-any-return]  # an int
        finally:
            used.close()

    assert asyncio.run(main()) == 5
