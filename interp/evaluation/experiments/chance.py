"""What a true value may be, could chance alone make a difference, and how many cases one needs.

Tests of two arms flip signs: if the arms are alike, a case could have come out the other way round
just as well. That is exact for any number of cases, needs no distribution, and treats the repeats
of a case as one.

All intervals are of 95 %. A case is the unit: repeats of a case are averaged before, since they say
nothing about other cases.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import accumulate
from math import inf, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeAlias, Union

from attrs import frozen

from gram import ArgumentError
from gram.extras import install

from ...errors import ConfigurationError

if TYPE_CHECKING:
    import numpy as np


Clusters: TypeAlias = Union[Sequence[int], None]
"""Which cluster each case is of, by a number; None where every case is one of its own."""

LEVEL = 0.95
Z = NormalDist().inv_cdf((1 + LEVEL) / 2)
"""How many standard errors an interval goes to each side."""

RESAMPLES = 9_999
"""How often cases are drawn anew, and signs flipped; odd, so that 5 % is a whole rank."""

FEWEST_DRAWN = 6
"""The fewest cases whose bootstrap interval holds the true value nearly as often as it says."""


@frozen
class Interval:
    """The values that fit what was seen, from ``low`` to ``high``."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.3g} to {self.high:.3g}"


def require_statistics() -> None:
    """Make sure that intervals can be made.

    Raises:
        ConfigurationError: the extra ``gram-agents[ab]`` is not installed.
    """
    if find_spec("scipy") is None:
        raise ConfigurationError(f"comparisons and intervals need statistics: {install('ab')}")


def wilson(successes: float, trials: int) -> Interval:
    """The score interval of a rate.

    Wilson (1927), Probable inference, the law of succession, and statistical inference, JASA 22,
    209-212. It stays within 0 and 1 and has a width where all or none succeed.

    Args:
        successes: how many succeeded; not whole where repeats of a case were averaged.
        trials: of how many, at least one.
    """
    rate, spread = successes / trials, Z * Z / trials
    middle = (rate + spread / 2) / (1 + spread)
    half = Z / (1 + spread) * sqrt(rate * (1 - rate) / trials + spread / (4 * trials))
    low = 0.0 if successes <= 0 else max(0.0, middle - half)
    return Interval(low, 1.0 if successes >= trials else min(1.0, middle + half))


def tango(gained: float, lost: float, cases: int) -> Interval:
    """The score interval of the difference of two rates on the same cases.

    Tango (1998), Equivalence test and confidence interval for the difference in proportions for
    the paired-sample design, Statistics in Medicine 17, 891-908. Fagerland, Lydersen and Laake
    (2014), Statistics in Medicine 33, 2850-2875, recommend it.

    Args:
        gained: the cases that only the second succeeds in; not whole where repeats were averaged.
        lost: the cases that only the first succeeds in.
        cases: the number of all cases, at least one.
    """
    from scipy.optimize import brentq  # imported late: it takes longer than a short program

    found = (gained - lost) / cases

    def score(difference: float) -> float:
        """How many standard errors the data are away from a difference."""
        b = -gained - lost + (2 * cases - gained + lost) * difference
        c = -lost * difference * (1 - difference)
        p = (sqrt(max(b * b - 8 * cases * c, 0.0)) - b) / (4 * cases)
        variance = cases * (2 * p + difference * (1 - difference))
        away = gained - lost - cases * difference
        return 0.0 if variance <= 1e-12 else away / sqrt(variance)

    edge = 1 - 1e-9
    low = -1.0 if score(-edge) < Z else brentq(lambda d: score(d) - Z, -edge, found)
    high = 1.0 if score(edge) > -Z else brentq(lambda d: score(d) + Z, found, edge)
    return Interval(low, high)


