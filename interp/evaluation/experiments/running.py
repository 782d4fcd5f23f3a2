"""Runs the trials of a plan, several at once, and measures each as soon as it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import TypeAlias

from attrs import evolve, frozen

from gram import GramError

from ...concurrency import work_on
from ...errors import AgentError, said_by
from ...execution import Spending, finished
from ...history.records import RecordedRun, RunFile
from ...machine import AgentResponse, State, Status, Usage
from ...running import Run
from ...tools import is_from_outside
from ..cases import Case
from .arms import ReadyArm, fresh_library
from .metrics import Metric
from .trials import Trial, fingerprint

_ENDED = (Status.DONE, Status.LIMITED, Status.UNUSABLE)

Key: TypeAlias = tuple[str, int, str]


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

    async def work(key: Key) -> None:
        job.keep(await _trial(job, key))

    work_on(keys, work, job.jobs)


async def _trial(job: Job, key: Key) -> Trial:
    name, repeat, arm = key
    case, ready, file = job.cases[name], job.arms[arm], job.file_of(key)
    spending = Spending()
    began, before = monotonic(), 0.0
    response: AgentResponse | None = None
    failure: str | None = None
    state: State | None = None
    run: Run | None = None
    try:
        kept = _kept(file)
        if kept:
            state = kept[1].state
            for step in kept[1].steps:
                spending.count(step.effect, step.event)
            before = sum(step.seconds or 0.0 for step in kept[1].steps)
        if state and state.status in _ENDED:
            response = finished(state).response
        else:
            async with fresh_library(ready.arm.tools) as library:
                began = monotonic()
                if kept:
                    file_so_far, recorded = kept
                    run = ready.take_up(
                        recorded.state, library, record=file_so_far, watch=spending.count
                    )
                else:
                    run = ready.begin(case, library, record=file, watch=spending.count)
                response = await run.afinish()
    except AgentError as error:
        if type(error) is AgentError and isinstance(error.__cause__, OSError):
            raise error.__cause__ from error  # the run cannot be recorded any more
        failure = f"{type(error).__name__}: {error}"
    except GramError as error:
        failure = f"{type(error).__name__}: {error}"
    except OSError:
        raise
    except BaseException as error:  # a model of the user may raise anything
        if is_from_outside(error):
            raise
        failure = said_by(error)
    seconds = before + monotonic() - began
    state = run.state if run else state
    trial = Trial(
        arm=arm,
        case=case,
        repeat=repeat,
        failure=failure,
        content=response.content if response else "",
        calls=len(state.tools_used) if state else 0,
        rounds=len(spending.replies),
        usage=state.usage if state else Usage(0, 0),
        cost=spending.cost(ready.model) if state else None,
        seconds=seconds,
        models=spending.models,
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
