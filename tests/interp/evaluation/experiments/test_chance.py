"""Intervals, tests of two arms and of two samples, and how many cases a difference needs."""

from __future__ import annotations

from itertools import product
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
import scipy
from attrs import evolve
from hypothesis import given, strategies as st

from benchmarks.calibration import SCENARIOS, power, size
from gram import ArgumentError
from interp.evaluation.experiments.chance import (
    bootstrap,
    cases_needed,
    detectable,
    fisher,
    holm,
    mcnemar,
    newcombe,
    power_of,
    power_of_fisher,
    sign_flips,
    tango,
    wilson,
)
from tests.by_day import given_few


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


def test_cases_that_are_alike_have_no_bootstrap_interval() -> None:
    assert bootstrap([0.1 + 0.2, 0.3, 0.3], np.random.default_rng(1)) is None
    assert bootstrap([3.0], np.random.default_rng(1)) is None


def test_few_cases_get_student_s_interval() -> None:
    """Student's sleep data (1908): ten hours gained, of which these are five."""
    found = bootstrap([0.7, -1.6, -0.2, -1.2, -0.1], np.random.default_rng(1))
    half = 2.7764451 * np.std([0.7, -1.6, -0.2, -1.2, -0.1], ddof=1) / sqrt(5)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((-0.48 - half, -0.48 + half), abs=1e-6)


DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Darwin's maize, crossed less self-fertilised, in eighths of an inch."""


def test_mcnemar_is_that_of_the_airway_study() -> None:
    """Fagerland, Lydersen and Laake (2013), BMC Medical Research Methodology 13:91: 0.0703."""
    assert mcnemar(1, 7) == pytest.approx(18 / 256)
    assert mcnemar(0, 0) == 1.0


def test_sign_flips_of_darwin_s_maize_are_fisher_s() -> None:
    """The Design of Experiments (1935), section 21: 863 of 32,768 sums are as large."""
    assert sign_flips(DARWIN, np.random.default_rng(1)) == pytest.approx(2 * 863 / 32_768)


@given(st.lists(st.integers(-6, 6), min_size=2, max_size=8), st.integers(0, 9))
def test_few_sign_flips_are_counted_one_by_one(differences: list[int], seed: int) -> None:
    kept = np.array([each for each in differences if each])
    sums = [abs(np.dot(signs, kept)) for signs in product((-1, 1), repeat=len(kept))]
    expected = sum(each >= abs(sum(kept)) for each in sums) / len(sums)

    found = sign_flips(differences, np.random.default_rng(seed))

    assert found == pytest.approx(min(1.0, expected))


@given(
    st.integers(0, 40), st.integers(0, 40), st.sampled_from([1 / 3, 1.0, 7e9]), st.integers(0, 9)
)
def test_sign_flips_of_one_size_are_mcnemar_s(up: int, down: int, size: float, seed: int) -> None:
    found = sign_flips([size] * up + [-size] * down + [0.0], np.random.default_rng(seed))

    assert found == mcnemar(up, down)


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e100])
def test_tiny_and_huge_differences_are_tested_as_any(scale: float) -> None:
    assert sign_flips([scale] * 8, np.random.default_rng(1)) == pytest.approx(2 / 2**8)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_rejects_what_stepping_down_rejects(p_values: list[float]) -> None:
    rejected = set[int]()
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[index] * (len(p_values) - rank) > 0.05:
            break
        rejected.add(index)

    corrected = holm(p_values)

    assert {index for index, p in enumerate(corrected) if p <= 0.05} == rejected
    assert all(p <= q <= 1 for p, q in zip(p_values, corrected, strict=True))


def test_the_power_of_few_cases_is_the_sum_over_all_outcomes() -> None:
    """Three kinds of cases, counted one by one."""
    cases, up, down = 9, 0.5, 0.1
    expected = sum(
        scipy.stats.multinomial.pmf([gained, lost, cases - gained - lost], cases, [up, down, 0.4])
        for gained in range(cases + 1)
        for lost in range(cases + 1 - gained)
        if mcnemar(gained, lost) <= 0.05
    )

    assert power_of(cases, up - down, disagreement=up + down) == pytest.approx(float(expected))


@pytest.mark.parametrize("power", [0.8, 0.95])
def test_the_cases_needed_are_the_fewest_that_have_the_power(power: float) -> None:
    needed = cases_needed(0.2, disagreement=0.3, power=power)
    assert needed is not None
    assert power_of(needed, 0.2, disagreement=0.3) >= power
    assert power_of(needed - 1, 0.2, disagreement=0.3) < power


