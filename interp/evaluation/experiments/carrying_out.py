"""Run the same cases through several arms, as far as a budget goes, and compare them."""

from __future__ import annotations

import os
import secrets
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from math import inf
from time import monotonic
from typing import Any

from attrs import asdict, astuple, evolve, field, frozen

from gram import ArgumentError, GramError
from gram.errors import expect, expect_all
from gram.words import counted

from ...concurrency import work_on
from ...errors import ConfigurationError, StoreError, ValidationError, said_by
from ...execution import Spending
from ...history.records import PathLike, RecordedRun
from ...history.stores import Address, StoredRun, store_of_a_run
from ...machine import Usage
from ...models import unknown_price
from ...tools import is_from_outside, with_agents
from ..cases import Case, Checks, RubricJudge, read_cases, require_checks, require_tools
from .arms import Arm, Program, ReadyArm, declared_answer, fresh_library, read_arms, ready
from .chance import require_statistics
from .comparing import crossed
from .experiment import Experiment
from .metrics import Metric, MetricLike, Trial, expect_known, fingerprint, read_metrics
from .plan import Key, Plan, folder_of, make_plan, what_it_finds


def _limit(_: object, attribute: Any, value: Any) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (is_number and 0 < value < inf):
        raise ArgumentError(f"Budget: {attribute.name} must be a number above 0, got {value!r}")


@frozen
class Budget:
    """What an experiment may take; where it is used up, no further run begins.

    What is done is kept, nothing is compared, and with a larger budget the experiment goes on.

    Attributes:
        tokens: the tokens of all runs and of what judges them; None for any number.
        cost: what they cost, in US dollars.
        minutes: how long the experiment runs.
        runs: the number of runs, those of the pilot included.
    """

    tokens: float | None = field(default=None, validator=_limit)
    cost: float | None = field(default=None, validator=_limit)
    minutes: float | None = field(default=None, validator=_limit)
    runs: float | None = field(default=None, validator=_limit)


@frozen
class Spent:
    """What runs took together, judges included, as in `Budget`; None where it is not known."""

    tokens: float | None = 0
    cost: float | None = 0.0
    minutes: float | None = 0.0
    runs: float = 0

    def __add__(self, other: Spent) -> Spent:
        pairs = zip(astuple(self), astuple(other), strict=True)
        both: list[Any] = [None if None in pair else sum(pair) for pair in pairs]
        return Spent(*both)

    def times(self, factor: float) -> Spent:
        """What so many times as many runs take."""
        whole: list[Any] = [each if each is None else factor * each for each in astuple(self)]
        return Spent(*whole)

    def told(self, *names: str) -> str:
        """Some of the amounts, in words."""
        return ", ".join(in_unit(name, getattr(self, name)) for name in names)

    def __str__(self) -> str:
        return f"{counted(round(self.runs), 'run')}, {self.told('tokens', 'cost')}"


def taken(trial: Trial) -> Spent:
    """What a run took, judges included."""
    cost = trial.cost if trial.rounds else 0.0
    own = Spent(trial.usage.total_tokens, cost, trial.seconds / 60, 1)
    judges = (each for each in trial.scores.values() if each.usage is not None)
    return sum((Spent(each.usage.total_tokens, each.cost) for each in judges if each.usage), own)


def in_unit(name: str, amount: float | None) -> str:
    """An amount of what a budget limits, in words."""
    if amount is None:
        return f"{name} unknown"
    number = f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}"
    return f"{number} {'USD' if name == 'cost' else name}"


def too_little(budget: Budget, spent: Spent, more: float) -> str | None:
    """Why a budget does not reach for more runs, each as dear as those before; None if it does."""
    for name, limit in asdict(budget, filter=lambda _, value: value is not None).items():
        total, told = getattr(spent, name), f"budget of {in_unit(name, limit)}"
        if total is None:
            return f"the {name} of a run is not known, so no {told} can be kept"
        mean = total / spent.runs if spent.runs else float(name == "runs")
        if total >= limit or total + mean * more > limit:
            return f"the {told} is used up; with a larger one, it goes on from there"
    return None


def forecast(plan: Plan, pilot: Sequence[Trial], budget: Budget, jobs: int) -> list[str]:
    """What the runs that are left will take, as the pilot says, and what they can find."""
    left, runs = len(plan.keys), counted(len(plan.keys), "run")
    notes, amounts = [f"what {runs} will take is not known: there is no pilot"], Spent(runs=left)
    if pilot:
        amounts = sum(map(taken, pilot), Spent()).times(left / len(pilot))
        amounts = evolve(amounts, minutes=(amounts.minutes or 0.0) / jobs)
        cases, told = counted(len(plan.pilot), "case"), amounts.told("tokens", "cost", "minutes")
        much = f"about {told}, {jobs} at once, if they are like the {cases} of the pilot"
        notes = [f"{runs} will take {much}"]
    for name, amount in asdict(amounts.times(1 + len(pilot) / left)).items():
        limit = getattr(budget, name)
        if None not in (amount, limit) and amount > limit:
            notes.append(f"the budget of {in_unit(name, limit)} will not do")
    if failures := [each.failure for each in pilot if each.failure is not None]:
        of, first = counted(len(pilot), "run"), failures[0].split("\n")[0]
        notes.append(f"{len(failures)} of {of} of the pilot failed; the first: {first}")
    return [*notes, *what_it_finds(plan)]


