"""A matrix of factors: its arms, its effects, and that these keep their word."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import scipy
from attrs import evolve

from benchmarks.calibration import EFFECTS, effects_found
from gram import ArgumentError
from interp import Case, ab
from interp.evaluation import Arm, RubricJudge, Trial
from interp.evaluation.experiments.comparing import Scores, contrasts_of, crossed, pass_rate, slices
from interp.evaluation.experiments.plan import what_it_finds
from interp.evaluation.experiments.report import report
from tests.interp.evaluation.experiments.worlds import (
    PROGRAM,
    Answering,
    arm,
    cases,
    half,
    right,
    wrong,
)

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


# --- simulations


MATRICES = pytest.mark.parametrize(
    ("name", "experiments"),
    [
        ("two factors of two levels, 40 cases", 8),
        *(pytest.param(name, 400, marks=pytest.mark.nightly) for name in EFFECTS),
    ],
)


@MATRICES
def test_effects_that_are_not_there_are_found_in_at_most_five_percent(
    name: str, experiments: int
) -> None:
    wrong, _ = effects_found(EFFECTS[name], experiments)
    most = scipy.stats.binom.isf(0.0005, experiments, 0.05)
    assert wrong * experiments <= most, f"{wrong:.1%} of {experiments} experiments find one"


@MATRICES
def test_an_effect_of_the_size_that_is_told_is_found_as_often_as_is_told(
    name: str, experiments: int
) -> None:
    _, found = effects_found(EFFECTS[name], experiments, is_true=True)
    assert scipy.stats.binom.cdf(found * experiments, experiments, 0.8) > 0.0005


def test_cases_of_clusters_find_what_as_many_clusters_do() -> None:
    alike = [evolve(each, cluster=str(number // 4)) for number, each in enumerate(cases(32))]
    of_clusters = ab(alike, {"a": arm(right), "b": arm(wrong)}, seed=1)
    of_cases = ab(cases(8), {"a": arm(right), "b": arm(wrong)}, seed=1)
    assert [each.replace("clusters", "cases") for each in what_it_finds(of_clusters.plan)] == [
        *what_it_finds(of_cases.plan)
    ]


# --- slices


def kinds_of(kinds: str, clusters: str = "") -> list[Case]:
    groups: list[str | None] = [*clusters] or [None] * len(kinds)
    return [
        Case(name=str(n), input="hi", columns={"kind": kind}, cluster=group)
        for n, (kind, group) in enumerate(zip(kinds, groups, strict=True))
    ]


def test_two_slices_are_one_test_which_is_fisher_s() -> None:
    passed: Scores = [[1.0]] * 8 + [[0.0]] * 4
    found = slices(kinds_of("aaaaaaaabbbb"), passed, ["kind"])
    assert [each.rate.value for each in found] == [1, 0]
    exact = 2 * scipy.stats.fisher_exact([[8, 0], [0, 4]], "greater").pvalue
    assert [each.p_value for each in found] == pytest.approx([exact] * 2)
    assert [each.p_corrected for each in found] == [each.p_value for each in found]


def test_several_slices_are_corrected_together() -> None:
    rng = np.random.default_rng(1)
    passed = rng.integers(0, 2, (30, 1)).astype(float).tolist()
    found = slices(kinds_of("abc" * 10), passed, ["kind"])
    smallest = min(each.p_value for each in found if each.p_value is not None)
    assert min(each.p_corrected or 0 for each in found) == pytest.approx(min(1, 3 * smallest))


def test_clusters_that_are_in_several_slices_are_not_tested() -> None:
    found = slices(kinds_of("abab", "xxyy"), [[1.0], [0.0]] * 2, ["kind"])
    assert [each.p_value for each in found] == [None, None]


def test_cases_of_a_cluster_say_less_than_as_many_others() -> None:
    passed: Scores = [[1.0]] * 15 + [[0.0]] * 15
    alone = pass_rate(kinds_of("a" * 30), passed).interval
    clusters = "".join(str(n // 5) for n in range(30))
    together = pass_rate(kinds_of("a" * 30, clusters), passed).interval
    assert alone
    assert together
    assert together.high - together.low > 1.5 * (alone.high - alone.low)


def test_arms_are_compared_in_each_slice_by_clusters_and_with_one_judge() -> None:
    def verdict(text: str) -> str:
        return json.dumps({"score": json.loads(text)["answer"].isupper(), "reason": "capitals"})

    given = [
        Case(
            name=f"case {n}",
            input=f"say {n}",
            judge="It shouts",
            max_seconds=60,
            columns={"kind": "odd" if n % 2 else "even"},
            cluster=str(n // 4),
        )
        for n in range(32)
    ]
    judge = RubricJudge(model=Answering(verdict))

    found = ab(given, {"quiet": arm(wrong), "half": arm(half)}, judge=judge, seed=1)

    (whole,) = found.comparisons
    assert (whole.difference, whole.clusters, whole.test) == (0.5, 8, "sign flips of clusters")
    assert (whole.p_value, whole.smallest_p) == (2 / 2**8, 2 / 2**8)
    slices_found = found.compared_by("kind")
    assert [(kind, each.difference) for kind, each in slices_found] == [("even", 0), ("odd", 1)]
    assert [each.p_corrected for _, each in slices_found] == [1, 2 * 2 / 2**8]
    assert "32 cases in 8 clusters × 2 arms" in found.table()
    (usage, _) = found.judges["passed"]
    assert usage.total_tokens is None  # the judge of this test counts none
