"""Runs the trials of a plan, several at once, and measures each as soon as it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic

from attrs import evolve, frozen

from gram import GramError

from ...concurrency import work_on
from ...errors import StoreError, said_by
from ...execution import Spending, finished
from ...history.records import RecordedRun
from ...history.stores import Address, StoredRun, open_store
from ...machine import AgentResponse, State, Status, Usage
from ...running import Run, RunOptions
from ...tools import is_from_outside
from ..cases import Case
from .arms import ReadyArm, fresh_library
from .budget import Meter
from .metrics import Metric
from .plan import Key
from .trials import Trial, fingerprint

_ENDED = (Status.DONE, Status.LIMITED, Status.UNUSABLE)


@frozen
class Job:
    """What has to run.

    Attributes:
        arms: the arms by name.
        cases: the cases by name.
        metrics: what to measure.
        jobs: how many runs go on at once.
        run_of: where the run of a trial is recorded; None for nowhere.
        keep: is given each trial when it has ended, in the order in which they end.
        meter: says whether the budget allows another run.
    """

    arms: Mapping[str, ReadyArm]
    cases: Mapping[str, Case]
    metrics: Sequence[Metric]
    jobs: int
    run_of: Callable[[Key], Address | None]
    keep: Callable[[Trial], None]
    meter: Meter


def run_trials(job: Job, keys: Sequence[Key]) -> None:
    """Run trials in an order, as far as the budget goes; each is kept when it has ended.

    Ctrl-C stops the runs that go on, whose records stay, and is raised.

    Raises:
        OSError, StoreError: a run cannot be recorded any more.
    """

    async def work(key: Key) -> None:
        if job.meter.begins():
            trial = await _trial(job, key)
            job.meter.count(trial)
            job.keep(trial)

    work_on(keys, work, job.jobs)


async def _trial(job: Job, key: Key) -> Trial:
    name, repeat, arm = key
    case, ready, address = job.cases[name], job.arms[arm], job.run_of(key)
    spending = Spending()
    began, before = monotonic(), 0.0
    response: AgentResponse | None = None
    failure: str | None = None
    state: State | None = None
    run: Run | None = None
    try:
        log, kept = _log(address) if address else (None, None)
        if kept:
            state = kept.state
            for step in kept.steps:
                spending.count(step.effect, step.event)
            before = sum(step.seconds or 0.0 for step in kept.steps)
        if state and state.status in _ENDED:
            response = finished(state).response
        else:
            async with fresh_library(ready.arm.tools) as library:
                began = monotonic()
                options: RunOptions = {"record": log, "watch": spending.count}
                if state:
                    run = ready.take_up(state, library, **options)
                else:
                    run = ready.begin(case, library, **options)
                response = await run.afinish()
    except StoreError:
        raise  # the run cannot be recorded any more
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
        run=address if log and log.has_begun else None,
        response=response,
        state=state,
    )
    return evolve(trial, scores={metric.name: await metric.score(trial) for metric in job.metrics})


def _log(address: Address) -> tuple[StoredRun, RecordedRun | None]:
    """What a run is recorded in, and what is recorded of it, if it was interrupted."""
    store = open_store(address.place)
    if any(each.id == address.run for each in store.rows(beginning=address.run)):
        return StoredRun.of(store, address.run, closes_store=True)
    return StoredRun(store, address.run, closes_store=True), None
