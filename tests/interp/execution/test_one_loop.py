"""One loop drives every run: what goes on at once, whose thread calls what, what is left behind."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

import interp
from tests.interp.one_tool import AGENT, asking, aworking, by_arun, by_run, either_driver, working

Drive = Callable[..., Any]


def sleeping(seconds: float) -> interp.ToolLibrary:
    """A tool that takes a while."""
    return working(lambda n: time.sleep(seconds) or n)


def meeting(number: int) -> interp.ToolLibrary:
    """A tool whose calls wait for each other, so many of them."""
    barrier = threading.Barrier(number, timeout=60)
    return working(lambda n: n if barrier.wait() >= 0 else None)


@either_driver
def test_the_calls_of_a_turn_are_made_at_once(drive: Drive) -> None:
    response = drive(meeting(8), [asking(*range(8)), "done"])
    assert [each.result for each in response.tools_used] == list(range(8))


@either_driver
def test_calls_are_made_one_after_another_where_the_caller_says_so(drive: Drive) -> None:
    threads: list[int] = []
    going = most = 0

    def work(n: int) -> int:
        nonlocal going, most
        going += 1
        most = max(most, going)
        threads.append(threading.get_ident())
        time.sleep(0.02)
        going -= 1
        return n

    drive(working(work), [asking(1, 2, 3), "done"], at_once=1)

    assert (most, len(set(threads))) == (1, 1)
    assert threads[0] != threading.get_ident()


def test_without_limits_of_time_the_thread_that_waits_calls_the_tools() -> None:
    threads: list[int] = []
    limits = interp.Limits(tool_seconds=None)
    library = working(lambda n: threads.append(threading.get_ident()))
    by_run(library, [asking(1, 2), "done"], limits=limits, at_once=1)
    assert set(threads) == {threading.get_ident()}


@either_driver
def test_a_tool_that_is_alone_never_runs_beside_another_call(drive: Drive) -> None:
    going, beside = 0, []

    @interp.tool(name="work", description="Works", alone=True)
    def work(n: int) -> Any:
        nonlocal going
        beside.append(going)
        going += 1
        time.sleep(0.02)
        going -= 1
        return n

    drive(interp.ToolLibrary.of([work]), [asking(1, 2, 3), "done"])

    assert beside == [0, 0, 0]


def test_runs_begin_inside_tools_deeper_than_there_are_threads() -> None:
    def nested(level: int) -> Any:
        if level == 0:
            return 0
        inner = by_run(working(nested), [asking(level - 1), "done"])
        return inner.tools_used[0].result + 1

    response = by_run(working(nested), [asking(*([2] * 60)), "done"])

    assert [each.result for each in response.tools_used] == [2] * 60


def test_the_time_of_a_tool_begins_with_its_thread() -> None:
    limits = interp.Limits(tool_seconds=4, tool_calls=200, calls_per_tool=200)
    response = by_run(sleeping(2.1), [asking(*range(200)), "done"], limits=limits)
    assert {each.error for each in response.tools_used} == {None}


@either_driver
def test_a_tool_that_takes_too_long_is_left_behind_with_the_run_inside_it(drive: Drive) -> None:
    inside: list[str] = []

    def runs_for_long(n: int) -> Any:
        try:
            by_run(sleeping(30), [asking(1), "x"])
        except BaseException as error:
            inside.append(type(error).__name__)
            raise

    limits = interp.Limits(tool_seconds=0.3)
    response = drive(working(runs_for_long), [asking(1), "done"], limits=limits)

    assert "did not answer within 0.3 s" in str(response.tools_used[0].error)
    for _ in range(100):
        if inside:
            break
        time.sleep(0.02)
    assert inside == ["CancelledError"]


def test_an_async_tool_that_blocks_holds_no_other_run() -> None:
    begun, may_end, waited = threading.Event(), threading.Event(), list[bool]()

    @interp.tool(name="work", description="Works")
    async def blocks(n: int) -> Any:
        begun.set()
        waited.append(may_end.wait(60))

    late = threading.Thread(target=by_run, args=(interp.ToolLibrary.of([blocks]), [asking(1), "x"]))
    late.start()
    begun.wait()

    @interp.tool(name="work", description="Works")
    async def quick(n: int) -> Any:
        await asyncio.sleep(0.01)
        return n

    assert by_run(interp.ToolLibrary.of([quick]), [asking(1), "done"]).content == "done"
    may_end.set()
    late.join()
    assert waited == [True]


def test_who_stops_reading_at_a_call_has_prevented_it() -> None:
    called: list[int] = []
    model = interp.ScriptedModel([asking(1), "done"])
    seen: Any = interp.stream(AGENT, "hi", working(called.append), model=model, match="types")
    for each in seen:
        if isinstance(each, interp.ToolStarted):
            break
    seen.close()

    assert called == []


@pytest.mark.parametrize("where", ["same task", "another task", "collected"])
def test_an_asynchronous_stream_may_be_left_anywhere(where: str) -> None:
    called: list[int] = []

    async def leave() -> None:
        model = interp.ScriptedModel([asking(1), "done"])
        seen = interp.astream(AGENT, "hi", working(called.append), model=model, match="types")
        async for each in seen:
            if isinstance(each, interp.ToolStarted):
                break
        if where == "same task":
            await seen.aclose()
        elif where == "another task":
            await asyncio.create_task(_closed(seen))
        else:
            del seen, each
            await asyncio.sleep(0.05)

    asyncio.run(leave())
    assert called == []


async def _closed(seen: Any) -> None:
    await seen.aclose()


@either_driver
def test_observers_of_every_kind_are_called_for_each_event(drive: Drive) -> None:
    seen: list[str] = []

    def plain(effect: object, event: object) -> None:
        seen.append(type(event).__name__)

    async def later(effect: object, event: object) -> None:
        await asyncio.sleep(0)
        plain(effect, event)

    class Called:
        async def __call__(self, effect: object, event: object) -> None:
            plain(effect, event)

    kinds: list[Any] = [plain, later, Called(), lambda effect, event: later(effect, event)]
    for observe in kinds:
        drive(working(lambda n: n), [asking(1), "done"], observe=observe)

    assert seen == ["ModelReplied", "ToolReturned", "ModelReplied"] * 4


def test_plain_observers_and_approvers_are_called_by_the_thread_that_waits() -> None:
    threads: list[int] = []

    def approve(_: object) -> bool:
        threads.append(threading.get_ident())
        return True

    def observe(*_: object) -> None:
        threads.append(threading.get_ident())

    by_run(working(lambda n: n), [asking(1), "done"], approve=approve, observe=observe)

    assert set(threads) == {threading.get_ident()}


def test_a_watcher_is_told_before_the_next_effect_begins() -> None:
    order: list[str] = []

    def watch(_: object, event: object, __: object) -> None:
        time.sleep(0.02)
        order.append(type(event).__name__)

    by_run(working(lambda n: order.append("called")), [asking(1), "d"], watch=watch)

    assert order == ["ModelReplied", "called", "ToolReturned", "ModelReplied"]


@either_driver
def test_a_tool_has_the_context_of_whoever_runs_it(drive: Drive) -> None:
    variable: ContextVar[str] = ContextVar("variable", default="lost")
    variable.set("mine")
    response = drive(working(lambda n: variable.get()), [asking(1), "done"])
    assert response.tools_used[0].result == "mine"


def test_a_call_that_runs_once_is_asked_about_after_an_interrupt_without_any_record() -> None:
    called: list[int] = []

    @interp.tool(name="work", description="Works", once=True)
    def pay(n: int) -> Any:
        called.append(n)
        time.sleep(0.5)

    async def interrupted_twice() -> None:
        model = interp.ScriptedModel([asking(1), "done"])
        begun = interp.begin(AGENT, "hi", interp.ToolLibrary.of([pay]), model=model, match="types")
        task = asyncio.create_task(begun.afinish())
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(interp.ApprovalNeeded, match="work"):
            await begun.afinish()
        assert [each.may_have_run for each in begun.state.asks] == [True]

    asyncio.run(interrupted_twice())
    assert called == [1]


@pytest.mark.parametrize("seconds", [None, 30])
def test_a_run_that_is_cancelled_waits_for_what_a_tool_cleans_up(seconds: float | None) -> None:
    begun, told = asyncio.Event(), list[str]()

    async def work(_: int) -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.2)
            told.append("cleaned up")

    async def cancelled() -> None:
        model, limits = interp.ScriptedModel([asking(1)]), {"tool_seconds": seconds}
        given: Any = {"model": model, "limits": limits, "match": "types"}
        task = asyncio.create_task(interp.arun(AGENT, "hi", aworking(work), **given))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        told.append("ended")

    asyncio.run(cancelled())

    assert told == ["cleaned up", "ended"]


@pytest.mark.parametrize("is_async", [False, True])
def test_an_observer_may_cancel_the_run(is_async: bool) -> None:
    seen = list[str]()

    async def cancelled() -> None:
        loop = asyncio.get_running_loop()

        def observe(_: interp.machine.Effect, event: interp.machine.Event) -> None:
            seen.append(type(event).__name__)
            loop.call_soon_threadsafe(task.cancel)

        async def aobserve(_: interp.machine.Effect, event: interp.machine.Event) -> None:
            seen.append(type(event).__name__)
            task.cancel()

        model = interp.ScriptedModel([asking(1), "done"])
        given: Any = {
            "model": model,
            "match": "types",
            "observe": aobserve if is_async else observe,
        }
        task = asyncio.create_task(interp.arun(AGENT, "hi", working(str), **given))
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())

    assert seen == ["ModelReplied"]


HANGS = """
import asyncio, threading
from interp import Limits, ScriptedModel, arun, run, tool
from tests.interp.one_tool import AGENT, asking
@tool(name="work", description="Works")
def hang(n: int) -> object:
    threading.Event().wait()