@contextmanager
def shown(progress: bool | None, planned: int, done: int) -> Iterator[Callable[[Trial], None]]:
    """A progress bar, and what is to be called with each trial that has ended."""
    if progress is None:
        progress = sys.stderr is not None and sys.stderr.isatty()
    if not progress:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress

    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task, failed = bar.add_task("runs", total=planned, completed=done), 0

        def advance(trial: Trial) -> None:
            nonlocal failed
            failed += trial.failure is not None
            bar.update(task, advance=1, description=f"runs, {failed} failed" if failed else "runs")

        yield advance


def _run(
    keys: Sequence[Key],
    done: list[Trial],
    trial_of: Callable[[Key], Awaitable[Trial]],
    keep: Callable[[Trial], None],
    budget: Budget,
    jobs: int,
    progress: bool | None,
) -> str | None:
    """Run those trials that are not done, in their order; each is kept when it has ended.

    A run begins where the budget allows for it and for those that go on, if they take as much as
    the mean of the runs until now. Ctrl-C stops the runs that go on, whose records stay, and is
    raised.

    Returns:
        Why no more run than did, or None.
    """
    finished = {each.key for each in done}
    left = [key for key in keys if key not in finished]
    spent, running, used_up = sum(map(taken, done), Spent()), 0, None
    began = monotonic() - 60 * (spent.minutes or 0.0) / jobs

    async def run(key: Key) -> None:
        nonlocal spent, running, used_up
        now = evolve(spent, minutes=(monotonic() - began) / 60)
        used_up = used_up or too_little(budget, now, 1 + running)
        if used_up:
            return
        running += 1
        trial = await trial_of(key)
        running -= 1
        spent += taken(trial)
        keep(trial)
        done.append(trial)
        advance(trial)

    with shown(progress, len(keys), len(keys) - len(left)) as advance:
        work_on(left, run, jobs)
    return used_up


async def _trial(
    ready: ReadyArm, case: Case, repeat: int, metrics: Sequence[Metric], address: Address | None
) -> Trial:
    """Run a case through an arm, or go on with its run that was interrupted."""
    spending, began, before = Spending(), monotonic(), 0.0
    response, failure, state, run = None, None, None, None
    try:
        log, kept = _log(address) if address else (None, None)
        if kept:
            state = kept.state
            for step in kept.steps:
                spending.count(step.effect, step.event)
            before = sum(step.seconds or 0.0 for step in kept.steps)
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
        arm=ready.name,
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
    return evolve(trial, scores={metric.name: await metric.score(trial) for metric in metrics})


def _log(address: Address) -> tuple[StoredRun, RecordedRun | None]:
    """What a run is recorded in, and what is recorded of it, if it was interrupted."""
    store = store_of_a_run(address.place)
    if any(each.id == address.run for each in store.rows(beginning=address.run)):
        return StoredRun.of(store, address.run)
    return StoredRun(store, address.run), None


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
    go_on: Callable[[Sequence[str]], bool] | None = None,
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
        go_on: is called after the pilot with what the others will take and can find, in words, and
            says whether they run.

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
    expect_counts("ab", least=0, seed=0 if seed is None else seed, pilot=pilot)
    given = cases_of(cases, by="ab")
    if pilot >= len(given):
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
            told = f"arm {each.name}: the budget names cost, and {unknown_price(each.model)}"
            raise ConfigurationError(told)
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
        ready_arms = {each.name: each for each in prepared}
        all_cases = {each.name: each for each in given}

        async def trial_of(key: Key) -> Trial:
            case, repeat, arm = key
            address = folder.run_of(plan, key) if folder else None
            return await _trial(ready_arms[arm], all_cases[case], repeat, measured, address)

        keep = partial(folder.write, plan) if folder else lambda _: None
        limit = budget or Budget()
        how = done, trial_of, keep, limit, jobs, progress
        if on_plan:
            on_plan(plan, tuple(done))
        try:
            stopped = _run(plan.pilot_keys, *how)
            if stopped is None and go_on and len(done) == len(plan.pilot_keys):
                is_wanted = go_on(forecast(plan, done, limit, jobs))
                stopped = None if is_wanted else NOT_BEGUN
            stopped = stopped or _run(plan.order, *how)
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


def expect_counts(by: str, least: int = 1, **given: int) -> None:
    """Refuse numbers that are too small, and what is no number."""
    for name, number in given.items():
        expect(number, int, name, by=by)
        if isinstance(number, bool) or number < least:
            raise ArgumentError(f"{by}: {name} must be at least {least}, got {number}")


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
    """Arms that are ready, metrics and the judge; what can be refused is refused here."""
    require_checks(cases, checks)
    prepared = [ready(name, arm, cases) for name, arm in arms.items()]
    if any(each.rubrics for each in cases):
        judge = judge or RubricJudge(model=prepared[0].model, options=prepared[0].where)
        judge.check()
    measured = read_metrics(metrics, cases, checks, lambda: declared_answer(prepared), judge)
    programs = [
        with_agents(each.agent, each.library, match=each.arm.match or "full") for each in prepared
    ]
    require_tools((each, programs) for each in cases)
    return prepared, measured, judge
