"""Runs the trials of a plan, several at once, and measures each as soon as it ends."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias, TypeVar

from attrs import evolve, frozen

from gram import GramError

from ..cases import Case
from ..errors import AgentError, said_by
from ..execution import Run, finished
from ..machine import State, Status, calls_made
from ..messages import AgentResponse, Usage
from ..records import RecordedRun, RunFile
from .arms import ReadyArm
from .metrics import Metric
from .replies import Replies
from .trials import Trial, fingerprint

_ENDED = (Status.DONE, Status.LIMITED, Status.UNUSABLE)

Key: TypeAlias = tuple[str, int, str]
T = TypeVar("T")


@frozen
class Job:
    """What has to run.

    Attributes:
        arms: the arms by name.
        cases: the cases by name.
        metrics: what to measure.
        jobs: how many runs go on at once.
        file_of: where the run of a trial is recorded; None for nowhere.
        keep: is given each trial when it has ended, in the order in which they end.
    """

    arms: Mapping[str, ReadyArm]
    cases: Mapping[str, Case]
    metrics: Sequence[Metric]
    jobs: int
    file_of: Callable[[Key], Path | None]
    keep: Callable[[Trial], None]


def run_trials(job: Job, keys: Sequence[Key]) -> None:
    """Run trials in an order; each is kept when it has ended.

    Ctrl-C stops the runs that go on, whose records stay, and is raised.

    Raises:
        OSError: a run cannot be recorded any more.
    """
    _complete(_run_all(job, deque(keys)))


async def _run_all(job: Job, keys: deque[Key]) -> None:
    async def work() -> None:
        while keys:
            job.keep(await _trial(job, keys.popleft()))

    workers = [asyncio.ensure_future(work()) for _ in range(min(job.jobs, len(keys)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def _trial(job: Job, key: Key) -> Trial:
    name, repeat, arm = key
    case, ready, file = job.cases[name], job.arms[arm], job.file_of(key)
    replies = Replies()
    began, before = monotonic(), 0.0
    response: AgentResponse | None = None
    failure: str | None = None
    state: State | None = None
    run: Run | None = None
    try:
        if kept := _kept(file):
            run_file, recorded = kept
            state = recorded.state
            for step in recorded.steps:
                replies.watch(step.effect, step.event, step.state)
            before = sum(step.seconds or 0.0 for step in recorded.steps)
            if state.status in _ENDED:
                response = finished(state).response
            else:
                run = ready.take_up(state, record=run_file, watch=replies.watch)
        else:
            run = ready.begin(case, record=file, watch=replies.watch)
        if run:
            response = await run.afinish()
    except AgentError as error:
        if type(error) is AgentError and isinstance(error.__cause__, OSError):
            raise error.__cause__ from error  # the run cannot be recorded any more
        failure = f"{type(error).__name__}: {error}"
    except GramError as error:
        failure = f"{type(error).__name__}: {error}"
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001  # a model of the user may raise anything
        failure = said_by(error)
    seconds = before + monotonic() - began
    state = run.state if run else state
    trial = Trial(
        arm=arm,
        case=case,
        repeat=repeat,
        failure=failure,
        content=response.content if response else "",
        calls=len(calls_made(state.frame)) + len(state.answers) if state else 0,
        rounds=len(replies.found),
        usage=state.usage if state else Usage(0, 0),
        cost=replies.cost(ready.model) if state else None,
        seconds=seconds,
        models=replies.models,
        fingerprint=fingerprint(state.context) if state else "",
        file=file if file and file.exists() else None,
        response=response,
        state=state,
    )
    return evolve(trial, scores={metric.name: await metric.score(trial) for metric in job.metrics})


def _kept(file: Path | None) -> tuple[RunFile, RecordedRun] | None:
    """What is recorded of a run that was interrupted; a record that cannot be read is removed."""
    if file is None or not file.exists():
        return None
    try:
        return RunFile.of(file)
    except GramError:
        file.unlink()
        return None


def _complete(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also where a loop is running, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    going: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = []

    async def main() -> T:
        going.append((asyncio.get_running_loop(), asyncio.current_task()))
        return await coroutine

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(asyncio.run, main())
        try:
            return future.result()
        except BaseException:
            for loop, task in going:
                if task and not loop.is_closed():
                    loop.call_soon_threadsafe(task.cancel)
            raise
