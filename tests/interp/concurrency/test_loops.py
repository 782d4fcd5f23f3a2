"""The event loops of the process: waiting for coroutines, and what blocks one of them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator
from contextlib import suppress

import pytest

from interp.concurrency import (
    Clock,
    TookTooLongError,
    call_in_thread,
    in_loop_of_user,
    read_by_waiting,
    waited_for,
    within,
    work_on,
)


def test_the_coroutines_of_the_user_run_in_the_loop_that_runs_if_it_is_theirs() -> None:
    async def here() -> bool:
        loop = asyncio.get_running_loop()
        return await in_loop_of_user(lambda: _is_running(loop))

    assert asyncio.run(here())


def test_a_coroutine_that_does_not_let_itself_be_cancelled_is_left_behind() -> None:
    told, may_end = list[str](), asyncio.Event()

    async def stubborn() -> None:
        while not may_end.is_set():
            with suppress(asyncio.CancelledError):
                await may_end.wait()
        told.append("ended")

    async def left() -> None:
        with pytest.raises(TookTooLongError):
            await within(in_loop_of_user(stubborn), 0.01)
        told.append("left")
        may_end.set()
        await asyncio.sleep(0.01)

    asyncio.run(left())

    assert told == ["left", "ended"]


def test_what_ends_in_time_is_not_interrupted_later() -> None:
    faults = list[object]()

    async def ends() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: faults.append(what))
        await within(asyncio.sleep(0), 0.01)
        await asyncio.sleep(0.03)

    asyncio.run(ends())

    assert faults == []


def test_a_time_that_is_up_is_told_once_though_the_clock_stands_still_later() -> None:
    told = list[str]()

    async def late() -> None:
        clock = Clock(0, lambda: told.append("up"))
        await asyncio.sleep(0.01)
        with clock.standing_still():
            assert clock.is_up
        await asyncio.sleep(0.01)

    asyncio.run(late())

    assert told == ["up"]


def test_to_wait_for_a_thread_in_the_loop_of_the_user_takes_no_time_of_a_tool(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("interp.concurrency.threads.MOST_THREADS", 1)

    async def waiting() -> str:
        busy = asyncio.ensure_future(call_in_thread(lambda: time.sleep(0.8)))
        await asyncio.sleep(0)
        found = await within(in_loop_of_user(lambda: call_in_thread(lambda: "found")), 0.4)
        await busy
        return found

    assert waited_for(waiting) == "found"


async def _is_running(loop: asyncio.AbstractEventLoop) -> bool:
    return asyncio.get_running_loop() is loop


def test_to_wait_in_the_loop_that_is_waited_for_is_refused() -> None:
    async def waiting() -> None:
        waited_for(lambda: asyncio.sleep(0))

    with pytest.raises(RuntimeError, match="do it in a thread"):
        waited_for(waiting)


def test_a_generator_is_read_and_closed_when_its_reader_stops() -> None:
    closed = threading.Event()

    async def numbers() -> AsyncGenerator[int, None]:
        try:
            for number in range(5):
                yield number
        finally:
            await asyncio.sleep(0)
            closed.set()

    assert list(read_by_waiting(numbers())) == [0, 1, 2, 3, 4]
    reading = read_by_waiting(numbers())
    assert next(reading) == 0
    closed.clear()
    reading.close()
    assert closed.is_set()


def test_what_goes_on_in_a_loop_that_is_replaced_goes_on_to_its_end() -> None:
    may_end = threading.Event()

    async def block() -> bool:
        return may_end.wait(20)

    async def three() -> list[object]:
        going = asyncio.ensure_future(in_loop_of_user(lambda: asyncio.sleep(0.1, "went on")))
        await asyncio.sleep(0.01)
        blocking = asyncio.ensure_future(in_loop_of_user(block))
        await asyncio.sleep(0.01)
        late = await in_loop_of_user(lambda: asyncio.sleep(0, "in another loop"))
        may_end.set()
        return [await going, await blocking, late]

    assert waited_for(three) == ["went on", True, "in another loop"]


def test_items_are_worked_on_in_their_order_and_some_at_once() -> None:
    begun: list[int] = []
    going = most = 0

    async def work(item: int) -> None:
        nonlocal going, most
        begun.append(item)
        going += 1
        most = max(most, going)
        await asyncio.sleep(0.01)
        going -= 1

    work_on(range(6), work, jobs=2)

    assert (begun, most) == ([0, 1, 2, 3, 4, 5], 2)


INTERRUPTED = """
import asyncio, signal, threading, time
from interp.concurrency import waited_for
ended = []
async def main():
    try:
        await asyncio.sleep(30)
    finally:
        await asyncio.sleep(0.2)
        ended.append(1)
for seconds in (0.3, 0.4):  # who is in a hurry presses it twice
    waits = threading.main_thread().ident
    threading.Timer(seconds, lambda: signal.pthread_kill(waits, signal.SIGINT)).start()
try:
    waited_for(lambda: main())
except KeyboardInterrupt:
    print("interrupted", ended)
"""
ENDS_WITH_WORK = """
import asyncio, threading, time
from interp.concurrency import call_in_thread, in_loop_of_user, waited_for
async def hanging():
    await asyncio.gather(call_in_thread(threading.Event().wait), in_loop_of_user(for_ever))
async def for_ever():
    await asyncio.sleep(1000)
threading.Thread(target=lambda: waited_for(lambda: hanging()), daemon=True).start()
time.sleep(0.3)
print("over")
"""


@pytest.mark.parametrize(
    ("code", "printed"), [(INTERRUPTED, "interrupted [1]"), (ENDS_WITH_WORK, "over")]
)
def test_a_process_is_interrupted_and_ends_whatever_goes_on(code: str, printed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout.strip(), done.stderr, done.returncode) == (printed, "", 0)


MANY_FIRST = """
import sys, threading
from interp.concurrency import waited_for

async def name():
    return threading.current_thread().name

sys.setswitchinterval(1e-6)
ready, found = threading.Barrier(30), []

def wait():
    ready.wait()
    found.append(waited_for(name))

threads = [threading.Thread(target=wait) for _ in range(30)]
[each.start() for each in threads]
[each.join(10) for each in threads]
print(found.count("runs"))
"""


def test_many_threads_may_be_the_first_that_wait() -> None:
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", MANY_FIRST],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert (done.stdout.strip(), done.stderr) == ("30", "")
