"""What an experiment may take, what it will take, and what it can find."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf
from time import monotonic
from typing import Any

from attrs import asdict, astuple, evolve, field, frozen

from gram import ArgumentError
from gram.words import counted

from .chance import ALPHA, POWER, findable, findable_rate, smallest_p
from .comparing import clusters_of
from .metrics import Trial
from .plan import Plan


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
    """What runs took, judges included; None where it is not known.

    Attributes:
        tokens: the tokens.
        cost: what they cost, in US dollars.
        minutes: how long each run went on, together.
        runs: the number of runs.
    """

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
        amounts = ((name, getattr(self, name)) for name in names)
        told = (
            f"{name} unknown" if n is None else in_unit(name, _number(n)) for name, n in amounts
        )
        return ", ".join(told)

    def __str__(self) -> str:
        return f"{counted(round(self.runs), 'run')}, {self.told('tokens', 'cost')}"


def taken(trial: Trial) -> Spent:
    """What a run took, judges included."""
    cost = trial.cost if trial.rounds else 0.0
    own = Spent(trial.usage.total_tokens, cost, trial.seconds / 60, 1)
    judges = (each for each in trial.scores.values() if each.usage is not None)
    return sum((Spent(each.usage.total_tokens, each.cost) for each in judges if each.usage), own)


def in_unit(name: str, amount: str | float) -> str:
    """An amount of what a budget limits, in words."""
    told = amount if isinstance(amount, str) else f"{amount:,.10g}"
    return f"{told} {'USD' if name == 'cost' else name}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


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


class Meter:
    """Counts what the runs of an experiment take, and says whether another one may begin.

    A run begins where the budget allows for it and for those that go on, if they take as much as
    the mean of the runs until now.

    Args:
        budget: what they may take.
        done: the trials that are done.
        jobs: how many runs go on at once.

    Attributes:
        used_up: why no further run begins, or None.
    """

    def __init__(self, budget: Budget, done: Iterable[Trial], jobs: int) -> None:
        self.used_up: str | None = None
        self._budget, self._spent, self._running = budget, sum(map(taken, done), Spent()), 0
        self._began = monotonic() - 60 * (self._spent.minutes or 0.0) / jobs

    def begins(self) -> bool:
        """Whether another run may begin; if so, it is one of those that go on."""
        spent = evolve(self._spent, minutes=(monotonic() - self._began) / 60)
        self.used_up = self.used_up or too_little(self._budget, spent, 1 + self._running)
        self._running += self.used_up is None
        return self.used_up is None

    def count(self, trial: Trial) -> None:
        """Count a run that has ended."""
        self._running -= 1
        self._spent += taken(trial)


@frozen
class Forecast:
    """What the runs of an experiment that are left will take, as its pilot says.

    Attributes:
        plan: the plan.
        pilot: the trials of its pilot, which ran each arm once on each of its cases.
        budget: what the experiment may take.
        jobs: how many runs go on at once.
    """

    plan: Plan
    pilot: Sequence[Trial]
    budget: Budget
    jobs: int

    @property
    def amounts(self) -> Spent:
        """What they will take, if they are like those of the pilot, as far as that is known."""
        runs = len(self.plan.keys)
        if not self.pilot:
            return Spent(None, None, None, runs)
        found = sum(map(taken, self.pilot), Spent()).times(runs / len(self.pilot))
        return evolve(found, minutes=(found.minutes or 0.0) / self.jobs)

    @property
    def notes(self) -> tuple[str, ...]:
        """What it says, in plain words."""
        plan, runs = self.plan, counted(len(self.plan.keys), "run")
        pilot = counted(len(plan.pilot), "case")
        told = self.amounts.told("tokens", "cost", "minutes")
        much = f"about {told}, {self.jobs} at once, if they are like the {pilot} of the pilot"
        notes = [f"{runs} will take {much}"]
        if not plan.pilot:
            notes = [f"what {runs} will take is not known: there is no pilot"]
        whole = self.amounts.times(1 + len(plan.pilot_keys) / len(plan.keys))
        for name, amount in asdict(whole).items():
            limit = getattr(self.budget, name)
            if None not in (amount, limit) and amount > limit:
                notes.append(f"the budget of {in_unit(name, limit)} will not do")
        if failures := [each.failure for each in self.pilot if each.failure is not None]:
            runs, first = counted(len(plan.pilot_keys), "run"), failures[0].split("\n")[0]
            notes.append(f"{len(failures)} of {runs} of the pilot failed; the first: {first}")
        return tuple(notes)


# --- what a plan can find


def before_running(plan: Plan) -> Iterator[str]:
    """What can be said of a plan before anything runs."""
    free = [each.name for each in plan.cases if each.expects_nothing]
    if free and "passed" in [each.name for each in plan.metrics]:
        yield f"any answer passes {counted(len(free), 'case')} that expect nothing, as {free[0]}"
    if len(plan.arms) == 1:
        yield "there is one arm: nothing is compared"
        return
    (cases, unit), tests = _units(plan), round(ALPHA / plan.alpha)
    if smallest_p(cases) > ALPHA:
        repeats = ", however often they are repeated" if plan.repeats > 1 else ""
        yield (
            f"these cases cannot reach 5 %: {counted(cases, unit)} cannot give a p-value below "
            f"{smallest_p(cases):.2g}{repeats}; 6 are the fewest that can"
        )
    elif smallest_p(cases) > plan.alpha:
        yield (
            f"{counted(cases, unit)} cannot reach 5 % in one of {tests} comparisons alone: "
            f"corrected, their smallest p-value is {smallest_p(cases) * tests:.2g}"
        )


def _units(plan: Plan) -> tuple[int, str]:
    """How many cases stand for themselves, or how many clusters of them, which may be all alike."""
    clusters = clusters_of(plan.cases)
    return (len(set(clusters)), "cluster") if clusters else (len(plan.cases), "case")


def what_it_finds(plan: Plan) -> Iterator[str]:
    """Which differences in the primary metric a plan finds, and how often."""
    is_rate = any(each.name == plan.primary and each.worst is False for each in plan.metrics)
    (cases, unit), tests = _units(plan), round(ALPHA / plan.alpha)
    among = f", as one of {tests} tests" if tests > 1 else ""
    for kind, what in enumerate(("a difference", "a main effect", "an interaction")):
        group = [each for each in plan.contrasts if len(each.factors) == kind]
        if not group:
            continue
        runs = plan.repeats * min(len(side) for each in group for side in (each.minus, each.plus))
        for words, size in _sizes(cases, runs, plan.alpha, is_rate=is_rate):
            size = size and size * max(1, kind)  # a pair is twice what its groups differ by
            if size is None or (is_rate and size > max(1, kind)):
                yield f"{counted(cases, unit)} are too few to find {what}{among} ({words})"
            else:
                said = f"{100 * size:.0f} points" if is_rate else f"{size:.2g}"
                yield (
                    f"{counted(cases, unit)} find {what} in {plan.primary} of {said} "
                    f"{POWER:.0%} of the time{among} ({words})"
                )


def _sizes(
    cases: int, runs: int, alpha: float, *, is_rate: bool
) -> Iterator[tuple[str, float | None]]:
    """What is found, by what has to be assumed of the cases.

    Args:
        cases: how many cases there are.
        runs: how many runs of a case are averaged.
        alpha: how often what is alike may be found to differ.
        is_rate: whether the metric is yes or no.
    """
    if not is_rate:
        words = "in standard deviations of the cases' differences"
        yield words, findable(cases, deviation=1.0, alpha=alpha)
    elif runs > 1:
        words = "each run an even chance, effects alike in all cases"
        yield words, findable_rate(cases, runs, alpha=alpha)
    else:
        for words, lost in (("where no case is lost", 0.0), ("where one in ten is", 0.1)):
            yield words, findable(cases, lost=lost, alpha=alpha)
