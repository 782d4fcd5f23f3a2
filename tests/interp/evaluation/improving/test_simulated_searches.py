"""A search keeps its word: simulated worlds, without any model; by day a few, nightly 1,000."""

from __future__ import annotations

from random import Random

import pytest
from scipy import stats

from benchmarks.improving import (
    EQUAL,
    HELPS,
    HELPS_NOISY,
    NOISY,
    PROGRAM,
    RULE,
    Simulation,
    Task,
    best_of_twenty,
    false_findings,
    ours,
    true_findings,
)

MANY = pytest.mark.parametrize("searches", [20, pytest.param(1000, marks=pytest.mark.nightly)])


@MANY
@pytest.mark.parametrize("in_a_row", [1, 5])
@pytest.mark.parametrize("task", [EQUAL, NOISY, Task(spread=1.0, cases=(20, 10, 20))])
def test_equal_candidates_are_called_better_in_at_most_five_percent(
    task: Task, in_a_row: int, searches: int
) -> None:
    wrong = false_findings(task, searches, in_a_row=in_a_row)

    assert wrong * searches <= stats.binom.isf(0.0005, searches, 0.05)


@MANY
@pytest.mark.parametrize("task", [HELPS, HELPS_NOISY])
def test_a_true_gain_of_twenty_points_is_found_as_often_as_promised(
    task: Task, searches: int
) -> None:
    found, promised = true_findings(task, searches)

    assert promised > 0.8
    assert stats.binom.cdf(found * searches, searches, promised) > 0.001


def test_the_best_of_twenty_equal_programs_looks_better_without_a_last_set() -> None:
    assert best_of_twenty(500) > 0.9


def test_a_search_keeps_its_budget_and_finds_the_rule() -> None:
    world = Simulation(HELPS, Random(1))

    found = ours(world)

    assert RULE in found.text
    assert PROGRAM in found.text
    assert world.runs <= HELPS.budget + 2 * HELPS.cases[2]
