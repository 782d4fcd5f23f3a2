"""The pump that does not block: it has effects performed at once, each in a task of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any

from ..concurrency import GRACE, Clock, look_at_error, stopped
from ..errors import AgentError, ApprovalNeeded, ModelError
from ..machine import Ask, CallModel, CallTool, Effect, Event, Status, TimeUp
from ..tools import providing
from .observations import (
    Observation,
    TextDelta,
    ToolProgress,
    ToolStarted,
    finished,
    observations,
    under_way,
)
from .progress import Progress
from .scheduling import startable

_PATIENCE = 1.0  # and when the run is cancelled
_BUFFERED = 16  # words of a model that are ahead of their reader
_AWAITING = (Status.AWAITING_MODEL, Status.AWAITING_TOOLS, Status.AWAITING_STEPS)


async def adrive(run: Progress, *, words: bool, is_read: bool = True) -> AsyncIterator[Observation]:
    """Go on to the end without blocking, and show what happens as it happens.

    Args:
        run: what is driven.
        words: whether to show the words of the model.
        is_read: whether somebody reads what is shown; the end is always shown.
    """
    said: asyncio.Queue[TextDelta | ToolProgress] = asyncio.Queue(_BUFFERED)
    show = partial(_offer, asyncio.get_running_loop(), said) if is_read else None
    running: dict[asyncio.Task[Event], Effect] = {}
    with run.taken_up() as (clock, world, waiting):
        try:
            for begun in under_way(run.state) if is_read else ():
                yield begun
            while True:
                for effect in startable(waiting, running.values()) if not run.failure else ():
                    waiting.remove(effect)
                    if not run.is_wanted(effect):
                        continue
                    if isinstance(effect, CallTool):
                        yield ToolStarted(effect)
                    report = said.put if words else None
                    with providing(run.tool_context(effect, show)):
                        running[asyncio.create_task(world.aperform(effect, report))] = effect
                if not running and waiting and not run.failure:
                    continue  # some were not wanted any more
                if not running:
                    break
                if words or any(map(run.may_report, running.values())):
                    async for each in _until_one_ends(running, said, clock):
                        if isinstance(each, TextDelta) or _is_under_way(each, running.values()):
                            yield each
                elif clock.left != 0:
                    await _one_ends(running, running, clock)
                ended = [task for task in running if task.done()]
                for task in ended:
                    before = run.state
                    event, new = _ended(run, running.pop(task), task)
                    waiting += new
                    if event and is_read:
                        for seen in observations(before, event, run.state):
                            yield seen
                await _give_up(run, running)
                if not ended:
                    effect = next(iter(running.values()))
                    await _stop(run, running, GRACE)
                    if not run.failure and run.state.status in _AWAITING:
                        run.fold(effect, TimeUp())
                    break
        finally:
            await _stop(run, running, _PATIENCE)
            await run.aclose()
        if run.failure:
            raise run.failure
        yield finished(run.state)


def _is_under_way(progress: ToolProgress, effects: Iterable[Effect]) -> bool:
    """Whether the call that reports has not ended."""
    return any(effect.at == progress.at for effect in effects)


def _offer(
    loop: asyncio.AbstractEventLoop,
    said: asyncio.Queue[TextDelta | ToolProgress],
    each: ToolProgress,
) -> None:
    """Show how far a tool is, unless the reader is far behind; from any thread."""

    def put() -> None:
        with suppress(asyncio.QueueFull):
            said.put_nowait(each)

    if not said.full():
        with suppress(RuntimeError):  # the loop has ended meanwhile: nobody reads
            loop.call_soon_threadsafe(put)


def _ended(
    run: Progress, effect: Effect, task: asyncio.Task[Event]
) -> tuple[Event | None, tuple[Effect, ...]]:
    """Fold in the event that a task has ended with; what it raised stops the run later.

    Returns the event, if there is one, and what is new to do.

    What else is under way goes on: a tool that was stopped half-way would be run once more
    when the run is taken up again.
    """
    if not run.is_wanted(effect, may_begin=False):
        look_at_error(task)
    elif task.cancelled():
        is_model = isinstance(effect, CallModel)
        failure = ModelError("the model cancelled its own task") if is_model else None
        run.failure = run.failure or failure or AgentError("a task cancelled itself")
    elif (error := task.exception()) is None:
        event = task.result()
        return event, run.fold(effect, event)
    elif not isinstance(error, ApprovalNeeded):  # else it stays open; the others go on
        run.failure = run.failure or error
    return None, ()


async def _stop(run: Progress, running: dict[asyncio.Task[Event], Effect], seconds: float) -> None:
    """Stop what is under way, and fold in what has ended by then."""
    await stopped(running, seconds)
    for task, effect in running.items():
        is_answered = task.done() and not task.cancelled() and not task.exception()
        if is_answered and run.is_wanted(effect, may_begin=False):
            run.fold(effect, task.result())
    running.clear()


async def _give_up(run: Progress, running: dict[asyncio.Task[Event], Effect]) -> None:
    """Cancel what is not waited for any more: requests and questions of a workflow that has failed.

    Where the run stops, questions are given up, too, since a person may take hours: they stay open.
    Tools are let go on to their end: one that is stopped half-way may leave something half-done.
    """
    is_stopping = run.failure is not None or run.state.status is Status.LIMITED
    given_up = [
        task
        for task, effect in running.items()
        if (isinstance(effect, Ask) and is_stopping)
        or (not isinstance(effect, CallTool) and not run.is_wanted(effect, may_begin=False))
    ]
    if given_up:
        await stopped(given_up, GRACE)
    for task in given_up:
        if not task.done() or task.cancelled():
            del running[task]


async def _until_one_ends(
    running: dict[asyncio.Task[Event], Effect],
    said: asyncio.Queue[TextDelta | ToolProgress],
    clock: Clock,
) -> AsyncIterator[TextDelta | ToolProgress]:
    """Yield what is said until something that is under way ends, or the time is up."""
    tasks = set(running)
    while True:
        while not said.empty() and clock.left != 0:
            yield said.get_nowait()
        if any(task.done() for task in tasks) or clock.left == 0:
            return
        word = asyncio.ensure_future(said.get())
        try:
            await _one_ends({*tasks, word}, running, clock)
        finally:
            word.cancel()
        if word.done() and not word.cancelled():
            yield word.result()
        elif not any(task.done() for task in tasks):
            return


async def _one_ends(
    tasks: Iterable[asyncio.Future[Any]],
    running: Mapping[asyncio.Task[Event], Effect],
    clock: Clock,
) -> None:
    """Wait until one of some tasks ends, or the time is up; while it asks, no time passes."""
    is_asking = any(isinstance(effect, Ask) for effect in running.values())
    with clock.standing_still() if is_asking else nullcontext():
        timeout = None if is_asking else clock.left
        await asyncio.wait(tasks, timeout=timeout, return_when="FIRST_COMPLETED")
