"""How far a tool is: seen while its call goes on, and kept nowhere."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import interp
from gram import ArgumentError
from lenses_ext import create_agent_pattern

CALL = {"function_call": {"name": "load", "arguments": '{"pages": 3}'}}


def run_of(function: Any, **options: Any) -> interp.Run:
    """A run whose model calls the tool ``load`` once."""
    library = interp.ToolLibrary.of(function)
    spec = interp.tool_spec_from_function(library["load"])
    agent = create_agent_pattern("a", None, "Ollama/any", "Load.", [spec])
    return interp.begin(
        agent, "hi", library, model=interp.ScriptedModel([CALL, "Done."]), **options
    )


def seen(run: interp.Run, blocking: bool, words: bool = True) -> Iterator[interp.Observation]:
    """What there is to see of a run, from either pump, as soon as it is there."""
    if blocking:
        yield from run.stream(words=words)
        return
    loop = asyncio.new_event_loop()
    each = run.astream(words=words)
    try:
        while True:
            yield loop.run_until_complete(anext(each))
    except StopAsyncIteration:
        loop.close()


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("words", [True, False])
@pytest.mark.parametrize("is_async", [True, False])
def test_progress_is_seen_before_the_call_ends(blocking: bool, words: bool, is_async: bool) -> None:
    may_end = threading.Event()

    def load(pages: int, context: interp.ToolContext) -> str:
        """Loads pages"""
        context.report_progress(1, pages, "first")
        context.report_progress(1.5)
        assert may_end.wait(30)
        return "loaded"

    async def load_later(pages: int, context: interp.ToolContext) -> str:
        """Loads pages"""
        return await asyncio.to_thread(load, pages, context)

    run = run_of(interp.tool(load_later, name="load") if is_async else load)
    found = []
    for each in seen(run, blocking, words):
        found.append(each)
        if len([each for each in found if isinstance(each, interp.ToolProgress)]) == 2:
            may_end.set()

    names = [type(each).__name__ for each in found]
    assert names[:4] == ["ToolStarted", "ToolProgress", "ToolProgress", "ToolFinished"]
    started, first, second, _ = found[:4]
    assert isinstance(started, interp.ToolStarted)
    assert first == interp.ToolProgress(started.call.at, "load", 1, 3, "first")
    assert (str(first), str(second)) == ("1 of 3: first", "1.5")
    assert not run.state.asks


@pytest.mark.parametrize("blocking", [True, False])
def test_reports_that_nobody_reads_are_dropped_and_nobody_waits(blocking: bool) -> None:
    def load(pages: int, context: interp.ToolContext) -> str:
        """Loads pages"""
        for page in range(10_000):
            context.report_progress(page)
        return "loaded"

    run = run_of(load, limits=interp.Limits(tool_seconds=20))
    found = list(seen(run, blocking))

    (result,) = (each for each in found if isinstance(each, interp.ToolFinished))
    assert result.invocation.result == "loaded"
    assert len(found) < 10_000


def test_a_run_that_nobody_watches_takes_reports_and_refuses_wrong_ones() -> None:
    def load(pages: int, context: interp.ToolContext) -> str:
        """Loads pages"""
        context.report_progress(1)
        with pytest.raises(ArgumentError):
            context.report_progress("half")  # type: ignore[arg-type]  # what is tested
        return "loaded"

    assert run_of(load).finish().tools_used[0].result == "loaded"