def given():
    model, limits = ScriptedModel([asking(1), "done"]), Limits(tool_seconds=0.2)
    return {"model": model, "limits": limits, "match": "types"}
print(run(AGENT, "hi", [hang], **given()).content)
print(asyncio.run(arun(AGENT, "hi", [hang], **given())).content)
"""


def test_a_process_ends_at_once_though_a_tool_never_returns() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", HANGS], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr, done.returncode) == ("done\ndone\n", "", 0)


READS = """
from interp import ScriptedModel, stream
from tests.interp.one_tool import AGENT, DOUBLE, asking
seen = stream(AGENT, "hi", DOUBLE, model=ScriptedModel([asking(1)]), match="types")
print(type(next(seen)).__name__)
"""


def test_a_process_ends_quietly_though_a_stream_is_not_read_to_its_end() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", READS], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr, done.returncode) == ("ToolStarted\n", "", 0)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="only Linux lists what is open")
def test_many_event_loops_in_a_row_leave_nothing_behind() -> None:
    open_before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        by_arun(working(lambda n: n), [asking(1), "done"])
    gc.collect()  # what was left open would warn, and warnings are errors here
    assert len(list(Path("/proc/self/fd").iterdir())) <= open_before + 2


def test_a_run_goes_on_where_another_loop_runs_as_in_a_notebook() -> None:
    async def cell() -> str:
        return by_run(working(lambda n: n), [asking(1), "done"]).content

    assert asyncio.run(cell()) == "done"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only Unix has fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_that_is_forked_while_runs_go_on_runs_agents_of_its_own() -> None:
    other = threading.Thread(target=by_run, args=(sleeping(0.5), [asking(1), "done"]))
    other.start()
    time.sleep(0.1)
    child = os.fork()
    if child == 0:
        response = by_run(working(lambda n: n), [asking(1), "done"])
        os._exit(0 if response.content == "done" else 1)
    other.join()

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_branches_and_items_of_workflows_go_on_at_once(tmp_path: Any) -> None:
    program = tmp_path / "w.gram"
    program.write_text(
        '[w:Workflow | (items::Array {elementType: "Integer"})==>(::Any),\n'
        "  (work)-->(), ()-[:EACH {at_once: 4}]->(work)]\n"
        '[work:Tool {description: "Works"} | (n::Integer)==>(::Any)]\n'
    )
    response = interp.run(interp.load(program), {"items": [1, 2, 3, 4]}, meeting(4), match="types")

    assert response.value == [1, 2, 3, 4]
