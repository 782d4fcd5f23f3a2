"""How many cases a difference needs to be found, and how often so many cases find it."""

from __future__ import annotations

from math import ceil, sqrt

from gram import ArgumentError
from gram.errors import expect

from .intervals import normal_quantile
from .pair_tests import ALPHA

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
    difference = abs(_number("difference", difference))
    if (disagreement is None) == (deviation is None):
        raise ArgumentError("cases_needed: give either disagreement or deviation")
    for name, share in (("power", power), ("alpha", alpha)):
        if not 0 < _number(name, share) < 1:
            raise ArgumentError(f"cases_needed: {name} must be between 0 and 1, got {share}")
    if difference == 0:
        return None
    if disagreement is not None:
        if not difference <= _number("disagreement", disagreement) <= 1:
            raise ArgumentError(
                f"cases_needed: disagreement must be from the difference {difference:g} to 1, "
                f"got {disagreement}"
            )
        start = _connor(difference, disagreement, power, alpha)
    else:
        assert deviation is not None
        if _number("deviation", deviation) < 0:
            raise ArgumentError(f"cases_needed: deviation must be at least 0, got {deviation}")
        if deviation == 0:
            return _fewest(alpha)
        away = normal_quantile(1 - alpha / 2) + normal_quantile(power)
        start = (away * deviation / difference) ** 2
    if start > _MOST_CASES:
        return None
    cases = max(_fewest(alpha), ceil(start) - 5)
    while cases <= _MOST_CASES:
        found = power_of(
            cases, difference, disagreement=disagreement, deviation=deviation, alpha=alpha
        )
        if found >= power:
            return cases
        cases += 1
    return None


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
    expect(cases, int, "cases", by="power_of")
    import numpy as np
    from scipy import stats

    difference = abs(difference)
    if disagreement is not None:
        differing = np.arange(cases + 1)
        share = (disagreement + difference) / (2 * disagreement)
        fewest = stats.binom.ppf(alpha / 2, differing, 0.5)
        fewest = np.where(stats.binom.cdf(fewest, differing, 0.5) <= alpha / 2, fewest, fewest - 1)
        found = np.where(
            fewest >= 0,
            stats.binom.cdf(fewest, differing, share)
            + stats.binom.sf(differing - fewest - 1, differing, share),
            0.0,
        )
        return float(np.sum(stats.binom.pmf(differing, cases, disagreement) * found))
    if cases < _fewest(alpha):
        return 0.0
    if not deviation:
        return 1.0 if difference else alpha
    away = difference / deviation * sqrt(cases)
    critical = stats.t.ppf(1 - alpha / 2, cases - 1)
    return float(
        stats.nct.sf(critical, cases - 1, away) + stats.nct.cdf(-critical, cases - 1, away)
    )


def findable(
    cases: int,
    *,
    disagreement: float | None = None,
    deviation: float | None = None,
    power: float = POWER,
    alpha: float = ALPHA,
) -> float | None:
    """The smallest difference that so many cases find as often as ``power`` says.

    The arguments are those of `cases_needed`.

    Returns:
        The difference; None where none of any size would be found so often.

    >>> round(findable(84, disagreement=0.4) or 0, 2)
    0.2
    """
    from scipy.optimize import brentq  # imported late: it takes longer than a short program

    spread = {"disagreement": disagreement, "deviation": deviation}
    most = disagreement if disagreement is not None else _MOST_DEVIATIONS * (deviation or 0)

    def missing(difference: float) -> float:
        found = power_of(cases, difference, **spread, alpha=alpha)
        return power - (found if found == found else 1.0)  # not a number where it is all but sure

    if not most or missing(most) > 0:
        return None
    return float(brentq(missing, 0.0, most, xtol=1e-4 * most))


def findable_rate(cases: int, runs: int, *, alpha: float = ALPHA) -> float | None:
    """The smallest difference of rates of several runs a case that is found `POWER` of the time.

    Each run is an even chance, which is when rates vary most, and the difference is the same in all
    cases. Means of few runs lie far apart, and a test counts the one that was seen in full: a
    difference has to be larger by half of what lies between two of them.

    Args:
        cases: the number of cases.
        runs: how many runs of a case each rate is the mean of.
        alpha: how often rates that are alike may be found to differ.
    """
    found = findable(cases, deviation=sqrt(0.5 / runs), alpha=alpha)
    return found and found + 1 / (runs * cases)


def _connor(difference: float, disagreement: float, power: float, alpha: float) -> float:
    """The cases that McNemar's test needs about: a little fewer than its exact form.

    Connor (1987), Sample size for testing differences in proportions for the paired-sample
    design, Biometrics 43, 207-211.
    """
    found = normal_quantile(1 - alpha / 2) * sqrt(disagreement)
    found += normal_quantile(power) * sqrt(max(disagreement - difference**2, 0.0))
    return (found / difference) ** 2


def _fewest(alpha: float) -> int:
    """The fewest cases that can be significant at all, see `smallest_p`."""
    cases = 1
    while 2.0 ** (1 - cases) > alpha:
        cases += 1
    return cases


def _number(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise ArgumentError(f"cases_needed: {name} must be a number, got {value!r}")
    return value
