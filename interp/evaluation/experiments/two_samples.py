"""Two independent samples of runs that succeed or do not: could chance make such a difference?"""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import TYPE_CHECKING

from .intervals import LEVEL, Interval, wilson
from .pair_tests import ALPHA
from .power import POWER

if TYPE_CHECKING:
    import numpy as np


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


def newcombe(
    first: int, of_first: int, second: int, of_second: int, level: float = LEVEL
) -> Interval:
    """The hybrid score interval of the second rate less the first.

    Newcombe (1998), Interval estimation for the difference between independent proportions,
    Statistics in Medicine 17, 873-890, method 10.

    Args:
        first, second: how many runs succeeded in each sample.
        of_first, of_second: of how many, at least one each.
        level: how often such intervals hold the true difference.
    """
    one, two = wilson(first, of_first, level), wilson(second, of_second, level)
    rate, other = first / of_first, second / of_second
    below = sqrt((other - two.low) ** 2 + (one.high - rate) ** 2)
    above = sqrt((two.high - other) ** 2 + (rate - one.low) ** 2)
    return Interval(other - rate - below, other - rate + above)


def power_of_fisher(runs: int, first: float, second: float) -> float:
    """How often Fisher's test finds a difference between two rates, at 5 %.

    Args:
        runs: the size of each sample.
        first, second: the true rates.
    """
    import numpy as np
    from scipy import stats

    counts = np.arange(runs + 1)
    chances = np.outer(stats.binom.pmf(counts, runs, first), stats.binom.pmf(counts, runs, second))
    return float(chances[_found(runs)].sum())


def detectable(runs: int) -> float | None:
    """The smallest difference of rates around one half that is found in four of five times.

    Args:
        runs: the size of each sample.

    Returns:
        The difference in steps of 0.05; None if even that between never and always is not found.
    """
    for step in range(1, 21):
        half = step / 40
        if power_of_fisher(runs, 0.5 - half, 0.5 + half) >= POWER:
            return 2 * half
    return None


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
