"""How many cases a difference needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from gram import ArgumentError
from interp.evaluation.experiments.chance import cases_needed, mcnemar, power_of


def test_the_power_of_few_cases_is_the_sum_over_all_outcomes() -> None:
    """Three kinds of cases, counted one by one."""
    cases, up, down = 9, 0.5, 0.1
    expected = sum(
        stats.multinomial.pmf([gained, lost, cases - gained - lost], cases, [up, down, 0.4])
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


def test_numbers_need_what_the_paired_t_test_needs() -> None:
    """Half a standard deviation at 80 %: 34 pairs, as Cohen's tables and G*Power say."""
    assert cases_needed(0.5, deviation=1.0) == 34


def test_what_cannot_be_found_needs_no_number_of_cases() -> None:
    assert cases_needed(0, disagreement=0.3) is None
    assert cases_needed(0.0001, disagreement=0.3) is None
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


def test_the_power_of_a_permutation_test_is_close_to_that_of_the_t_test() -> None:
    from interp.evaluation.experiments.comparing import compare

    rng, found = np.random.default_rng(5), 0
    for each in range(40):
        differences = rng.normal(0.5, 1.0, 34)
        one = compare(
            "m",
            ("a", [[0.0]] * 34),
            ("b", [[float(d)] for d in differences]),
            is_rate=False,
            seed=each,
        )
        found += one.is_significant

    assert stats.binom.cdf(found, 40, 0.8) > 0.001
