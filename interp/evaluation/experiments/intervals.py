"""Intervals for rates, means and their differences: what the true value may be.

All of them are intervals of 95 %, or of another ``level``. A case is the unit: repeats of a case
are averaged before, since they say nothing about other cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    import numpy as np

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
    level: float = LEVEL,
) -> Interval | None:
    """The interval of a mean, one value for each case, by drawing cases with replacement.

    Percentiles, made wider as few cases need it: Hesterberg (2015), What teachers should know about
    the bootstrap, The American Statistician 69, 371-386, section 5. What is skewed, as costs are
    and differences hardly, gets BCa with the same width: Efron (1987), Better bootstrap confidence
    intervals, JASA 82, 171-185. Fewer than six cases have nothing to draw from: their interval is
    Student's (1908), Biometrika 6, 1-25.

    Args:
        values: the values.
        rng: draws the cases.
        is_skewed: whether large values are likely to lie on one side.
        level: how often such intervals hold the true mean, about.

    Returns:
        None where the values do not differ: drawing them again says nothing then.
    """
    import numpy as np
    from scipy import stats

    given = np.asarray(values, dtype=float)
    cases = len(given)
    if cases < 2 or np.ptp(given) <= 1e-12 * max(1.0, float(np.max(np.abs(given)))):
        return None
    t = stats.t.ppf((1 + level) / 2, cases - 1)
    if cases < FEWEST_DRAWN:
        half = float(t * np.std(given, ddof=1) / sqrt(cases))
        return Interval(float(np.mean(given)) - half, float(np.mean(given)) + half)
    wider = 2 * stats.norm.cdf(sqrt(cases / (cases - 1)) * t) - 1
    found = stats.bootstrap(
        (given,),
        np.mean,
        n_resamples=RESAMPLES,
        confidence_level=min(wider, 1 - 1e-9),
        method="BCa" if is_skewed else "percentile",
        vectorized=True,
        rng=rng,
    ).confidence_interval
    return Interval(float(found.low), float(found.high))


def normal_quantile(share: float) -> float:
    """Below which a share of a standard normal distribution is."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(share)
