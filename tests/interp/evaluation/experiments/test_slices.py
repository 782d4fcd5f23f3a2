"""Slices are compared with the other cases, and say so as often as they should."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from interp import Case, ab
from interp.evaluation import RubricJudge
from interp.evaluation.experiments.comparing import Scores, pass_rate, slices
from tests.interp.evaluation.experiments.worlds import Answering, arm, half, wrong


def cases(kinds: str, clusters: str = "") -> list[Case]:
    groups: list[str | None] = [*clusters] or [None] * len(kinds)
    return [
        Case(name=str(n), input="hi", columns={"kind": kind}, cluster=group)
        for n, (kind, group) in enumerate(zip(kinds, groups, strict=True))
    ]


def test_two_slices_are_one_test_which_is_fisher_s() -> None:
    passed: Scores = [[1.0]] * 8 + [[0.0]] * 4
    found = slices(cases("aaaaaaaabbbb"), passed, ["kind"])
    assert [each.rate.value for each in found] == [1, 0]
    exact = 2 * stats.fisher_exact([[8, 0], [0, 4]], "greater").pvalue
    assert [each.p_value for each in found] == pytest.approx([exact] * 2)
    assert [each.p_corrected for each in found] == [each.p_value for each in found]


def test_several_slices_are_corrected_together() -> None:
    rng = np.random.default_rng(1)
    passed = rng.integers(0, 2, (30, 1)).astype(float).tolist()
    found = slices(cases("abc" * 10), passed, ["kind"])
    smallest = min(each.p_value for each in found if each.p_value is not None)
    assert min(each.p_corrected or 0 for each in found) == pytest.approx(min(1, 3 * smallest))


def test_a_slice_of_all_cases_alike_is_seldom_found() -> None:
    rng = np.random.default_rng(2)
    wrong = 0
    for _ in range(40):
        shared = rng.random(12) < 0.6  # clusters of three, whose cases are all alike
        passed = [[float(shared[n // 3])] for n in range(36)]
        given = cases("aaabbb" * 6, "".join(chr(65 + n // 3) for n in range(36)))
        wrong += any((each.p_corrected or 1) <= 0.05 for each in slices(given, passed, ["kind"]))

    assert wrong <= stats.binom.isf(0.0005, 40, 0.05)


def test_clusters_that_are_in_several_slices_are_not_tested() -> None:
    found = slices(cases("abab", "xxyy"), [[1.0], [0.0]] * 2, ["kind"])
    assert [each.p_value for each in found] == [None, None]


def test_cases_of_a_cluster_say_less_than_as_many_others() -> None:
    passed: Scores = [[1.0]] * 15 + [[0.0]] * 15
    alone = pass_rate(cases("a" * 30), passed).interval
    together = pass_rate(cases("a" * 30, "".join(str(n // 5) for n in range(30))), passed).interval
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
