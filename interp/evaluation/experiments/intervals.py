"""Intervals for rates, means and their differences: what the true value may be.

All of them are intervals of 95 %, or of another ``level``. A case is the unit: repeats of a case
are averaged before, since they say nothing about other cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from math import sqrt
from typing import TYPE_CHECKING, TypeAlias, Union

from attrs import frozen

from gram.extras import install

from ...errors import ConfigurationError

if TYPE_CHECKING:
    import numpy as np

Clusters: TypeAlias = Union[Sequence[int], None]
"""Which cluster each case is of, by a number; None where every case is one of its own."""

LEVEL = 0.95
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


def wilson(successes: float, trials: int, level: float = LEVEL) -> Interval:
    """The score interval of a rate.

    Wilson (1927), Probable inference, the law of succession, and statistical inference, JASA 22,
    209-212. It stays within 0 and 1 and has a width where all or none succeed.

    Args:
        successes: how many succeeded; not whole where repeats of a case were averaged.
        trials: of how many, at least one.
        level: how often such intervals hold the true rate.
    """
    z = normal_quantile((1 + level) / 2)
    rate, spread = successes / trials, z * z / trials
    middle = (rate + spread / 2) / (1 + spread)
    half = z / (1 + spread) * sqrt(rate * (1 - rate) / trials + spread / (4 * trials))
    low = 0.0 if successes <= 0 else max(0.0, middle - half)
    return Interval(low, 1.0 if successes >= trials else min(1.0, middle + half))


def tango(gained: float, lost: float, cases: int, level: float = LEVEL) -> Interval:
    """The score interval of the difference of two rates on the same cases.

    Tango (1998), Equivalence test and confidence interval for the difference in proportions for
    the paired-sample design, Statistics in Medicine 17, 891-908. Fagerland, Lydersen and Laake
    (2014), Statistics in Medicine 33, 2850-2875, recommend it.

    Args:
        gained: the cases that only the second succeeds in; not whole where repeats were averaged.
        lost: the cases that only the first succeeds in.
        cases: the number of all cases, at least one.
        level: how often such intervals hold the true difference.
    """
    from scipy.optimize import brentq  # imported late: it takes longer than a short program

    z = normal_quantile((1 + level) / 2)
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
    low = -1.0 if score(-edge) < z else brentq(lambda d: score(d) - z, -edge, found)
    high = 1.0 if score(edge) > -z else brentq(lambda d: score(d) + z, found, edge)
    return Interval(low, high)


def bootstrap(
    values: Sequence[float],
    rng: np.random.Generator,
    *,
    is_skewed: bool = False,
    clusters: Clusters = None,
    level: float = LEVEL,
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
        level: how often such intervals hold the true mean, about.

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
    t = stats.t.ppf((1 + level) / 2, units - 1)
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


def normal_quantile(share: float) -> float:
    """Below which a share of a standard normal distribution is."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(share)
