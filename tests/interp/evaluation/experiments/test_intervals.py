"""The intervals are those of the papers, and hold what they say."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, strategies as st

from interp.evaluation.experiments.chance import Interval, bootstrap, tango, wilson


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [  # Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_is_that_of_newcombe_s_table(
    successes: int, trials: int, low: float, high: float
) -> None:
    found = wilson(successes, trials)

    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


def test_tango_is_that_of_fagerland_lydersen_and_laake() -> None:
    """Statistics in Medicine 33 (2014): airway hyper-responsiveness, 21 children, 1 and 7."""
    found = tango(1, 7, 21)

    assert (round(found.low, 3), round(found.high, 3)) == (-0.517, -0.026)


pairs = st.tuples(*[st.integers(0, 30)] * 3).filter(lambda each: sum(each) > 0)


@given(pairs)
def test_tango_leaves_out_zero_where_mcnemar_s_score_is_far(counts: tuple[int, int, int]) -> None:
    gained, lost, equal = counts

    found = tango(gained, lost, gained + lost + equal)

    far = gained + lost > 0 and abs(gained - lost) / sqrt(gained + lost)
    limit = NormalDist().inv_cdf(0.975)
    if abs(far - limit) > 1e-6:
        assert (found.low <= 0 <= found.high) == (far < limit)


@given(pairs)
def test_tango_turns_round_with_the_arms_and_holds_what_was_seen(
    counts: tuple[int, int, int],
) -> None:
    gained, lost, equal = counts
    cases = gained + lost + equal

    there, back = tango(gained, lost, cases), tango(lost, gained, cases)

    assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=1e-6)
    assert -1 <= there.low <= (gained - lost) / cases + 1e-9
    assert (gained - lost) / cases - 1e-9 <= there.high <= 1


@given(st.integers(1, 500), st.data())
def test_wilson_stays_within_a_rate_and_holds_what_was_seen(
    trials: int, data: st.DataObject
) -> None:
    successes = data.draw(st.integers(0, trials))

    found = wilson(successes, trials)

    assert 0 <= found.low <= successes / trials + 1e-12
    assert successes / trials - 1e-12 <= found.high <= 1
    assert found.low < found.high


def test_cases_that_are_alike_have_no_bootstrap_interval() -> None:
    assert bootstrap([0.1 + 0.2, 0.3, 0.3], np.random.default_rng(1)) is None
    assert bootstrap([3.0], np.random.default_rng(1)) is None


def test_few_cases_get_student_s_interval() -> None:
    """Student's sleep data (1908): ten hours gained, of which these are five."""
    found = bootstrap([0.7, -1.6, -0.2, -1.2, -0.1], np.random.default_rng(1))

    half = 2.7764451 * np.std([0.7, -1.6, -0.2, -1.2, -0.1], ddof=1) / sqrt(5)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((-0.48 - half, -0.48 + half), abs=1e-6)


def test_bootstrap_intervals_of_skewed_numbers_hold_the_mean_often_enough() -> None:
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(100):
        found = bootstrap(rng.exponential(1, 25), rng, is_skewed=True)
        assert found is not None
        held += found.low <= 1 <= found.high

    assert held / 100 > 0.9


def test_an_interval_reads_as_one() -> None:
    assert str(Interval(-0.5, 1.25)) == "-0.5 to 1.25"