def bootstrap(
    values: Sequence[float],
    rng: np.random.Generator,
    *,
    is_skewed: bool = False,
    clusters: Clusters = None,
) -> Interval | None:
    """The interval of a mean, one value for each case, by drawing cases with replacement.

    Percentiles, made wider as few cases need it: Hesterberg (2015), What teachers should know about
    the bootstrap, The American Statistician 69, 371-386, section 5. What is skewed, as costs are
    and differences hardly, gets BCa with the same width: Efron (1987), Better bootstrap confidence
    intervals, JASA 82, 171-185. Fewer than six cases have nothing to draw from: their interval is
    Student's (1908), Biometrika 6, 1-25.

    Cases of a cluster are alike, so that they say less than as many others. Whole clusters are
    drawn then, and the mean is that of all cases drawn: Field and Welsh (2007), Bootstrapping
    clustered data, Journal of the Royal Statistical Society B 69, 369-390.

    Args:
        values: the values.
        rng: draws the cases.
        is_skewed: whether large values are likely to lie on one side.
        clusters: which cluster each case is of.

    Returns:
        None where neither values nor clusters differ: drawing them again says nothing then.
    """
    import numpy as np
    from scipy import stats

    given = np.asarray(values, dtype=float)
    sums, sizes = map(np.asarray, by_cluster(values, clusters))
    units, mean = len(sums), float(np.mean(given))
    away = (sums - mean * sizes) / np.mean(sizes)
    if units < 2 or np.ptp(away) <= 1e-12 * max(1.0, float(np.max(np.abs(given)))):
        return None
    t = stats.t.ppf((1 + LEVEL) / 2, units - 1)
    if units < FEWEST_DRAWN:
        half = float(t * np.std(away, ddof=1) / sqrt(units))
        return Interval(mean - half, mean + half)
    wider = 2 * stats.norm.cdf(sqrt(units / (units - 1)) * t) - 1

    def mean_of(drawn: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray(sums[drawn].sum(axis=axis) / sizes[drawn].sum(axis=axis))

    found = stats.bootstrap(
        (given,) if clusters is None else (np.arange(units),),
        np.mean if clusters is None else mean_of,
        n_resamples=RESAMPLES,
        confidence_level=min(wider, 1 - 1e-9),
        method="BCa" if is_skewed else "percentile",
        vectorized=True,
        rng=rng,
    ).confidence_interval
    return Interval(float(found.low), float(found.high))


def by_cluster(values: Sequence[float], clusters: Clusters) -> tuple[list[float], list[int]]:
    """The sum of the values of each cluster, and their number; without clusters, of each case."""
    if clusters is None:
        return list(values), [1] * len(values)
    sums: dict[int, float] = {}
    for cluster, value in zip(clusters, values, strict=True):
        sums[cluster] = sums.get(cluster, 0.0) + value
    sizes = Counter(clusters)
    return [*sums.values()], [sizes[each] for each in sums]


ALPHA = 0.05
"""How often arms that are alike may be found to differ."""

_ALL_SIGNS = 16  # differences whose signs are all tried


def mcnemar(gained: int, lost: int) -> float:
    """The p-value of McNemar's exact test: one run a case, which succeeds or does not.

    McNemar (1947), Note on the sampling error of the difference between correlated proportions or
    percentages, Psychometrika 12, 153-157; exact as a binomial test of the cases that differ.

    Args:
        gained: the cases that only the second arm succeeds in.
        lost: the cases that only the first arm succeeds in.

    >>> mcnemar(7, 1)
    0.0703125
    """
    from scipy import stats

    if not gained + lost:
        return 1.0
    return float(stats.binomtest(gained, gained + lost, 0.5).pvalue)


def sign_flips(differences: Sequence[float], rng: np.random.Generator) -> float:
    """The p-value of the permutation test of a mean difference, one difference for each case.

    Fisher (1935), The Design of Experiments, section 21. Up to 16 differences, all signs are
    tried, and the test is exact; so it is where all are of one size, as in `mcnemar`. Beyond, 9,999
    of them are drawn, and what was seen counts as one more (Phipson and Smyth 2010, Statistical
    Applications in Genetics and Molecular Biology 9, article 39).

    Args:
        differences: the differences; those that are zero have no sign to flip.
        rng: draws the signs.
    """
    import numpy as np
    from scipy import stats

    given = np.asarray(differences, dtype=float)
    given = given[given != 0]
    if not len(given) or np.ptp(np.abs(given)) == 0:
        return mcnemar(int(np.sum(given > 0)), int(np.sum(given < 0)))
    # By a power of two, which is exact: no sum is too large or too small for a float.
    exponent = np.frexp(np.max(np.abs(given)))[1]
    found = stats.permutation_test(
        (np.ldexp(given, -exponent),),
        np.mean,
        permutation_type="samples",
        n_resamples=2 ** len(given) if len(given) <= _ALL_SIGNS else RESAMPLES,
        vectorized=True,
        rng=rng,
    )
    return min(1.0, float(found.pvalue))


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values that are corrected for being several, in the order of those given.

    Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of
    Statistics 6, 65-70: the chance of any false finding among them stays at most 5 %.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    scaled = (min(1.0, p_values[n] * (len(order) - rank)) for rank, n in enumerate(order))
    largest = dict(zip(order, accumulate(scaled, max), strict=True))
    return [largest[index] for index in range(len(order))]


def smallest_p(cases: int) -> float:
    """The smallest p-value that so many cases can have: all of them differ in one direction.

    >>> smallest_p(5), smallest_p(6)
    (0.0625, 0.03125)
    """
    return float(min(1.0, 2.0 ** (1 - cases)))


POWER = 0.8
"""How often a difference should be found, where nothing else is asked for."""

_MOST_CASES = 100_000
_MOST_DEVIATIONS = 20


def cases_needed(
    difference: float,
    *,
    disagreement: float | None = None,
    deviation: float | None = None,
    power: float = POWER,
    alpha: float = ALPHA,
) -> int | None:
    """How many cases a difference needs, so that it is found as often as ``power`` says.

    For rates with one run a case, the arms disagree in a share of the cases, and the test is
    McNemar's exact one. For anything else, the differences of the cases have a standard deviation,
    and the power is that of a paired t-test, which the permutation test comes close to.

    Args:
        difference: the difference to find, such as 0.1 for ten points of a rate.
        disagreement: the share of cases in which one arm succeeds and the other does not; at
            least the difference.
        deviation: the standard deviation of the differences of the cases.
        power: how often the difference should be found.
        alpha: how often arms that are alike may be found to differ.

    Returns:
        The number of cases; None if more than 100,000 are needed.

    Raises:
        ArgumentError: an argument is not a number in its range, or there is not exactly one of
            ``disagreement`` and ``deviation``.

    >>> cases_needed(0.2, disagreement=0.4)
    84
    """
    if (disagreement is None) == (deviation is None):
        raise ArgumentError("cases_needed: give either disagreement or deviation")
    difference = abs(_within("difference", difference, -inf, inf))
    _within("power", power, 1e-6, 0.999999)
    _within("alpha", alpha, 1e-6, 0.999999)
    _within("disagreement", difference if disagreement is None else disagreement, difference, 1)
    _within("deviation", 0.0 if deviation is None else deviation, 0, inf)
    given = {"disagreement": disagreement, "deviation": deviation}

    def suffices(cases: int) -> bool:
        return power_of(cases, difference, **given, alpha=alpha) >= power

    most = 1
    while difference and most <= _MOST_CASES and not suffices(most):
        most *= 2
    needed = bisect_left(range(1, most), True, key=suffices) + 1
    return needed if difference and needed <= _MOST_CASES else None


def power_of(
    cases: int,
    difference: float,
    *,
    disagreement: float | None = None,
    deviation: float | None = None,
    alpha: float = ALPHA,
) -> float:
    """How often so many cases find a difference; the arguments are those of `cases_needed`.

    For McNemar's exact test the number of cases that differ is binomial, and so is how many of
    them go one way (Duffy 1984, Asymptotic and exact power for the McNemar test and its analogue
    with R controls per case, Biometrics 40, 1005-1015).
    """
    import numpy as np
    from scipy import stats

    difference = abs(difference)
    if disagreement is not None:
        differing = np.arange(cases + 1)
        share = (disagreement + difference) / (2 * disagreement)
        fewest = stats.binom.ppf(alpha / 2, differing, 0.5)
        fewest = np.where(stats.binom.cdf(fewest, differing, 0.5) <= alpha / 2, fewest, fewest - 1)
        found = stats.binom.cdf(fewest, differing, share)  # none where it is -1
        found += stats.binom.sf(differing - fewest - 1, differing, share)
        return float(np.sum(stats.binom.pmf(differing, cases, disagreement) * found))
    if smallest_p(cases) > alpha:
        return 0.0
    if not deviation:
        return 1.0 if difference else alpha
    away = difference / deviation * sqrt(cases)
    critical = stats.t.ppf(1 - alpha / 2, cases - 1)
    found = stats.nct.sf(critical, cases - 1, away) + stats.nct.cdf(-critical, cases - 1, away)
    return float(found) if found == found else 1.0  # not a number where it is all but sure


def findable(
    cases: int, *, lost: float = 0.0, deviation: float | None = None, alpha: float = ALPHA
) -> float | None:
    """The smallest difference that so many cases find `POWER` of the time.

    Args:
        lost: the share of cases that only the worse arm succeeds in, for rates.
        deviation: the standard deviation of the differences of the cases, for anything else.
        alpha: how often arms that are alike may be found to differ.

    Returns:
        The difference; None where none of any size would be found so often.

    >>> findable(30), findable(5)
    (0.251, None)
    """

    def found(difference: float) -> float:
        share = difference + 2 * lost if deviation is None else None
        return power_of(cases, difference, disagreement=share, deviation=deviation, alpha=alpha)

    return _smallest(found, 1 - 2 * lost if deviation is None else _MOST_DEVIATIONS * deviation)


def _smallest(found: Callable[[float], float], most: float) -> float | None:
    """The smallest size of at most ``most``, in thousandths of it, that is found often enough."""
    if not most:
        return None
    step = bisect_left(range(1, 1001), POWER, key=lambda step: found(most * step / 1000)) + 1
    return most * step / 1000 if step <= 1000 else None


def findable_rate(cases: int, runs: int, *, alpha: float = ALPHA) -> float | None:
    """The smallest difference of rates of several runs a case that is found `POWER` of the time.

    Each run is an even chance, which is when rates vary most, and the difference is the same in all
    cases. Means of few runs lie far apart, and a test counts the one that was seen in full: a
    difference has to be larger by half of what lies between two of them.

    Args:
        runs: how many runs of a case each rate is the mean of.
        alpha: how often rates that are alike may be found to differ.
    """
    found = findable(cases, deviation=sqrt(0.5 / runs), alpha=alpha)
    return found and found + 1 / (runs * cases)


def _within(name: str, value: float, low: float, high: float) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not low <= value <= high:
        wanted = f"a number from {low:g} to {high:g}"
        raise ArgumentError(f"cases_needed: {name} must be {wanted}, got {value!r}")
    return value


def fisher(first: int, of_first: int, second: int, of_second: int) -> float:
    """The p-value of Fisher's exact test, two-sided.

    Fisher (1934), Statistical Methods for Research Workers, section 21.02. It finds a difference
    between equal rates at most as often as it says, with any number of runs.

    Args:
        first, second: how many runs succeeded in each sample.
        of_first, of_second: of how many.
    """
    from scipy import stats

    table = [[first, of_first - first], [second, of_second - second]]
    return float(stats.fisher_exact(table).pvalue)


def newcombe(first: int, of_first: int, second: int, of_second: int) -> Interval:
    """The hybrid score interval of the second rate less the first.

    Newcombe (1998), Interval estimation for the difference between independent proportions,
    Statistics in Medicine 17, 873-890, method 10.

    Args:
        first, second: how many runs succeeded in each sample.
        of_first, of_second: of how many, at least one each.
    """
    one, two = wilson(first, of_first), wilson(second, of_second)
    rate, other = first / of_first, second / of_second
    below = sqrt((other - two.low) ** 2 + (one.high - rate) ** 2)
    above = sqrt((two.high - other) ** 2 + (rate - one.low) ** 2)
    return Interval(other - rate - below, other - rate + above)


def power_of_fisher(runs: int, first: float, second: float) -> float:
    """How often Fisher's test finds a difference between two true rates, at 5 %."""
    import numpy as np
    from scipy import stats

    counts = np.arange(runs + 1)
    chances = np.outer(stats.binom.pmf(counts, runs, first), stats.binom.pmf(counts, runs, second))
    return float(chances[_found(runs)].sum())


def detectable(runs: int) -> float | None:
    """The smallest difference of rates around one half that is found in four of five times.

    None if samples of that size do not even tell never from always.
    """
    return _smallest(lambda size: power_of_fisher(runs, 0.5 - size / 2, 0.5 + size / 2), 1.0)


@cache
def _found(runs: int) -> np.ndarray:
    """Which numbers of successes in two samples Fisher's test tells apart."""
    import numpy as np
    from scipy import stats

    found = np.zeros((runs + 1, runs + 1), dtype=bool)
    for total in range(2 * runs + 1):
        first = np.arange(max(0, total - runs), min(runs, total) + 1)
        chances = stats.hypergeom.pmf(first, 2 * runs, runs, total)
        as_rare = chances[None, :] <= chances[:, None] * (1 + 1e-7)
        found[first, total - first] = (as_rare * chances).sum(axis=1) <= ALPHA
    return found
