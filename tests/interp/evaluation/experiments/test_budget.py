"""Budgets and pilots: what is spent is known before, and nothing is seen too early."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from interp import ConfigurationError, ab
from interp.evaluation import Arm, Budget, Experiment, Metric, load_experiment
from interp.evaluation.experiments import Score
from interp.evaluation.experiments.report import report
from interp.machine import Usage
from lenses_ext import parse_program
from tests.by_day import given_few
from tests.interp.evaluation.experiments.worlds import PROGRAM, arm, cases, failing, right, wrong


class Counted:
    """A model that says how many tokens it took; of some cases more."""

    def __init__(self, tokens: Callable[[int], int]) -> None:
        self.tokens, self.asked = tokens, 0

    def complete(self, request: Any) -> dict[str, Any]:
        """The input in capitals, and the usage."""
        self.asked += 1
        text = request.messages[-1].content
        used = self.tokens(int(text.split()[-1]))
        return {
            "model": "x",
            "choices": [{"message": {"role": "assistant", "content": text.upper()}}],
            "usage": {"prompt_tokens": used, "completion_tokens": 0, "total_tokens": used},
        }


def two(model: Any) -> dict[str, Arm]:
    return {name: Arm(parse_program(PROGRAM), model=model) for name in "ab"}


def nothing_is_seen(found: Experiment) -> bool:
    """Whether neither a figure of an arm nor a comparison is shown."""
    shown = [found.estimates, found.comparisons, found.differing(), found.to_json()["trials"]]
    return not any(shown) and "%" not in found.table() and "Arms" not in report(found)


@given_few(st.integers(1, 30), st.integers(1, 4))
def test_no_more_runs_than_the_budget_has_and_none_is_run_twice(runs: int, jobs: int) -> None:
    arms = {"a": arm(right), "b": arm(wrong)}

    found = ab(cases(8), arms, seed=1, pilot=2, budget=Budget(runs=runs), jobs=jobs)

    done = len(found.pilot) + len(found.trials)
    assert done == min(runs, 16)
    assert found.is_complete == (done == 16)
    assert (found.stopped is None) == found.is_complete
    assert found.is_complete or nothing_is_seen(found)


def test_a_budget_of_tokens_stops_before_it_is_passed_and_a_larger_one_goes_on(
    tmp_path: Path,
) -> None:
    model = Counted(lambda _: 100)
    options: dict[str, Any] = {"seed": 1, "out": tmp_path / "x", "jobs": 3}

    first = ab(cases(8), two(model), budget=Budget(tokens=950), **options)
    assert (len(first.trials), model.asked) == (9, 9)
    assert first.stopped is not None
    assert first.stopped.startswith("the budget of 950 tokens is used up; with a larger one")
    assert first.stopped in first.table()
    assert nothing_is_seen(first)
    assert nothing_is_seen(load_experiment(tmp_path / "x"))
    again = ab(cases(8), two(model), budget=Budget(tokens=950), **options)
    assert (len(again.trials), model.asked) == (9, 9)
    more = ab(cases(8), two(model), budget=Budget(tokens=1600), **options)
    assert (len(more.trials), model.asked, more.is_complete) == (16, 16, True)
    assert more.comparison().difference == 0


def test_runs_that_failed_are_not_told_by_arm_before_all_are_done() -> None:
    found = ab(
        cases(8), {"a": arm(failing), "b": arm(right)}, seed=1, jobs=1, budget=Budget(runs=8)
    )
    told = found.table()
    assert "of 8 runs of the arms together failed, which is no success; the first: " in told
    assert "of a failed" not in told


def test_what_judges_take_is_of_the_budget_too() -> None:
    judged = Metric("judged", lambda _: Score(True, usage=Usage(90, 10)))
    found = ab(cases(8), two(Counted(lambda _: 100)), [judged], seed=1, budget=Budget(tokens=850))
    assert len(found.trials) == 4


def test_minutes_are_those_of_the_clock() -> None:
    found = ab(cases(8), two(Counted(lambda _: 1)), seed=1, budget=Budget(minutes=1e-9))
    assert found.trials == ()
    assert "the budget of 1e-09 minutes is used up" in found.table()


def test_what_is_not_known_keeps_no_budget() -> None:
    priceless = parse_program('[a:Agent {instruction: "Say.", model: "Mine/x"}]')
    told = (
        r"^arm a: the budget names cost, and the price of Mine/x is not known$"  # prices are there
    )
    with pytest.raises(ConfigurationError, match=told):
        ab(cases(3), {"a": Arm(priceless, model=Counted(lambda _: 1))}, budget=Budget(cost=1))
    found = ab(cases(8), {"a": arm(right)}, seed=1, jobs=1, budget=Budget(tokens=1000))
    assert found.stopped is not None
    assert "the tokens of a run is not known" in found.stopped


# --- pilots


def test_a_pilot_is_drawn_runs_first_and_is_not_compared(tmp_path: Path) -> None:
    told: list[Sequence[str]] = []

    def go_on(notes: Sequence[str]) -> bool:
        told.append(notes)
        return len(told) > 1

    arms = two(model := Counted(lambda _: 100))
    options: dict[str, Any] = {"seed": 4, "pilot": 3, "out": tmp_path / "x", "go_on": go_on}
    waits = ab(cases(12), arms, repeats=2, **options)
    assert (model.asked, len(waits.pilot), waits.trials) == (6, 6, ())
    assert nothing_is_seen(waits)
    done = ab(cases(12), arms, repeats=2, **options)
    assert (model.asked, len(done.trials)) == (6 + 9 * 2 * 2, 36)
    assert done.comparison().cases == 9
    assert not {each.case.name for each in done.pilot} & {each.case.name for each in done.trials}
    ab(cases(12), arms, repeats=2, **options)
    assert len(told) == 2  # what has begun is not asked about again

    assert told[0][0].startswith("36 runs will take about 3,600 tokens, 0 USD, ")


@pytest.mark.parametrize(
    ("arms", "pilot", "budget", "notes"),
    [
        (two(Counted(lambda _: 100)), 4, {"tokens": 7000}, ["the budget of 7,000 tokens will not"]),
        ({"a": arm(failing)}, 2, {}, ["2 of 2 runs of the pilot failed; the first: ModelError: "]),
        ({"a": arm(right)}, 0, {"runs": 2}, ["what 40 runs will take is not known", "the budget"]),
    ],
)
def test_what_is_known_of_the_runs_and_their_budget_is_told(
    arms: Any, pilot: int, budget: Any, notes: list[str]
) -> None:
    told: list[Sequence[str]] = []
    ab(
        cases(40), arms, seed=1, pilot=pilot, budget=Budget(**budget),
        go_on=lambda notes: bool(told.append(notes)),
    )  # fmt: skip
    for said in notes:
        assert any(each.startswith(said) for each in told[0])
