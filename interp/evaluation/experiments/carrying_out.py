"""Run the same cases through several arms, and compare them."""

from __future__ import annotations

import os
import secrets
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from time import monotonic

from attrs import evolve, frozen

from gram import ArgumentError, GramError
from gram.errors import expect, expect_all
from gram.extras import install
from gram.words import counted

from ...concurrency import work_on
from ...errors import ConfigurationError, StoreError, ValidationError, said_by
from ...execution import Spending, finished
from ...history.records import PathLike, RecordedRun
from ...history.stores import Address, StoredRun, open_store
from ...machine import Status, Usage
from ...tools import is_from_outside
from ..cases import Case, Checks, RubricJudge, read_cases, require_checks, require_tools
from .arms import Arm, Program, ReadyArm, declared_answer, fresh_library, read_arms, ready
from .chance import require_statistics
from .comparing import crossed
from .experiment import Experiment
from .forecast import Budget, Forecast, Meter
from .metrics import Metric, MetricLike, Trial, expect_known, fingerprint, read_metrics
from .plan import Folder, Key, Plan, folder_of, make_plan


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
    spending, began, before = Spending(), monotonic(), 0.0
    response, failure, state, run = None, None, None, None
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
                begun = partial(ready.take_up, state) if state else partial(ready.begin, case)
                run = begun(library, record=log, watch=spending.count)
                response = await run.afinish()
    except (StoreError, OSError):  # the record cannot be kept
        raise
    except BaseException as error:  # a model of the user may raise anything
        if is_from_outside(error):
            raise
        is_ours = isinstance(error, GramError)
        failure = f"{type(error).__name__}: {error}" if is_ours else said_by(error)
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


NOT_BEGUN = "the pilot is done and the others were not begun; called again, it asks again"


def ab(
    cases: PathLike | Iterable[Case],
    arms: Mapping[str, Arm | Program],
    metrics: Iterable[MetricLike] = ("passed",),
    *,
    primary: str | None = None,
    base: Arm | None = None,
    factors: Mapping[str, Mapping[str, Arm | Program]] = {},  # it is only read
    checks: Checks = {},  # noqa: B006  # it is only read
    judge: RubricJudge | None = None,
    repeats: int = 1,
    seed: int | None = None,
    pilot: int = 0,
    budget: Budget | None = None,
    out: PathLike | None = None,
    jobs: int = 4,
    progress: bool | None = None,
    on_plan: Callable[[Plan, tuple[Trial, ...]], None] | None = None,
    go_on: Callable[[Forecast], bool] | None = None,
) -> Experiment:
    """Run the same cases through several arms, and compare them honestly.

    Before anything runs, every arm is made ready (its program is valid, its tools bind, its model
    is known), and the plan is written. The runs go on in random order, several at once, each with
    a fresh library, and each is recorded. Called again with the same plan and folder, it goes on
    where it was stopped.

    Args:
        cases: the cases, or their file; see `interp.evaluation.cases`.
        arms: what is compared, by name; the first is the baseline. A program or the path of one is
            an arm, too.
        metrics: what is tested: names of `interp.evaluation.experiments.NAMES`,
            functions of a trial, or a `Metric`.
        primary: the name of the metric that decides; by default the first.
        base: what arms leave out.
        factors: a matrix: by the name of a factor, what each of its levels changes. Each
            combination of levels is an arm (several arms are the levels of a factor ``arm``), and
            what is tested are the effects of the factors and of their pairs, each level with the
            first of its factor.
        checks: the functions that cases name as their checks.
        judge: what judges the rubrics of cases, the same for all arms; by default the built-in
            judge with the model of the baseline.
        repeats: how often each arm runs each case.
        seed: draws the order of the runs, and what the statistics need; by default it is drawn,
            and recorded.
        pilot: how many cases run first, to say what the others will take; they are drawn, and are
            not compared.
        budget: what all runs may take together, see `Budget`; where it is used up, nothing is
            compared, and the same call with a larger one goes on.
        out: the folder that keeps the experiment; without it, nothing is kept.
        jobs: how many runs go on at once.
        progress: whether to show a progress bar; by default where standard error is a terminal.
        on_plan: is called with the plan and the trials that are done already, before more run.
        go_on: is called after the pilot with what the others will take, and says whether they run.

    Raises:
        OSError: a file cannot be read or written; what was done is kept.
        GramDecodeError: a file is not gram.
        ArgumentError: an argument is of the wrong type.
        ValidationError: a program or a case is not valid, a metric is unknown, or the folder has
            another plan.
        ToolBindingError: the tools of an arm do not bind.
        ConfigurationError: a model cannot be asked, or the extra ``gram-agents[ab]`` is not
            installed.
    """
    require_statistics()
    expect_counts("ab", repeats=repeats, jobs=jobs)
    expect(seed, (int, type(None)), "seed", by="ab")
    if seed is not None and seed < 0:
        raise ArgumentError(f"ab: seed must be at least 0, got {seed}")
    given = cases_of(cases, by="ab")
    expect(pilot, int, "pilot", by="ab")
    if not 0 <= pilot < len(given):
        known = counted(len(given), "case")
        raise ArgumentError(f"ab: a pilot has fewer cases than all {known}, got {pilot}")
    expect(budget, (Budget, type(None)), "budget", by="ab")
    expect(factors, Mapping, "factors", by="ab")
    changes = {name: read_arms(levels, None) for name, levels in factors.items()}
    combined, levels = crossed(read_arms(arms, base), changes)
    prepared, measured, _ = prepare(given, combined, metrics, checks, judge)
    expect(primary, (str, type(None)), "primary", by="ab")
    names = [each.name for each in measured]
    decisive = names[0] if primary is None else primary
    expect_known(decisive, names, f'the primary metric "{decisive}" is not among the metrics')
    for each in prepared if budget and budget.cost is not None else ():
        if Spending().cost(each.model) is None:
            told = f"the budget names cost, and the price of {each.model} is not known"
            raise ConfigurationError(f"arm {each.name}: {told}; prices need {install('prices')}")
    folder = None if out is None else folder_of(out)
    old = folder.read_plan() if folder and folder.has_plan else None
    if seed is None:
        seed = old.seed if old else secrets.randbelow(2**31)
    counts = {"pilot": pilot, "repeats": repeats, "seed": seed}
    plan = make_plan(prepared, measured, given, primary=decisive, levels=levels, **counts)
    if old and old.hash != plan.hash:
        raise ValidationError(
            f"{out}: another experiment is in this folder; name another one, or go on with what "
            f"was planned. The plans differ (- there, + now):\n{old.differences(plan)}"
        )
    if folder and not old:
        folder.begin(plan)
    with folder.held() if folder else nullcontext():
        done = list(folder.read(plan)) if folder else []
        arms_by_name = {each.name: each for each in prepared}
        cases_by_name = {each.name: each for each in given}
        how = (folder, jobs, progress, budget or Budget())
        work = Work(plan, arms_by_name, cases_by_name, measured, *how)
        if on_plan:
            on_plan(plan, tuple(done))
        try:
            stopped = run_trials(work, plan.pilot_keys, done)
            if stopped is None and go_on and len(done) == len(plan.pilot_keys):
                is_wanted = go_on(Forecast(plan, tuple(done), work.budget, jobs))
                stopped = None if is_wanted else NOT_BEGUN
            stopped = stopped or run_trials(work, plan.order, done)
        except BaseException as error:  # says what is kept, and is raised again
            if folder:
                runs = counted(len(plan.pilot_keys) + len(plan.keys), "run")
                kept = f"{len(done)} of {runs} are kept in {folder.path}"
                error.add_note(f"{kept}; the same call goes on with them")
            raise
        return Experiment(plan, done, folder.path if folder else None, stopped)


