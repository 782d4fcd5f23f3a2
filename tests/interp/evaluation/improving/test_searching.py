"""The sets of cases, looks at the last one, and searches in a simulated world."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
import scipy
from attrs import evolve
from hypothesis import given, strategies as st

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
from interp import Case, ValidationError
from interp.evaluation.experiments.chance import findable
from interp.evaluation.experiments.comparing import compare
from interp.evaluation.improving.searching import (
    LEVEL,
    Look,
    Looks,
    Sets,
    alike_together,
    can_show_anything,
    digest_of,
    leaves_room,
    set_of,
    verdict_of,
)

CASES = [Case(name=f"c{n}", input=f"Where is order {n}?", expected="sent") for n in range(400)]


@given(st.text(min_size=1), st.sampled_from([" ", "\n", "\t "]))
def test_a_set_follows_from_what_is_asked_alone(asked: str, blank: str) -> None:
    case = Case(name="a", input=f"is {asked}")
    same = Case(name="b", input=f"IS{blank}{asked}", expected="another answer", checks=["x"])
    assert set_of(case) == set_of(same)


def test_the_sets_part_all_cases_and_half_of_them_decide() -> None:
    sets = Sets.of(CASES)
    assert sorted([*sets.search, *sets.choosing, *sets.last], key=CASES.index) == CASES
    assert 170 < len(sets.last) < 230
    assert Sets.of(reversed(CASES)).last == sets.last[::-1]


def test_seven_cases_can_show_nothing_and_a_program_that_passes_leaves_no_room() -> None:
    assert not can_show_anything(7)
    assert findable(7, alpha=LEVEL) is None
    assert leaves_room(10, 20, 30)
    assert not leaves_room(20, 20, 30)


@pytest.mark.parametrize(
    ("won", "lost", "verdict"),
    [
        (8, 0, "better"),
        (7, 0, "not shown to be better"),
        (0, 8, "worse"),
        (9, 2, "not shown to be better"),
    ],
)
@pytest.mark.parametrize("better", ["higher", "lower"])
def test_a_verdict_asks_for_one_percent(won: int, lost: int, verdict: str, better: str) -> None:
    before = [[0.0]] * won + [[1.0]] * lost + [[1.0]] * 10
    after = [[1.0]] * won + [[0.0]] * lost + [[1.0]] * 10
    if better == "lower":
        before, after = after, before
    found = compare("m", ("a", before), ("b", after), is_rate=True, better=better, seed=1)  # type: ignore[arg-type]  # one of two words
    assert verdict_of(found) == verdict


def test_a_case_decides_in_five_searches_and_in_no_sixth(tmp_path: Path) -> None:
    looks = Looks(tmp_path / "cases.jsonl.looks.gram")
    old, new = CASES[:10], CASES[10:12]
    digests = tuple(map(digest_of, old))
    for number in range(5):
        assert looks.before(old, f"s{number}") == (tuple(old), number, False)
        looks.take(Look(f"s{number}", digests, "desk.gram"))
        looks.take(Look(f"s{number}", digests, "desk.gram", "worse", 0.001))

    with pytest.raises(ValidationError, match="other searches have decided by the last set"):
        looks.take(Look("s5", digests[:1], "desk.gram"))  # it began before the others ended
    assert looks.before(old, "s1") == (tuple(old), 1, True)
    assert looks.before([*old, *new], "s5") == (tuple(new), 0, False)
    assert looks.before(old, "s4") == (tuple(old), 4, True)


def test_what_is_no_look_is_refused_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "looks.gram"
    file.write_text('(:Look {search: "a", program: "b", cases: 3})\n')
    with pytest.raises(ValidationError, match=r"looks.gram:1:\d+.*this is no whole Look"):
        Looks(file).before(CASES, "x")


def test_cases_that_ask_the_same_count_as_one() -> None:
    first, again, other = alike_together([*CASES[:1], evolve(CASES[0], name="again"), CASES[1]])
    assert first.cluster == again.cluster == digest_of(CASES[0])
    assert other == CASES[1]


def test_cases_of_one_cluster_are_in_one_set() -> None:
    together = [evolve(each, cluster="a") for each in CASES[:50]]
    assert len({set_of(each) for each in together}) == 1


MANY = pytest.mark.parametrize("searches", [10, pytest.param(1000, marks=pytest.mark.nightly)])


@MANY
@pytest.mark.parametrize("task", [EQUAL, NOISY, Task(spread=1.0, cases=(20, 10, 20))])
def test_equal_candidates_are_called_better_in_at_most_five_percent(
    task: Task, searches: int
) -> None:
    """In one of five in a row, the first of which is a search by itself."""
    wrong = false_findings(task, searches, in_a_row=5)
    assert wrong * searches <= scipy.stats.binom.isf(0.0005, searches, 0.05)


@MANY
@pytest.mark.parametrize("task", [HELPS, HELPS_NOISY])
def test_a_true_gain_of_twenty_points_is_found_as_often_as_promised(
    task: Task, searches: int
) -> None:
    found, promised = true_findings(task, searches)
    assert promised > 0.8
    assert scipy.stats.binom.cdf(found * searches, searches, promised) > 0.001


def test_the_best_of_twenty_equal_programs_looks_better_without_a_last_set() -> None:
    assert best_of_twenty(200) > 0.9


def test_a_search_keeps_its_budget_and_finds_the_rule() -> None:
    world = Simulation(HELPS, Random(1))
    found = ours(world)
    assert RULE in found.text
    assert PROGRAM in found.text
    assert world.runs <= HELPS.budget + 2 * HELPS.cases[2]
