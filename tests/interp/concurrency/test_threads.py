"""Worker threads: how many work at once, what does not count, what is left behind, iterators."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings, strategies as st

from interp.concurrency import TookTooLongError, call_in_thread, iterate_in_thread, within
from interp.concurrency.threads import MOST_THREADS


def test_a_stop_iteration_does_not_hang_whoever_waits() -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(call_in_thread(lambda: next(iter(()))))


def test_no_more_work_at_once_than_the_bound_in_any_number_of_loops() -> None:
    most, working, lock, all_work = 0, 0, threading.Lock(), threading.Event()

    def work() -> None:
        nonlocal most, working
        with lock:
            working += 1
            most = max(most, working)
        if working >= MOST_THREADS:
            all_work.set()
        assert all_work.wait(60)
        with lock:
            working -= 1

    async def gathered() -> None:
        await asyncio.gather(*(call_in_thread(work) for _ in range(MOST_THREADS)))

    loops = [threading.Thread(target=asyncio.run, args=(gathered(),)) for _ in range(3)]
    for each in loops:
        each.start()
    for each in loops:
        each.join()

    assert most == MOST_THREADS


def test_work_that_begins_inside_a_worker_thread_never_waits_for_a_thread() -> None:
    all_work = threading.Barrier(MOST_THREADS, timeout=60)

    def nested(levels: int) -> int:
        if levels == 3:
            all_work.wait()
        return levels and 1 + asyncio.run(call_in_thread(lambda: nested(levels - 1)))

    async def many() -> list[int]:
        calls = (call_in_thread(lambda: nested(3)) for _ in range(MOST_THREADS))
        return await within(asyncio.gather(*calls), 60)

    assert asyncio.run(many()) == [3] * MOST_THREADS


def test_what_takes_too_long_is_left_behind_and_others_take_its_turn() -> None:
    hang = threading.Event()

    async def all_hang() -> int:
        calls = (within(call_in_thread(hang.wait), 0.05) for _ in range(MOST_THREADS))
        found = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(each) for each in found} == {TookTooLongError}
        return await within(call_in_thread(lambda: 5), 5)

    try:
        assert asyncio.run(all_hang()) == 5
    finally:
        hang.set()


def test_a_call_that_ends_when_it_is_cancelled_gives_its_result() -> None:
    async def cancelled() -> int:
        task = asyncio.ensure_future(call_in_thread(lambda: time.sleep(0.02) or 5))
        await asyncio.sleep(0.01)
        task.cancel()
        return await task

    assert asyncio.run(cancelled()) == 5


def test_a_call_that_waits_for_its_turn_is_not_made_when_it_is_cancelled() -> None:
    hang, called = threading.Event(), []

    async def crowded() -> None:
        hanging = [asyncio.ensure_future(call_in_thread(hang.wait)) for _ in range(MOST_THREADS)]
        await asyncio.sleep(0.05)
        late = asyncio.ensure_future(call_in_thread(lambda: called.append(1)))
        await asyncio.sleep(0.01)
        late.cancel()
        hang.set()
        await asyncio.gather(late, *hanging, return_exceptions=True)

    asyncio.run(crowded())
    assert called == []


def test_a_call_that_waits_for_its_turn_starts_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    hang, started = threading.Event(), list[threading.Thread]()

    class Counted(threading.Thread):
        def start(self) -> None:
            started.append(self)
            super().start()

    async def crowded() -> int:
        calls = [asyncio.ensure_future(call_in_thread(hang.wait)) for _ in range(2 * MOST_THREADS)]
        await asyncio.sleep(0.05)
        hang.set()
        before = len(started)
        await asyncio.gather(*calls)
        return before

    monkeypatch.setattr(threading, "Thread", Counted)
    assert asyncio.run(crowded()) <= MOST_THREADS


def test_calls_cancelled_while_they_waited_have_no_place_though_their_errors_are_kept() -> None:
    hang = threading.Event()

    async def crowded() -> tuple[Sequence[object], int]:
        hanging = [asyncio.ensure_future(call_in_thread(hang.wait)) for _ in range(MOST_THREADS)]
        await asyncio.sleep(0.05)
        late = [asyncio.ensure_future(call_in_thread(hang.wait)) for _ in range(MOST_THREADS)]
        await asyncio.sleep(0.01)
        for each in late:
            each.cancel()
        kept = await asyncio.gather(*late, return_exceptions=True)
        hang.set()
        await asyncio.gather(*hanging)
        return kept, await asyncio.wait_for(call_in_thread(lambda: 5), 10)

    assert asyncio.run(crowded())[1] == 5


@settings(max_examples=20)
@given(st.lists(st.integers()))
def test_an_iterator_is_read_to_its_end_in_its_order(items: list[int]) -> None:
    async def read() -> list[int]:
        return [each async for each in iterate_in_thread(lambda: iter(items))]

    assert asyncio.run(read()) == items


def test_an_iterator_waits_for_its_reader_and_is_closed_when_that_stops() -> None:
    given_so_far, closed = [], threading.Event()

    def endless() -> Iterator[int]:
        try:
            for number in range(1_000_000):
                given_so_far.append(number)
                yield number
        finally:
            closed.set()

    async def read_two() -> None:
        items = iterate_in_thread(endless)
        assert [await anext(items), await anext(items)] == [0, 1]
        await asyncio.sleep(0.05)
        await items.aclose()

    asyncio.run(read_two())

    assert closed.wait(5)
    assert len(given_so_far) < 100


def test_what_an_iterator_raises_comes_after_what_it_gave() -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    async def read() -> list[int]:
        items = iterate_in_thread(failing)
        found = [await anext(items)]
        with pytest.raises(ValueError, match="no more"):
            await anext(items)
        return found

    assert asyncio.run(read()) == [1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only Unix has fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_begins_without_the_threads_of_its_parent() -> None:
    hang = threading.Event()

    async def fork_while_all_threads_work() -> int:
        hanging = [asyncio.ensure_future(call_in_thread(hang.wait)) for _ in range(MOST_THREADS)]
        await asyncio.sleep(0.05)
        child = os.fork()
        if child == 0:
            thread = threading.Thread(
                target=lambda: os._exit(asyncio.run(call_in_thread(lambda: 7)))
            )
            thread.start()
            thread.join()
        hang.set()
        await asyncio.gather(*hanging)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    assert asyncio.run(fork_while_all_threads_work()) == 7
