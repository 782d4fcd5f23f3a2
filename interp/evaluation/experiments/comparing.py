"""What scores say: an estimate for each arm, a comparison for each pair of them, slices of cases.

Everything here is arithmetic on scores: a row for each case, in it a number for each repeat.

A matrix crosses the levels of its factors: each combination is an arm. Its effects are those of
factorial designs (Fisher 1935, The Design of Experiments, chapter 6). A main effect compares the
arms of one level with those of the first level, whatever their other levels are. A pair, or
interaction, says how much more one effect is at another level of a second factor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import chain, combinations, product
from math import inf, prod, sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import Factory, evolve, frozen

from gram import ArgumentError
from gram.words import counted, did_you_mean

from ...errors import ValidationError
from ...json_text import Json, write_json
from ...shown import NOTEBOOK
from ..cases import Case
from . import chance
from .arms import Arm
from .chance import ALPHA, Clusters, Interval

if TYPE_CHECKING:
    import numpy as np


Scores: TypeAlias = Sequence[Sequence[float]]
"""The scores of an arm: a row for each case, in it a number for each repeat."""

Better: TypeAlias = Literal["higher", "lower"]


@frozen
class Estimate:
    """What one arm scores.

    Attributes:
        arm: the name of the arm.
        metric: the name of the metric.
        value: the mean over the cases; for a rate, the share that succeeds.
        interval: where the true mean is; None where nothing can be said.
        method: how the interval was made.
        is_rate: whether the metric is yes or no.
    """

    arm: str
    metric: str
    value: float
    interval: Interval | None
    method: str
    is_rate: bool


@frozen
class Comparison:
    """How one arm differs from the baseline on the same cases.

    Attributes:
        metric: the name of the metric.
        baseline: the arm that it is compared with, the first one.
        arm: the arm.
        is_rate: whether the metric is yes or no.
        difference: the mean of the arm less that of the baseline.
        interval: where the true difference is; None where nothing can be said.
        method: how the interval was made.
        p_value: how often arms that are alike differ as much, by chance.
        p_corrected: the same, corrected for all comparisons of the experiment.
        test: the test that gave the p-value.
        effect: the size of the difference compared with how much cases vary; None where they do
            not vary.
        effect_name: what the effect is called.
        better: in how many cases the arm is better than the baseline.
        worse: in how many it is worse.
        cases: in how many they were compared.
        deviation: the standard deviation of the differences of the cases; with clusters, that of as
            many independent cases that say as much.
        direction: whether ``higher`` or ``lower`` scores are better.
        factors: the factors whose effect it is: one, or a pair; none where arms are compared.
        name: what is compared, in words.
        clusters: how many clusters the cases are of, or None where each stands for itself.
    """

    metric: str
    baseline: str
    arm: str
    is_rate: bool
    difference: float
    interval: Interval | None
    method: str
    p_value: float
    p_corrected: float
    test: str
    effect: float | None
    effect_name: str
    better: int
    worse: int
    cases: int
    deviation: float
    direction: Better = "higher"
    factors: tuple[str, ...] = ()
    name: str = Factory(lambda self: f"{self.arm} − {self.baseline}", takes_self=True)
    clusters: int | None = None

    def __repr__(self) -> str:
        interval = self.interval
        within = f" [{interval.low:+.3g}, {interval.high:+.3g}]" if interval else ""
        found = f"{self.difference:+.3g}{within}, p = {self.p_corrected:.3g}"
        return f"<Comparison of {self.metric}: {self.name} {found}, {counted(self.cases, 'case')}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return NOTEBOOK["comparison"](self)

    @property
    def is_significant(self) -> bool:
        """Whether chance alone makes such a difference in at most 5 % of experiments."""
        return self.p_corrected <= ALPHA

    @property
    def equal(self) -> int:
        """In how many cases the arms score the same."""
        return self.cases - self.better - self.worse

    @property
    def smallest_p(self) -> float:
        """The smallest p-value that these cases could have had, whatever came out."""
        return chance.smallest_p(self.clusters or self.cases)


def estimate(
    arm: str,
    metric: str,
    scores: Scores,
    *,
    is_rate: bool,
    seed: int,
    least: float = -inf,
    clusters: Clusters = None,
) -> Estimate:
    """What an arm scores, with an interval.

    Args:
        is_rate: whether the scores are all 0 or 1.
        seed: draws the cases for the bootstrap.
        least: the least that a score can be.
    """
    means = [fmean(row) for row in scores]
    value = fmean(means)
    if is_rate and _once(scores) and clusters is None:
        return Estimate(arm, metric, value, chance.wilson(sum(means), len(means)), "Wilson", True)
    rng = _generator(seed, arm, metric)
    found = chance.bootstrap(means, rng, is_skewed=True, clusters=clusters)
    if is_rate and found is None:  # all cases alike: each, or each cluster, counts as one run
        units = len(chance.by_cluster(means, clusters)[0])
        within, method = chance.wilson(value * units, units), f"Wilson on {_units(clusters)}"
        return Estimate(arm, metric, value, within, method, True)
    interval = _within(found or _point(means), 0 if is_rate else least, 1 if is_rate else inf)
    method = _bootstrap_name(means, "BCa", clusters)
    return Estimate(arm, metric, value, interval, method, is_rate)


def compare(
    metric: str,
    baseline: tuple[str, Scores],
    other: tuple[str, Scores],
    *,
    is_rate: bool,
    better: Better = "higher",
    seed: int,
    clusters: Clusters = None,
) -> Comparison:
    """Compare an arm with the baseline; the p-value is not corrected yet, see `corrected`.

    One run a case that succeeds or not: McNemar's exact test, and Tango's interval. Anything else:
    the repeats of a case are averaged, signs are flipped, and cases are drawn for the interval.
    The signs of the cases of a cluster are flipped together, and whole clusters are drawn.

    Args:
        baseline, other: the name and the scores of each, for the same cases.
        is_rate: whether all scores are 0 or 1.
        seed: draws signs and cases.
    """
    (first_name, first), (second_name, second) = baseline, other
    # Sums of whole numbers are exact, so that equal cases are equal.
    differences = [(sum(b) - sum(a)) / len(a) for a, b in zip(first, second, strict=True)]
    cases, difference = len(differences), fmean(differences)
    up, down = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    deviation = stdev(differences) if cases > 1 else 0.0
    rng = _generator(seed, metric, first_name, second_name)
    sums, sizes = chance.by_cluster(differences, clusters)
    interval: Interval | None
    if is_rate and _once(first) and _once(second) and clusters is None:
        p_value, test = chance.mcnemar(up, down), "McNemar, exact"
        interval, method = chance.tango(up, down, cases), "Tango"
        effect, effect_name = (up / (up + down) - 0.5 if up + down else None), "Cohen's g"
    else:
        p_value = chance.sign_flips(sums, rng)
        test = f"sign flips{' of clusters' if clusters else ''}"
        found = chance.bootstrap(differences, rng, clusters=clusters)
        if is_rate and found is None:
            parts = (max(difference, 0.0) * len(sums), max(-difference, 0.0) * len(sums))
            interval, method = chance.tango(*parts, len(sums)), f"Tango on {_units(clusters)}"
        else:
            interval = _within(found, -1, 1) if is_rate else found or _point(differences)
            method = _bootstrap_name(differences, "percentile", clusters)
        effect, effect_name = (difference / deviation if deviation else None), "Cohen's d_z"
        if clusters and len(sums) > 1:
            away = [total - difference * size for total, size in zip(sums, sizes, strict=True)]
            deviation = stdev(away) * sqrt(len(sums) / cases)
    compared = (metric, first_name, second_name, is_rate, difference, interval, method)
    tested = (p_value, p_value, test, effect, effect_name)
    counts = (up, down, cases) if better == "higher" else (down, up, cases)
    of_clusters = len(sums) if clusters else None
    return Comparison(*compared, *tested, *counts, deviation, better, clusters=of_clusters)


def corrected(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """The comparisons of an experiment, their p-values corrected for all metrics and arms."""
    p_values = chance.holm([each.p_value for each in comparisons])
    return tuple(evolve(each, p_corrected=p) for each, p in zip(comparisons, p_values, strict=True))


def filled(
    scores: Mapping[str, Sequence[Sequence[float | None]]], *, better: Better, worst: float | None
) -> dict[str, list[list[float]]]:
    """Scores in which each missing one is the worst, so that what failed counts against its arm.

    Without a ``worst`` it is the worst one that any arm has (Lachin 1999, Worst-rank score
    analysis with informatively missing observations in clinical trials, Controlled Clinical
    Trials 20, 408-422). It is the same for all arms, so that arms that are alike stay alike.
    """
    known = [each for rows in scores.values() for row in rows for each in row if each is not None]
    if worst is None:
        worst = (min if better == "higher" else max)(known, default=0.0)
    filler, done = worst, dict[str, list[list[float]]]()
    for arm, rows in scores.items():
        done[arm] = [[filler if each is None else each for each in row] for row in rows]
    return done


def _once(scores: Scores) -> bool:
    return all(len(row) == 1 for row in scores)


def _within(interval: Interval | None, low: float, high: float) -> Interval | None:
    return interval and Interval(max(interval.low, low), min(interval.high, high))


def _point(values: Sequence[float]) -> Interval | None:
    """The interval of cases that are all alike: a point, which says nothing of others."""
    return Interval(fmean(values), fmean(values)) if len(values) > 1 else None


def _bootstrap_name(values: Sequence[float], kind: str, clusters: Clusters) -> str:
    units = len(chance.by_cluster(values, clusters)[0])
    if units < 2:
        return f"none: one {_units(clusters)[:-1]}"
    if len(set(values)) == 1:
        return "the same in every case"
    name = f"{kind} bootstrap" if units >= chance.FEWEST_DRAWN else "Student's t"
    return f"{name} of {_units(clusters)}"


def _units(clusters: Clusters) -> str:
    return "clusters" if clusters else "cases"


def clusters_of(cases: Iterable[Case]) -> Clusters:
    """Which cluster each case is of; None where none has one. A case without one is its own."""
    names = [(each.cluster is None, each.cluster or each.name) for each in cases]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return None if all(alone for alone, _ in names) else [numbers[name] for name in names]


def _generator(seed: int, *names: str) -> np.random.Generator:
    """Random numbers of their own for each figure, so that no figure depends on another."""
    import numpy as np

    digest = sha256("\0".join([str(seed), *names]).encode(errors="surrogatepass")).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


Levels: TypeAlias = Mapping[str, str]
"""The level of each factor that an arm has."""

MOST_ARMS = 1_000
"""How many arms an experiment may have."""


def crossed(
    arms: Mapping[str, Arm], factors: Mapping[str, Mapping[str, Arm]]
) -> tuple[dict[str, Arm], dict[str, Levels]]:
    """The arms of a matrix, and the levels of each; see `ab`.

    Raises:
        ArgumentError: a factor has fewer than two levels, two arms get the same name, or there are
            too many arms.
    """
    if not factors:
        return dict(arms), {}
    for factor, levels in factors.items():
        if len(levels) < 2:
            raise ArgumentError(f"ab: the factor {factor} needs two levels, it has {len(levels)}")
    if len(arms) > 1 and "arm" in factors:
        raise ArgumentError("ab: several arms are the factor arm, and another factor is named so")
    all_factors = ({"arm": arms} if len(arms) > 1 else {}) | dict(factors)
    base = Arm() if len(arms) > 1 else next(iter(arms.values()))
    if (number := prod(map(len, all_factors.values()))) > MOST_ARMS:
        told = f"factors make {number:,} arms, more than {MOST_ARMS:,}"
        raise ArgumentError(f"ab: {told}: leave out factors or levels")
    made: dict[str, Arm] = {}
    levels_of: dict[str, Levels] = {}
    for chosen in product(*all_factors.values()):
        name, arm = ", ".join(chosen), base
        if name in made:
            raise ArgumentError(f"ab: two arms are named {name}")
        levels_of[name] = dict(zip(all_factors, chosen, strict=True))
        for factor, level in levels_of[name].items():
            arm = all_factors[factor][level].over(arm)
        made[name] = arm
    return made, levels_of


@frozen
class Contrast:
    """Two groups of arms that are compared: their scores are averaged, case by case.

    Attributes:
        baseline: what the first group is called.
        arm: what the second is called.
        minus: the arms of the first.
        plus: the arms of the second.
        factors: the factors whose effect it is; none where two arms are compared.
        name: what is compared, in words.
    """

    baseline: str
    arm: str
    minus: tuple[str, ...]
    plus: tuple[str, ...]
    factors: tuple[str, ...] = ()
    name: str = ""

    def rows(self, scores: Mapping[str, Scores]) -> tuple[Scores, Scores]:
        """The scores of both groups: a row for each case."""

        def averaged(arms: Sequence[str]) -> Scores:
            groups = zip(*(scores[arm] for arm in arms), strict=True)
            return [[*chain.from_iterable(rows)] for rows in groups]

        return averaged(self.minus), averaged(self.plus)

    def compared(self, metric: str, scores: Mapping[str, Scores], **how: Any) -> Comparison:
        """The comparison of the groups in a metric, not corrected yet; ``how`` as in `compare`.

        The groups of a pair differ by half of what a pair is: how much more one effect is at the
        other level.
        """
        minus, plus = self.rows(scores)
        found = compare(metric, (self.baseline, minus), (self.arm, plus), **how)
        if len(self.factors) == 2:
            twice = {name: 2 * getattr(found, name) for name in ("difference", "deviation")}
            ends = found.interval and Interval(2 * found.interval.low, 2 * found.interval.high)
            found = evolve(found, interval=ends, **twice)
        return evolve(found, factors=self.factors, name=self.name or found.name)


def contrasts_of(arms: Sequence[str], levels: Mapping[str, Levels]) -> tuple[Contrast, ...]:
    """What is compared: each arm with the first, or the effects of factors and of their pairs."""
    if not levels:
        first, *others = arms
        return tuple(Contrast(first, each, (first,), (each,)) for each in others)
    steps = [
        (factor, level, first)
        for factor, (first, *others) in factors_of(levels).items()
        for level in others
    ]
    effects = [*combinations(steps, 1), *combinations(steps, 2)]
    return tuple(_effect(levels, of) for of in effects if of[0][0] != of[-1][0] or len(of) == 1)


def factors_of(levels: Mapping[str, Levels]) -> dict[str, tuple[str, ...]]:
    """The levels of each factor, in their order."""
    factors = next(iter(levels.values()), {})
    return {each: tuple(dict.fromkeys(mine[each] for mine in levels.values())) for each in factors}


def _effect(levels: Mapping[str, Levels], of: Sequence[tuple[str, str, str]]) -> Contrast:
    """The effect of one step from the first level to another, or of two of them together."""
    sides: tuple[list[str], list[str]] = [], []
    for arm, mine in levels.items():
        if all(mine[factor] in (level, first) for factor, level, first in of):
            sides[sum(mine[factor] == first for factor, _, first in of) % 2].append(arm)
    factors, reached, begun = zip(*of, strict=True)
    name = " × ".join(f"{factor} {level} − {first}" for factor, level, first in of)
    plus, minus = map(tuple, sides)
    return Contrast(", ".join(begun), ", ".join(reached), minus, plus, factors, name)


_SEED = 0  # the same figures for the same results


@frozen
class Slice:
    """How often the runs of the cases of one kind pass.

    Attributes:
        column: the column of the cases.
        value: what they have in it; "" for those that have nothing.
        cases: how many cases they are.
        rate: how often their runs pass.
        p_value: how often cases that are alike differ so much from all others, by chance; None
            where cases of one cluster are in several slices, or one side has less than two.
        p_corrected: the same, corrected for all slices.
    """

    column: str
    value: str
    cases: int
    rate: Estimate
    p_value: float | None
    p_corrected: float | None = None


def pass_rate(cases: Sequence[Case], passed: Scores) -> Estimate:
    """How often runs pass, with an interval for cases like these.

    Args:
        passed: a row for each case, in it 1 for each run that passed, and else 0.
    """
    clusters = clusters_of(cases)
    return estimate("", "passed", passed, is_rate=True, seed=_SEED, clusters=clusters)


def slices(cases: Sequence[Case], passed: Scores, columns: Iterable[str]) -> tuple[Slice, ...]:
    """The slices by each of several columns, each compared with all other cases.

    Two slices of a column are one comparison. All are corrected together, see `chance.holm`.
    """
    found: list[Slice] = []
    tests: list[tuple[int, ...]] = []
    for column in columns:
        kinds = [kinds_of(each, column) for each in cases]
        names = dict.fromkeys(name for each in kinds for name in each)
        first = len(found)
        for name in names:
            is_in = [name in each for each in kinds]
            mine = [number for number, inside in enumerate(is_in) if inside]
            rate = pass_rate([cases[n] for n in mine], [passed[n] for n in mine])
            found.append(Slice(column, name, len(mine), rate, _difference(cases, passed, is_in)))
        own = range(first, len(found))
        is_one = len(names) == 2 and all(len(each) == 1 for each in kinds)
        tests += [tuple(own)] if is_one else [(each,) for each in own]
    tested = [(each, p) for each in tests if (p := found[each[0]].p_value) is not None]
    for (numbers, p), p_corrected in zip(tested, chance.holm([p for _, p in tested]), strict=True):
        for number in numbers:
            found[number] = evolve(found[number], p_value=p, p_corrected=p_corrected)
    return tuple(found)


def kinds_of(case: Case, column: str) -> tuple[str, ...]:
    """What a case has in a column: of ``tags`` each, else one text, which may be empty."""
    if column == "tags":
        return case.tags or ("",)
    value: Json = case.cluster if column == "cluster" else case.columns.get(column)
    if value is None:
        return ("",)
    return (value if isinstance(value, str) else write_json(value),)


def require_column(cases: Sequence[Case], column: str) -> None:
    """Make sure that some case has something in a column.

    Raises:
        ValidationError: none has.
    """
    if all(kinds_of(each, column) == ("",) for each in cases):
        known = dict.fromkeys(["tags", "cluster", *(key for each in cases for key in each.columns)])
        hint = did_you_mean(column, known) or f"there are {', '.join(known)}"
        raise ValidationError(f"no case has a column {column}\nhint: {hint}")


def _difference(cases: Sequence[Case], passed: Scores, is_in: Sequence[bool]) -> float | None:
    """The p-value of the permutation test of the cases of a slice and all others.

    The slices of cases, or of whole clusters, are exchanged: Fisher (1935), The Design of
    Experiments, section 21; all ways if they are few, else 9,999 of them.
    """
    import numpy as np
    from scipy import stats

    clusters = clusters_of(cases) or range(len(cases))
    units: dict[int, list[int]] = {}
    for number, cluster in enumerate(clusters):
        units.setdefault(cluster, []).append(number)
    sides = [{is_in[n] for n in numbers} for numbers in units.values()]
    mine, others = (
        np.array([n for n, each in enumerate(sides) if each == {side}], dtype=int)
        for side in (True, False)
    )
    if len(mine) + len(others) < len(units) or min(len(mine), len(others)) < 2:
        return None
    sums = np.array([sum(fmean(passed[n]) for n in numbers) for numbers in units.values()])
    sizes = np.array([*map(len, units.values())])

    def apart(one: np.ndarray, other: np.ndarray, axis: int) -> np.ndarray:
        rates = [sums[each].sum(axis=axis) / sizes[each].sum(axis=axis) for each in (one, other)]
        return np.asarray(rates[0] - rates[1])

    found = stats.permutation_test(
        (mine, others), apart, vectorized=True, rng=np.random.default_rng(_SEED)
    )
    return min(1.0, float(found.pvalue))