def test_what_cannot_be_found_needs_no_number_of_cases() -> None:
    assert cases_needed(0, disagreement=0.3) is None
    assert cases_needed(0.0001, deviation=1.0) is None
    assert cases_needed(1, deviation=0) == 6


@pytest.mark.parametrize(
    "given",
    [
        {"difference": 0.1},
        {"difference": 0.1, "disagreement": 0.2, "deviation": 1.0},
        {"difference": 0.3, "disagreement": 0.2},
        {"difference": 0.1, "disagreement": 1.5},
        {"difference": float("nan"), "disagreement": 0.2},
        {"difference": 0.1, "deviation": -1.0},
        {"difference": 0.1, "disagreement": 0.2, "power": 1.0},
        {"difference": 0.1, "disagreement": 0.2, "alpha": 0},
        {"difference": "a lot", "disagreement": 0.2},
    ],
)
def test_numbers_out_of_their_range_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="cases_needed"):
        cases_needed(**given)


RATES = st.floats(0, 1)


@given(st.integers(1, 25), RATES)
def test_equal_rates_are_told_apart_in_at_most_one_of_twenty(runs: int, rate: float) -> None:
    assert power_of_fisher(runs, rate, rate) <= 0.05 + 1e-9


@given_few(st.integers(1, 8), st.data())
def test_the_power_is_that_of_the_test(runs: int, data: st.DataObject) -> None:
    one, two = data.draw(RATES), data.draw(RATES)
    chance = sum(
        scipy.stats.binom.pmf(a, runs, one) * scipy.stats.binom.pmf(b, runs, two)
        for a in range(runs + 1)
        for b in range(runs + 1)
        if fisher(a, runs, b, runs) <= 0.05
    )
    assert power_of_fisher(runs, one, two) == pytest.approx(chance, abs=1e-9)


def test_newcombe_gives_the_intervals_of_its_paper() -> None:
    # Newcombe (1998), table II, method 10: 56/70 and 48/80, then 9/10 and 3/10.
    for (one, of_one, two, of_two), wanted in {
        (48, 80, 56, 70): (0.0524, 0.3339),
        (3, 10, 9, 10): (0.1705, 0.8090),
        (0, 10, 10, 10): (0.6075, 1.0),
    }.items():
        found = newcombe(one, of_one, two, of_two)
        assert (found.low, found.high) == pytest.approx(wanted, abs=5e-5)


def test_what_can_be_found_grows_with_the_runs() -> None:
    assert detectable(3) is None
    found = [detectable(runs) or 2 for runs in (4, 10, 20, 50)]
    assert found == sorted(found, reverse=True)
    assert found[2] == pytest.approx(0.5, abs=0.06)


# --- simulated experiments, without any model

BY_DAY = (
    "a rate of 70 %, 20 cases",
    "seconds of which some are missing, 30 cases",
    "a rate of 70 %, 12 clusters of 5 cases",
    "three arms and two metrics, 30 cases",
)


@pytest.mark.parametrize(
    ("name", "experiments"),
    [
        *((name, 20) for name in BY_DAY),
        *(pytest.param(name, 1000, marks=pytest.mark.nightly) for name in SCENARIOS),
    ],
)
def test_an_arm_differs_from_itself_in_at_most_five_percent(name: str, experiments: int) -> None:
    wrong, holding = size(SCENARIOS[name], experiments)
    most = scipy.stats.binom.isf(0.0005, experiments, 0.05)
    assert wrong * experiments <= most, f"{wrong:.1%} of {experiments} experiments find one"
    least = scipy.stats.binom.ppf(0.0005, experiments, 0.92)
    assert holding * experiments >= least, f"{holding:.1%} of the intervals hold 0"


def test_without_its_clusters_an_arm_often_differs_from_itself() -> None:
    scenario = SCENARIOS["a rate of 70 %, 12 clusters of 5 cases"]
    wrong, _ = size(evolve(scenario, cluster=1), 60)
    assert wrong > 0.15


@pytest.mark.parametrize(("difference", "disagreement"), [(0.2, 0.3), (0.3, 0.6)])
def test_a_difference_is_found_as_often_as_was_promised(
    difference: float, disagreement: float
) -> None:
    _, found, held = power(difference, disagreement, 100)
    assert scipy.stats.binom.cdf(found * 100, 100, 0.8) > 0.001
    assert scipy.stats.binom.cdf(held * 100, 100, 0.94) > 0.001
