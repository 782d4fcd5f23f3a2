"""The statistics keep their word: simulated experiments, without any model."""

from __future__ import annotations

import pytest
from attrs import evolve
from scipy import stats

from benchmarks.calibration import SCENARIOS, power, size

BY_DAY = (
    "a rate of 70 %, 20 cases",
    "seconds of which some are missing, 30 cases",
    "a rate of 70 %, 12 clusters of 5 cases",
    "three arms and two metrics, 30 cases",
)


@pytest.mark.parametrize(
    ("name", "experiments"),
    [
        *((name, 40) for name in BY_DAY),
        *(pytest.param(name, 1000, marks=pytest.mark.nightly) for name in SCENARIOS),
    ],
)
def test_an_arm_differs_from_itself_in_at_most_five_percent(name: str, experiments: int) -> None:
    wrong, holding = size(SCENARIOS[name], experiments)
    most = stats.binom.isf(0.0005, experiments, 0.05)
    assert wrong * experiments <= most, f"{wrong:.1%} of {experiments} experiments find one"
    least = stats.binom.ppf(0.0005, experiments, 0.92)
    assert holding * experiments >= least, f"{holding:.1%} of the intervals hold 0"


def test_without_its_clusters_an_arm_often_differs_from_itself() -> None:
    scenario = SCENARIOS["a rate of 70 %, 12 clusters of 5 cases"]
    wrong, _ = size(evolve(scenario, cluster=1), 100)
    assert wrong > 0.15


@pytest.mark.parametrize(("difference", "disagreement"), [(0.2, 0.3), (0.3, 0.6)])
def test_a_difference_is_found_as_often_as_was_promised(
    difference: float, disagreement: float
) -> None:
    _, found, held = power(difference, disagreement, 200)
    assert stats.binom.cdf(found * 200, 200, 0.8) > 0.001
    assert stats.binom.cdf(held * 200, 200, 0.94) > 0.001
