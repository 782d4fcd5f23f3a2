"""Run the same cases through several arms, and compare them."""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import TypeAlias

from gram import ArgumentError
from gram.errors import expect, expect_all
from gram.extras import install
from gram.words import counted

from ...errors import ConfigurationError, ValidationError
from ...execution import Spending
from ..cases import Case, Checks, RubricJudge, read_cases, require_checks, require_tools
from .arms import Arm, Program, ReadyArm, declared_answer, read_arms, ready
from .contrasts import crossed
from .experiment import Experiment
from .folder import Folder, PathLike, folder_of
from .forecast import Budget, Forecast, forecast
from .intervals import require_statistics
from .metrics import Metric, MetricLike, Trial, expect_known, read_metrics
from .plan import Plan, make_plan
from .running import Work, run_trials

OnPlan: TypeAlias = Callable[[Plan, tuple[Trial, ...]], None]
NOT_BEGUN = "the pilot is done and the others were not begun; called again, it asks again"
GoOn: TypeAlias = Callable[[Forecast], bool]


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
    on_plan: OnPlan | None = None,
    go_on: GoOn | None = None,
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
    decisive = _primary(primary, measured)
    if budget and budget.cost is not None:
        _require_prices_of(prepared)
    folder = None if out is None else folder_of(out)
    old = folder.read_plan() if folder and folder.has_plan else None
    plan = make_plan(
        prepared,
        measured,
        given,
        primary=decisive,
        levels=levels,
        pilot=pilot,
        repeats=repeats,
        seed=old.seed if old and seed is None else _drawn() if seed is None else seed,
    )
    if old and folder:
        _require_same(old, plan, folder)
    elif folder:
        folder.begin(plan)
    with folder.held() if folder else nullcontext():
        ready_arms = {each.name: each for each in prepared}
        by_name = {each.name: each for each in given}
        shared = (folder, jobs, progress, budget or Budget())
        return _carried_out(Work(plan, ready_arms, by_name, measured, *shared), on_plan, go_on)


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


def _carried_out(work: Work, on_plan: OnPlan | None, go_on: GoOn | None) -> Experiment:
    plan, folder = work.plan, work.folder
    done = list(folder.read(plan)) if folder else []
    if on_plan:
        on_plan(plan, tuple(done))
    try:
        stopped = run_trials(work, plan.pilot_keys, done)
        if stopped is None and go_on and len(done) == len(plan.pilot_keys):
            told = forecast(plan, done, work.budget, work.jobs)
            stopped = None if go_on(told) else NOT_BEGUN
        if stopped is None:
            stopped = run_trials(work, plan.order, done)
    except BaseException as error:  # says what is kept, and is raised again
        if folder:
            runs = counted(len(plan.pilot_keys) + len(plan.keys), "run")
            kept = f"{len(done)} of {runs} are kept in {folder.path}"
            error.add_note(f"{kept}; the same call goes on with them")
        raise
    return Experiment(plan, done, folder.path if folder else None, stopped)


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


def _primary(name: str | None, metrics: tuple[Metric, ...]) -> str:
    expect(name, (str, type(None)), "primary", by="ab")
    names = [each.name for each in metrics]
    if name is None:
        return names[0]
    expect_known(name, names, f'the primary metric "{name}" is not among the metrics')
    return name


def _require_prices_of(arms: Iterable[ReadyArm]) -> None:
    """Refuse a budget of money where nobody could say what is spent."""
    for each in arms:
        if Spending().cost(each.model) is None:
            told = f"the budget names cost, and the price of {each.model} is not known"
            raise ConfigurationError(f"arm {each.name}: {told}; prices need {install('prices')}")


def _require_same(old: Plan, new: Plan, folder: Folder) -> None:
    if old.hash != new.hash:
        raise ValidationError(
            f"{folder.path}: another experiment is in this folder; name another one, or go on "
            f"with what was planned. The plans differ (- there, + now):\n{old.differences(new)}"
        )


def _drawn() -> int:
    return secrets.randbelow(2**31)
