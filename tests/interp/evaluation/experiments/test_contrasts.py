"""A matrix of factors: its arms, its effects, and that these keep their word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from scipy import stats

from benchmarks.calibration import EFFECTS, effects_found
from gram import ArgumentError
from interp import ValidationError, ab
from interp.evaluation import Arm, Trial
from interp.evaluation.experiments import what_it_finds
from interp.evaluation.experiments.comparing import contrasts_of, crossed
from interp.evaluation.experiments.report import report
from tests.interp.evaluation.experiments.worlds import PROGRAM, Answering, arm, cases, right, wrong

TWO_BY_THREE = {
    "size": {"small": Arm(), "large": Arm()},
    "tone": {"plain": Arm(), "warm": Arm(), "cold": Arm()},
}


def test_a_matrix_is_full_and_its_levels_are_changes_of_the_arm() -> None:
    factors = {
        "model": {"a": Arm(model="X/a"), "b": Arm(model="X/b")},
        "heat": {"low": Arm(settings={"temperature": 0}), "high": Arm(settings={"temperature": 1})},
    }

    made, levels = crossed({"base": Arm(PROGRAM, settings={"seed": 3})}, factors)

    assert [*made] == ["a, low", "a, high", "b, low", "b, high"]
    assert made["b, low"] == Arm(PROGRAM, model="X/b", settings={"seed": 3, "temperature": 0})
    assert levels["b, low"] == {"model": "b", "heat": "low"}
    arms = {"A": Arm("a.gram", settings={"seed": 1}), "B": Arm("b.gram")}
    made, levels = crossed(arms, {"size": TWO_BY_THREE["size"]})
    assert [*made] == ["A, small", "A, large", "B, small", "B, large"]
    assert made["B, large"] == Arm("b.gram")
    assert levels["B, large"] == {"arm": "B", "size": "large"}  # several arms are a factor


def test_every_level_is_compared_with_the_first_and_every_pair_is_tested() -> None:
    arms, levels = crossed({"base": Arm()}, TWO_BY_THREE)

    found = contrasts_of([*arms], levels)

    assert [each.name for each in found] == [
        "size large − small",
        "tone warm − plain",
        "tone cold − plain",
        "size large − small × tone warm − plain",
        "size large − small × tone cold − plain",
    ]
    for each in found:
        assert len(each.plus) == len(each.minus) > 0
        assert not set(each.plus) & set(each.minus)
    assert set(found[3].plus) == {"large, warm", "small, plain"}


def test_effects_are_means_over_the_others_and_a_pair_is_what_is_more_together() -> None:
    """Letters: 10, 14 with b, 16 with y, and 35 with both, which is 15 more than their sum."""
    answers = {"a, x": 10, "a, y": 16, "b, x": 14, "b, y": 35}

    def letters(trial: Trial) -> int:
        return answers[trial.arm] + len(trial.case.name)

    found = ab(
        cases(7),
        {"base": arm(right)},
        [letters],
        factors={"one": {"a": Arm(), "b": Arm()}, "two": {"x": Arm(), "y": Arm()}},
        seed=1,
    )

    assert [each.difference for each in found.comparisons] == [11.5, 13.5, 15.0]
    pair = found.comparison(arm="one b − a × two y − x")
    assert pair.factors == ("one", "two")
    assert pair.p_corrected == pytest.approx(3 * 2 / 2**7)
    assert found.comparison(arm="y").name == "two y − x"
    assert "one and two interact" in found.table()
    assert "what one of them does depends on the other's level" in found.table()
    assert "7 cases × 4 arms (one × two)" in found.table()
    assert "one and two interact" in report(found)


def test_many_arms_have_a_row_each() -> None:
    found = ab(cases(2), {"base": arm(right)}, factors=TWO_BY_THREE, seed=1)
    assert any(each.startswith("small, plain") for each in found.table().splitlines())


@pytest.mark.parametrize(
    ("arms", "factors", "message"),
    [
        ({"a": Arm()}, {"size": {"one": Arm()}}, "size needs two levels"),
        ({"a": Arm()}, {str(n): {"x": Arm(), "y": Arm()} for n in range(10)}, "1,024 arms, more"),
        ({"a": Arm(), "b": Arm()}, {"arm": TWO_BY_THREE["size"]}, "another factor is named so"),
        ({"a": Arm()}, {"x": {"a": Arm(), "a, b": Arm()}, "y": {"b, c": Arm(), "c": Arm()}}, "two"),
    ],
)
def test_a_matrix_that_cannot_be_is_refused(arms: Any, factors: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        crossed(arms, factors)


def test_an_edited_plan_of_another_matrix_is_another_experiment(tmp_path: Path) -> None:
    both = {"size": {"small": Arm(), "large": arm(wrong)}}
    ab(cases(3), {"base": arm(right)}, factors=both, seed=1, out=tmp_path)
    with pytest.raises(ValidationError, match="another experiment is in this folder"):
        ab(cases(3), {"base": arm(right)}, factors=TWO_BY_THREE, seed=1, out=tmp_path)


# --- simulations


MATRICES = pytest.mark.parametrize(
    ("name", "experiments"),
    [
        ("two factors of two levels, 40 cases", 15),
        *(pytest.param(name, 400, marks=pytest.mark.nightly) for name in EFFECTS),
    ],
)


@MATRICES
def test_effects_that_are_not_there_are_found_in_at_most_five_percent(
    name: str, experiments: int
) -> None:
    wrong, _ = effects_found(EFFECTS[name], experiments)
    most = stats.binom.isf(0.0005, experiments, 0.05)
    assert wrong * experiments <= most, f"{wrong:.1%} of {experiments} experiments find one"


@MATRICES
def test_an_effect_of_the_size_that_is_told_is_found_as_often_as_is_told(
    name: str, experiments: int
) -> None:
    _, found = effects_found(EFFECTS[name], experiments, is_true=True)
    assert stats.binom.cdf(found * experiments, experiments, 0.8) > 0.0005


def test_simulated_models_in_a_matrix_show_the_effect_that_they_have() -> None:
    """Models that are right in 45 % of runs, or in 95 %; the other factor does nothing."""

    def model(rate: float, seed: int) -> Answering:
        rng = np.random.default_rng(seed)
        return Answering(lambda text: text.upper() if rng.random() < rate else text)

    factors = {
        "model": {"weak": Arm(model=model(0.45, 1)), "strong": Arm(model=model(0.95, 2))},
        "tone": {"plain": Arm(), "warm": Arm(edits=[lambda agent: agent])},
    }

    found = ab(cases(40), {"base": arm(right)}, factors=factors, seed=1, jobs=1)

    one, other, pair = found.comparisons
    assert one.is_significant
    assert one.interval is not None
    assert one.interval.low < 0.5 < one.interval.high
    assert not other.is_significant
    assert not pair.is_significant
    main, both = what_it_finds(found.plan)
    assert main.startswith("40 cases find a main effect in passed of ")
    assert both.startswith("40 cases find an interaction in passed of ")


def test_cases_of_clusters_find_what_as_many_clusters_do() -> None:
    alike = [evolve(each, cluster=str(number // 4)) for number, each in enumerate(cases(32))]
    of_clusters = ab(alike, {"a": arm(right), "b": arm(wrong)}, seed=1)
    of_cases = ab(cases(8), {"a": arm(right), "b": arm(wrong)}, seed=1)
    assert [each.replace("clusters", "cases") for each in what_it_finds(of_clusters.plan)] == [
        *what_it_finds(of_cases.plan)
    ]
