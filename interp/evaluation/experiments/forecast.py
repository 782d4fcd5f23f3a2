"""What can be said of an experiment before its cases run: what it will take, what it can find."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import TypeAlias

from attrs import frozen

from gram.plurals import counted

from .budget import Budget, in_unit, taken, total_of
from .comparing import clusters_of
from .contrasts import MANY, factors_of
from .intervals import LEVEL, Interval
from .pair_tests import ALPHA, smallest_p
from .plan import Plan
from .power import POWER, findable, findable_rate
from .trials import Trial

_DIFFER = (0.2, 0.5)
"""The shares of cases that differ for which the findable difference of a rate is told."""


Amount: TypeAlias = tuple[float, Interval | None]
"""What runs will take, and how sure that is; no interval where one case says nothing of others."""


@frozen
class Forecast:
    """What the runs of an experiment that are left will take, as its pilot says.

    Attributes:
        plan: the plan.
        amounts: the ``tokens``, ``cost`` in US dollars and ``minutes``, as far as they are known.
        budget: what the experiment may take.
        jobs: how many runs go on at once.
        failures: why runs of the pilot failed.
    """

    plan: Plan
    amounts: Mapping[str, Amount]
    budget: Budget
    jobs: int
    failures: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What it says, in plain words."""
        plan, runs = self.plan, counted(len(self.plan.keys), "run")
        pilot = counted(len(plan.pilot), "case")
        sure = f"in brackets: 95 % of the time, if cases vary as the {pilot} of the pilot did"
        if len(plan.pilot) < 2:
            sure = "one case does not say how sure that is"
        told = ", ".join(_told(name, self.amounts.get(name)) for name in _TAKEN)
        notes = [f"{runs} will take about {told}, {self.jobs} at once; {sure}"]
        if not self.amounts:
            notes = [f"what {runs} will take is not known: there is no pilot"]
        needed = {name: value for name, (value, _) in self.amounts.items()}
        for name, value in {**needed, "runs": len(plan.keys)}.items():
            limit = getattr(self.budget, name)
            whole = value * (1 + len(plan.pilot_keys) / len(plan.keys))  # the pilot took the rest
            if limit is not None and whole > limit:
                notes.append(f"the budget of {in_unit(name, f'{limit:,.10g}')} will not do")
        if self.failures:
            runs, first = counted(len(plan.pilot_keys), "run"), self.failures[0].split("\n")[0]
            notes.append(f"{len(self.failures)} of {runs} of the pilot failed; the first: {first}")
        return tuple(notes)


_TAKEN = ("tokens", "cost", "minutes")


def forecast(plan: Plan, pilot: Sequence[Trial], budget: Budget, jobs: int) -> Forecast:
    """What the cases of a plan will take.

    The pilot ran each arm once on each of its cases, which were drawn from all. What the others
    take is predicted with Student's t (1908, Biometrika 6, 1-25).

    Args:
        plan: the plan.
        pilot: the trials of its pilot.
        budget: what the experiment may take.
        jobs: how many runs go on at once.
    """
    amounts = {}
    for name in _TAKEN if pilot else ():
        by_case: dict[str, list[float | None]] = {}
        for each in pilot:
            by_case.setdefault(each.case.name, []).append(taken(each)[name])
        sums = [total_of(each) for each in by_case.values()]
        known = [each for each in sums if each is not None]
        if len(known) == len(sums):
            times = len(plan.cases) * plan.repeats / (jobs if name == "minutes" else 1)
            amounts[name] = _predicted([times * each for each in known], len(plan.cases))
    failures = tuple(each.failure for each in pilot if each.failure is not None)
    return Forecast(plan, amounts, budget, jobs, failures)


def _predicted(totals: Sequence[float], cases: int) -> Amount:
    """What so many cases take, by what they take if they are all as one or the other is."""
    total, known = fmean(totals), len(totals)
    if known < 2:
        return total, None
    from scipy import stats

    t = float(stats.t.ppf((1 + LEVEL) / 2, known - 1))
    half = t * stdev(totals) * sqrt(1 / known + 1 / cases)
    return total, Interval(max(0.0, total - half), total + half)


def _told(name: str, amount: Amount | None) -> str:
    if amount is None:
        return f"{name} unknown"
    value, within = amount
    sure = f" [{_number(within.low)}, {_number(within.high)}]" if within else ""
    return in_unit(name, f"{_number(value)}{sure}")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


# --- what a plan can find


def before_running(plan: Plan) -> Iterator[str]:
    """What can be said of a plan before anything runs."""
    free = [each.name for each in plan.cases if each.expects_nothing]
    if free and "passed" in [each.name for each in plan.metrics]:
        yield f"any answer passes {counted(len(free), 'case')} that expect nothing, as {free[0]}"
    if len(plan.arms) > MANY:
        factors = " × ".join(str(len(each)) for each in factors_of(plan.levels).values())
        runs = counted(len(plan.keys), "run")
        yield f"{len(plan.arms)} combinations ({factors}) are many: they are {runs}"
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
        for share in _DIFFER:
            found = findable(cases, disagreement=share, alpha=alpha)
            yield f"if {share:.0%} of the cases differ", found
