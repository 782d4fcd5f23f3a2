"""Ctrl-C lands on lines of ours: a run that is recorded can always go on, and nothing is lost.

A few lines of each way are tried, the same each time; at night more.
"""

from __future__ import annotations

import asyncio
import gc
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import pytest

import interp
from gram import loads_one
from interp import Run, ToolLibrary, begin, tool
from interp.concurrency import call_in_thread, threads
from interp.concurrency.threads import MOST_THREADS
from interp.history.records import has_nothing_begun
from interp.history.stores import StoredRun
from tests.paths import ROOT

T = TypeVar("T")
ROOMS = tuple(
    str(ROOT / "interp" / room) for room in ("execution", "history", "running", "concurrency")
)
OFTEN = pytest.mark.parametrize("often", [4, pytest.param(200, marks=pytest.mark.nightly)])
AGENT = loads_one(
    """
    [a:Agent {instruction: "Help.", model: "OpenAI/x"} |
      [look:Tool {description: "Looks"} | (n::Integer)==>(::Any)],
      [pay:Tool {description: "Pays"} | (n::Integer)==>(::Any)]]
    """
)


cut_coroutines = pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"  # of what was cut before it was awaited
)


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """What was cut is collected in the test that has cut it, and not in a later one."""
    yield
    gc.collect()


class ByTurn:
    """A model that answers by how many turns there were, so that it can be asked again."""

    def complete(self, request: Any) -> Any:
        turn = sum(bool(message.tool_calls) for message in request.messages)
        calls = [interp.ToolCall("1", "look", '{"n": 1}'), interp.ToolCall("2", "pay", '{"n": 2}')]
        return interp.Message(interp.AssistantRole, "", calls) if turn < 2 else "Done."


class Interrupting:
    """Ctrl-C at one line of ours that this thread passes."""

    def __init__(self, line: int) -> None:
        self.line, self.passed = line, 0
        self._traces = self._trace  # Python 3.11 calls it once more after it was let go

    def __enter__(self) -> Interrupting:
        sys.settrace(self._traces)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _trace(self, frame: FrameType, event: str, _: object) -> Any:
        if not frame.f_code.co_filename.startswith(ROOMS):
            return None
        if event == "line":
            self.passed += 1
            if self.passed == self.line:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self._traces


class Trial:
    """A run that is interrupted, and goes on.

    Args:
        record: the options that say where it is recorded.
    """

    def __init__(self, record: dict[str, Any]) -> None:
        self.paid: list[int] = []
        self.seen: list[Any] = []
        self.begun: Run | None = None
        self._record = record

    @property
    def library(self) -> ToolLibrary:
        @tool(name="look", description="Looks")
        def look(n: int) -> Any:
            return n

        @tool(name="pay", description="Pays", once=True)
        def pay(n: int) -> Any:
            self.paid.append(n)
            return n

        return ToolLibrary.of([look, pay])

    @property
    def options(self) -> dict[str, Any]:
        return {
            "model": ByTurn(),
            "match": "types",
            "approve": lambda ask: "it did" if ask.may_have_run else True,
            "watch": lambda effect, event, step: self.seen.append(event),
        }

    def begin(self) -> Run:
        options: Any = {**self._record, **self.options, "policy": interp.ApprovalPolicy()}
        self.begun = begin(AGENT, "hi", self.library, **options)
        return self.begun


def by_run(run: Run) -> str:
    return run.finish().content


def by_asyncio_run(run: Run) -> str:
    return asyncio.run(run.afinish()).content


def by_run_until_complete(run: Run) -> str:
    return until_complete(run.afinish()).content


def until_complete(main: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(main)
    finally:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.wait(tasks, timeout=2))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


WAYS: list[Callable[[Run], str]] = [by_run, by_asyncio_run, by_run_until_complete]


def lines_to_try(count: int, often: int) -> list[int]:
    """Some of so many lines, spread over all of them."""
    return sorted(random.Random(count).sample(range(1, count + 1), min(often, count)))


@cut_coroutines
@OFTEN
@pytest.mark.parametrize("way", WAYS)
def test_a_run_goes_on_whatever_line_it_was_interrupted_at(
    way: Callable[[Run], str], often: int, tmp_path: Path
) -> None:
    with Interrupting(-1) as counting:
        way(Trial({"record": tmp_path / "whole.run.gram"}).begin())

    for number, line in enumerate(lines_to_try(counting.passed, often)):
        file = tmp_path / f"{line}.run.gram"
        trial = Trial({"record": file})
        try:
            with Interrupting(line):
                way(trial.begin())
        except KeyboardInterrupt:
            pass
        goes_on(trial, file, number % 2 == 0, f"line {line}")


def goes_on(trial: Trial, file: Path, from_memory: bool, told: str) -> None:
    """Go on with a run, from memory or from its file, and look that nothing is lost or doubled."""
    if from_memory and trial.begun is not None:
        content = trial.begun.finish().content
    elif file.exists() and not has_nothing_begun(file):
        content = interp.resume_run(file, trial.library, **trial.options).content
    else:
        content = by_run(trial.begin())
    kept = interp.load_run(file)

    assert content == kept.content == "Done.", told
    assert len(trial.paid) <= 2, told
    missing = [each for each in trial.seen if each not in kept.events]
    assert not missing, told
    assert tuple(kept.state.events) == kept.events, told


