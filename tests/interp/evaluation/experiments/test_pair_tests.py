"""The tests of pairs are exact, and known examples come out."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from interp.evaluation.experiments.chance import holm, mcnemar, sign_flips, smallest_p

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
    kept = [each for each in differences if each]
    total = abs(sum(kept))
    sums = [
        abs(sum(sign * each for sign, each in zip(signs, kept, strict=True)))
        for signs in product((-1, 1), repeat=len(kept))
    ]
    expected = sum(each >= total for each in sums) / len(sums)

    found = sign_flips(differences, np.random.default_rng(seed))

    assert found == pytest.approx(min(1.0, expected))


@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 5))
def test_mcnemar_is_the_sign_flips_of_successes(gained: int, lost: int, equal: int) -> None:
    differences = [1.0] * gained + [-1.0] * lost + [0.0] * equal

    assert sign_flips(differences, np.random.default_rng(1)) == pytest.approx(mcnemar(gained, lost))


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e100])
def test_tiny_and_huge_differences_are_tested_as_any(scale: float) -> None:
    assert sign_flips([scale] * 8, np.random.default_rng(1)) == pytest.approx(2 / 2**8)


def test_many_differences_are_tried_at_random_but_the_same_for_a_seed() -> None:
    differences = list(np.random.default_rng(3).normal(0.2, 1, 60))

    first, again = (sign_flips(differences, np.random.default_rng(4)) for _ in range(2))

    assert first == again
    assert 0 < first < 1


def test_holm_is_that_of_his_example() -> None:
    assert holm([0.01, 0.005, 0.03, 0.04]) == pytest.approx([0.03, 0.02, 0.06, 0.06])
    assert holm([]) == []


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


def test_fewer_than_six_cases_cannot_reach_five_percent() -> None:
    assert smallest_p(5) > 0.05 >= smallest_p(6)
    for cases in range(1, 12):
        assert smallest_p(cases) == pytest.approx(mcnemar(cases, 0))
