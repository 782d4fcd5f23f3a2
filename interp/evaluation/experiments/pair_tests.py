"""Tests of two arms on the same cases: could chance alone make such a difference?

Every test flips signs: if the arms are alike, a case could have come out the other way round just
as well. That is exact for any number of cases, needs no distribution, and treats the repeats of a
case as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .intervals import RESAMPLES

if TYPE_CHECKING:
    import numpy as np

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
    tried, and the test is exact. Beyond, 9,999 of them are drawn, and what was seen counts as one
    more (Phipson and Smyth 2010, Statistical Applications in Genetics and Molecular Biology 9,
    article 39).

    Args:
        differences: the differences; those that are zero have no sign to flip.
        rng: draws the signs.
    """
    import numpy as np
    from scipy import stats

    given = np.asarray(differences, dtype=float)
    given = given[given != 0]
    if len(given) < 2:  # one difference: both signs are as far from zero
        return 1.0
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
    corrected = [1.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = largest
    return corrected


def smallest_p(cases: int) -> float:
    """The smallest p-value that so many cases can have: all of them differ in one direction.

    >>> smallest_p(5), smallest_p(6)
    (0.0625, 0.03125)
    """
    return float(min(1.0, 2.0 ** (1 - cases)))