def load_experiment(path: PathLike) -> Experiment:
    """Read an experiment from its folder, as far as it is done; nothing runs.

    Raises:
        OSError: the folder cannot be read.
        ConfigurationError: ``gram-agents[ab]`` is not installed.
        GramDecodeError: a file is not gram.
        ValidationError: no experiment is in it, or the plan or the results were edited; the fault
            has its place.
    """
    require_statistics()
    folder = folder_of(path)
    plan = folder.read_plan()
    return Experiment(plan, folder.read(plan), folder.path)


def expect_counts(by: str, **given: int) -> None:
    """Refuse numbers below one, and what is no number."""
    for name, number in given.items():
        expect(number, int, name, by=by)
        if isinstance(number, bool) or number < 1:
            raise ArgumentError(f"{by}: {name} must be at least 1, got {number}")


def cases_of(given: PathLike | Iterable[Case], *, by: str) -> tuple[Case, ...]:
    """Cases that are given, or named by their file.

    Raises:
        ValidationError: there are none, or two have one name.
    """
    if isinstance(given, str | os.PathLike):
        cases = read_cases(given)
    else:
        cases = expect_all(given, Case, "cases", by=by)
    if not cases:
        raise ValidationError("there are no cases: a comparison needs at least one, better forty")
    for name, count in Counter(each.name for each in cases).items():
        if count > 1:
            raise ValidationError(f'two cases are named "{name}": results are kept by these names')
    return cases


def prepare(
    cases: Sequence[Case],
    arms: Mapping[str, Arm],
    metrics: Iterable[MetricLike],
    checks: Checks,
    judge: RubricJudge | None,
) -> tuple[list[ReadyArm], tuple[Metric, ...], RubricJudge | None]:
    """Arms that are ready, metrics and the judge; what can be refused is refused here.

    Args:
        cases: the cases.
        arms: the arms.
        metrics: what is measured.
        checks: the functions that cases name.
        judge: what judges their rubrics; by default one with the model of the first arm.
    """
    require_checks(cases, checks)
    prepared = [ready(name, arm, cases) for name, arm in arms.items()]
    if any(each.rubrics for each in cases):
        first = prepared[0]
        where = {"base_url": first.arm.base_url, "dialect": first.arm.dialect}
        judge = judge or RubricJudge(model=first.model, options=where)
        judge.check()
    measured = read_metrics(metrics, cases, checks, lambda: declared_answer(prepared), judge)
    programs = [each.program for each in prepared]
    require_tools((each, programs) for each in cases)
    return prepared, measured, judge