@cut_coroutines
@OFTEN
@pytest.mark.parametrize("way", WAYS)
def test_a_run_of_a_store_goes_on_whatever_line_it_was_interrupted_at(
    way: Callable[[Run], str], often: int, tmp_path: Path
) -> None:
    with Interrupting(-1) as counting, interp.open_store(tmp_path / "whole.db") as store:
        way(Trial({"record": store}).begin())

    for line in lines_to_try(counting.passed, often):
        with interp.open_store(tmp_path / f"{line}.db") as store:
            trial = Trial({"record": store})
            try:
                with Interrupting(line):
                    way(trial.begin())
            except KeyboardInterrupt:
                pass
            if trial.begun is None:
                continue
            content = trial.begun.finish().content
            StoredRun.of(store, trial.begun.state.run_id)  # who looks at it says what it is
            row = store.row(trial.begun.state.run_id)
            kept = store.recorded(trial.begun.state.run_id)

            assert (content, row.status) == ("Done.", "done"), f"line {line}"
            assert len(trial.paid) <= 2, f"line {line}"
            assert set(map(repr, trial.begun.state.events)) == set(map(repr, kept.events)), (
                f"line {line}"
            )
            assert len(trial.begun.state.events) == len(kept.events), f"line {line}"
            assert not [each for each in trial.seen if each not in kept.events], f"line {line}"


@cut_coroutines
@OFTEN
def test_a_run_goes_on_when_ctrl_c_comes_at_any_moment(often: int, tmp_path: Path) -> None:
    chosen = random.Random(1)
    main = threading.main_thread().ident
    assert main is not None
    for number in range(often):
        file = tmp_path / f"{number}.run.gram"
        trial = Trial({"record": file})
        wait = chosen.random() * 0.02
        ended = threading.Event()

        def interrupt(wait: float = wait, ended: threading.Event = ended) -> None:
            time.sleep(wait)
            if not ended.is_set():
                signal.pthread_kill(main, signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        try:
            thread.start()
            by_run(trial.begin())
            ended.set()
            thread.join()
            time.sleep(0.001)  # what was sent comes here
        except KeyboardInterrupt:
            thread.join()
        goes_on(trial, file, number % 2 == 0, f"after {wait} s")


@cut_coroutines
@pytest.mark.parametrize("calls", [1, MOST_THREADS + 5])
def test_as_many_threads_work_whatever_line_was_interrupted(calls: int) -> None:
    async def work(function: Callable[[], object]) -> None:
        await asyncio.gather(*(call_in_thread(function) for _ in range(calls)))

    with Interrupting(-1) as counting:
        until_complete(work(lambda: None))
    for line in lines_to_try(counting.passed, 20):
        with suppress(KeyboardInterrupt), Interrupting(line):
            until_complete(work(lambda: time.sleep(0.01)))

    calls = MOST_THREADS
    until_complete(work(threading.Barrier(MOST_THREADS, timeout=20).wait))


@cut_coroutines
def test_no_place_is_lost_where_the_end_of_a_call_that_never_began_is_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "MOST_THREADS", 1)

    async def cancelled(line: int) -> int:
        may_end = threading.Event()
        working = asyncio.ensure_future(call_in_thread(may_end.wait))
        await asyncio.sleep(0)
        late = asyncio.ensure_future(call_in_thread(lambda: None))
        await asyncio.sleep(0)
        may_end.set()
        time.sleep(0.01)  # it has its turn, which the loop does not know yet
        late.cancel()
        with Interrupting(line) as counting:
            await asyncio.gather(late, return_exceptions=True)
        await working
        return counting.passed

    for line in range(1, 1 + until_complete(cancelled(-1))):
        with suppress(KeyboardInterrupt):
            until_complete(cancelled(line))
        gc.collect()  # a call that was cut off is garbage, and its place is free again
        assert until_complete(asyncio.wait_for(call_in_thread(lambda: "here"), 5)) == "here"


@cut_coroutines
def test_a_run_whose_loop_was_closed_in_the_middle_goes_on() -> None:
    may_end = threading.Event()
    begun = begin(AGENT, "hi", waiting_for(may_end), model=ByTurn(), match="types")
    loop = asyncio.new_event_loop()
    left = loop.create_task(begun.afinish())
    loop.call_later(0.3, loop.stop)
    loop.run_forever()
    loop.close()
    may_end.set()

    assert not left.done()
    assert begun.finish().content == "Done."


def waiting_for(may_end: threading.Event) -> ToolLibrary:
    """Tools that wait."""

    def wait(n: int) -> Any:
        return may_end.wait(10)

    return ToolLibrary.of(
        [tool(name="look", description="Looks")(wait), tool(name="pay", description="Pays")(wait)]
    )
