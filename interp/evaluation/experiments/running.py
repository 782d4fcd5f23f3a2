"""Runs the trials of a plan, several at once, and measures each as soon as it ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from .folder import Folder
from .forecast import Budget, Meter
from .metrics import Metric, Trial, fingerprint
from .plan import Key, Plan


@contextmanager
def shown(progress: bool | None, planned: int, done: int) -> Iterator[Callable[[Trial], None]]:
    """A progress bar, and what is to be called with each trial that has ended.

    Args:
        progress: whether there is one; None for one where standard error is a terminal.
        planned: how many trials the plan has.
        done: how many are done already.
    """
    if progress is None:
        progress = sys.stderr is not None and sys.stderr.isatty()
    if not progress or done == planned:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress

    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    failed = 0
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("runs", total=planned, completed=done)

        def advance(trial: Trial) -> None:
            nonlocal failed
            failed += trial.failure is not None
            bar.update(task, advance=1, description=f"runs, {failed} failed" if failed else "runs")

        yield advance


_ENDED = (Status.DONE, Status.LIMITED, Status.UNUSABLE)


@frozen
class Work:
    """What has to run, and with what.

    Attributes:
        plan: the plan.
        arms: the arms by name.
        cases: the cases by name.
        metrics: what to measure.
        folder: where runs and results are kept; None for nowhere.
        jobs: how many runs go on at once.
        progress: how progress is shown, see `shown`.
        budget: what all runs may take.
    """

    plan: Plan
    arms: Mapping[str, ReadyArm]
    cases: Mapping[str, Case]
    metrics: Sequence[Metric]
    folder: Folder | None
    jobs: int
    progress: bool | None
    budget: Budget


def run_trials(work: Work, keys: Sequence[Key], done: list[Trial]) -> str | None:
    """Run trials in an order, as far as the budget goes; each is kept when it has ended.

    Ctrl-C stops the runs that go on, whose records stay, and is raised.

    Args:
        work: what has to run.
        keys: the trials.
        done: those that are done already; gets the others, in the order in which they end.

    Returns:
        Why no more run than did, or None.

    Raises:
        OSError, StoreError: a run cannot be recorded any more.
    """
    finished = {each.key for each in done}
    left = [key for key in keys if key not in finished]
    meter = Meter(work.budget, done, work.jobs)
    with shown(work.progress, len(keys), len(keys) - len(left)) as advance:

        async def run(key: Key) -> None:
            if not meter.begins():
                return
            trial = await _trial(work, key)
            meter.count(trial)
            if work.folder:
                work.folder.write(work.plan, trial)
            done.append(trial)
            advance(trial)

        work_on(left, run, work.jobs)
    return meter.used_up


async def _trial(work: Work, key: Key) -> Trial:
    name, repeat, arm = key
    case, ready = work.cases[name], work.arms[arm]
    address = work.folder.run_of(work.plan, key) if work.folder else None
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
    except (StoreError, OSError):  # the record cannot be kept
        raise
    except GramError as error:
        failure = f"{type(error).__name__}: {error}"
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
    return evolve(trial, scores={metric.name: await metric.score(trial) for metric in work.metrics})


def _log(address: Address) -> tuple[StoredRun, RecordedRun | None]:
    """What a run is recorded in, and what is recorded of it, if it was interrupted."""
    store = open_store(address.place)
    if any(each.id == address.run for each in store.rows(beginning=address.run)):
        return StoredRun.of(store, address.run, closes_store=True)
    return StoredRun(store, address.run, closes_store=True), None
