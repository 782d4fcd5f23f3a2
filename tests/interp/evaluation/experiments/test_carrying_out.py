"""Experiments from end to end: nothing is lost, nothing runs twice, nothing is called a success."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import count
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings, strategies as st

from gram import GramError
from interp import Case, ToolLibrary, ValidationError, ab, load_run, open_store, tool
from interp.evaluation import Arm, ExpectedCall, Experiment, Metric, Trial, load_experiment
from interp.evaluation.experiments import Plan, before_running
from interp.evaluation.experiments.comparing import Comparison
from interp.machine import Message, UserRole
from lenses_ext import agent_instruction, parse_program
from tests.interp.evaluation.experiments.worlds import arm, cases, failing, half, right, wrong
from tests.paths import EXAMPLES

PROGRAM_OF_ARMS = arm(right).program


def notes(experiment: Experiment) -> str:
    return "\n".join(experiment.notes)


def test_an_arm_that_is_right_beats_one_that_is_wrong() -> None:
    found = ab(cases(12), {"bad": arm(wrong), "good": arm(right)}, seed=1)

    one = found.comparison()
    assert (one.baseline, one.arm, one.metric) == ("bad", "good", "passed")
    assert (one.difference, one.better, one.worse, one.equal) == (1.0, 12, 0, 0)
    assert one.p_value == pytest.approx(2 / 2**12)
    assert one.is_significant
    assert one.interval is not None
    assert one.interval.low > 0.5
    assert "good is better" in found.table()
    assert repr(one) == "<Comparison of passed: good − bad +1 [+0.515, +1], p = 0.000488, 12 cases>"
    assert repr(found.trials[0]).startswith("<Trial of ")


def test_runs_that_failed_are_no_success_and_do_not_vanish() -> None:
    found = ab(
        cases(8), {"a": arm(right), "away": arm(failing)}, ["passed", "calls", len_of], seed=1
    )

    assert [each.value for each in found.estimates[:2]] == [1.0, 0.0]
    assert len(found.failures) == 8
    assert all(each.seconds > 0 for each in found.failures)
    assert "8 of 8 runs of away failed" in notes(found)
    assert "ModelError: the server is away" in notes(found)
    assert "no score for len_of at all" in notes(found)


def len_of(trial: Trial) -> int:
    return len(trial.content)


def test_a_run_without_a_score_counts_as_the_worst() -> None:
    def sometimes(trial: Trial) -> float:
        number = int(trial.case.name.split()[-1])
        if trial.arm == "b" and number == 0:
            raise KeyError("lost")
        return float("nan") if trial.arm == "b" and number == 1 else number + 1.0

    found = ab(cases(6), {"a": arm(right), "b": arm(right)}, [sometimes], seed=1)

    assert found.comparison().difference == pytest.approx((1 + 1 + 3 + 4 + 5 + 6) / 6 - 3.5)
    assert "2 of 6 runs of b without a score for sometimes" in notes(found)
    assert "KeyError: 'lost'" in notes(found)


def test_checks_and_coroutines_are_metrics() -> None:
    def asserts(trial: Trial) -> bool:
        assert trial.content == "SAY 0", "not the first"
        return True

    async def waits(trial: Trial, case: Case) -> bool:
        await asyncio.sleep(0)
        return trial.content == case.expected

    found = ab(cases(3), {"a": arm(right)}, [asserts, waits, Metric("n", len_of)], seed=1)

    values = {each.metric: each.value for each in found.estimates}
    assert values["asserts"] == pytest.approx(1 / 3)
    assert (values["waits"], values["n"]) == (1.0, 5.0)
    assert (found.trials[1].scores["asserts"].problem or "").startswith("not the first")


def test_one_arm_is_described_and_nothing_is_compared() -> None:
    found = ab(cases(3), {"only": arm(right)}, seed=1)
    assert found.comparisons == ()
    assert "there is one arm: nothing is compared" in notes(found)
    assert "only" in found.table()
    with pytest.raises(LookupError, match="no comparison of passed"):
        found.comparison()


def test_workflows_are_arms_whose_agents_ask_their_own_models() -> None:
    echoing = '[w:Workflow | [a:Agent {instruction: "A", model: "Offline/rehearsal"}], (a)-->()]'
    found = ab(cases(2), {"w": Arm(parse_program(echoing))})
    assert found.failures == ()
    assert [each.rounds for each in found.trials] == [1, 1]


def test_three_arms_and_two_metrics_are_corrected_together() -> None:
    arms = {"a": arm(wrong), "b": arm(right), "c": arm(half)}

    found = ab(cases(8), arms, ["passed", len_of], seed=1)

    compared = [f"{each.metric} {each.arm}" for each in found.comparisons]
    assert compared == ["passed b", "passed c", "len_of b", "len_of c"]
    best = found.comparison(arm="b")
    assert best.p_corrected == pytest.approx(min(1.0, 4 * best.p_value))


FREE = [Case(name=f"c{number}", input="hi") for number in range(6)]


@pytest.mark.parametrize(
    ("given", "repeats", "said"),
    [
        (cases(5), 2, "these cases cannot reach 5 %: .*, however often they are repeated"),
        (FREE, 1, "any answer passes 6 cases that expect nothing, as c0"),
    ],
)
def test_what_cases_cannot_show_is_told_before_anything_runs(
    given: list[Case], repeats: int, said: str
) -> None:
    plans: list[Plan] = []
    arms = {"a": arm(right), "b": arm(wrong)}
    found = ab(given, arms, on_plan=lambda plan, _: plans.append(plan), seed=1, repeats=repeats)
    assert re.match(said, next(before_running(plans[0])))
    assert re.search(said, notes(found))


def test_deterministic_runs_are_told() -> None:
    rng = random.Random(3)

    def noisy(text: str) -> str:
        return f"{text} {rng.random()}"

    found = ab(cases(3), {"same": arm(right), "noisy": arm(noisy)}, repeats=2, seed=1)

    assert "the runs of same are deterministic: its repeats say nothing" in notes(found)
    assert "the runs of noisy are deterministic" not in notes(found)


def greeting(greet: Callable[[], str]) -> ToolLibrary:
    """A library for the hello-world program, whose tool says what a function says."""

    @tool(name="sayHello", description="Returns a friendly greeting message for the given name")
    def say_hello(personName: str = "world") -> str:  # noqa: N803  # the program's name
        return greet()

    return ToolLibrary.of([say_hello])


def test_every_run_has_a_fresh_library_and_model() -> None:
    made: list[int] = []

    def library() -> ToolLibrary:
        made.append(0)
        used = count(1)
        return greeting(lambda: f"Hello for the {next(used)}. time")

    arms = {"a": Arm(EXAMPLES / "hello_world.gram", library, "Offline/rehearsal")}
    said = [Case(name=name, input=f"Hello, I'm {name}!") for name in ("Ada", "Bob")]

    found = ab(said, arms, repeats=2, seed=1)

    assert len(made) == 5  # once to see that it binds
    assert {(each.content, each.calls) for each in found.trials} == {("Hello for the 1. time", 1)}


def test_a_library_that_is_entered_is_left_when_its_run_has_ended() -> None:
    lives: list[str] = []

    @contextmanager
    def entered() -> Iterator[ToolLibrary]:
        lives.append("entered")
        yield greeting(lambda: str(lives.append("called")))
        lives.append("left")

    arms = {"a": Arm(EXAMPLES / "hello_world.gram", entered, "Offline/rehearsal")}
    ab([Case(name=each, input="Hello, I'm Ada!") for each in "xy"], arms, seed=1, jobs=1)

    assert lives == ["entered", "left", *["entered", "called", "left"] * 2]


def test_edits_and_settings_of_an_arm_are_those_of_its_runs(tmp_path: Path) -> None:
    base = arm(right, settings={"temperature": 0.5})
    arms = {"a": Arm(), "b": Arm(edits=agent_instruction.set("Be brief."), settings={"seed": 1})}

    found = ab(cases(1), arms, base=base, out=tmp_path / "x", seed=1)

    states = [load_run(str(each.run)).state for each in found.trials if each.run]
    assert "Be brief." in str(states[1].agent)
    assert "Be brief." not in str(states[0].agent)
    settings = [dict(each.run.settings) for each in states]
    assert settings == [{"temperature": 0.5}, {"temperature": 0.5, "seed": 1}]


# --- what is refused before anything runs


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cases": []}, "there are no cases"),
        ({"cases": [*cases(1), *cases(1)]}, 'two cases are named "case 0"'),
        ({"arms": {}}, "there are no arms"),
        ({"arms": {" ": arm(right)}}, "the name of an arm is empty"),
        ({"arms": {"a": Arm()}}, "arm a: there is no program"),
        ({"arms": {"a": Arm(3)}}, "arm a: ab: program must be"),  # type: ignore[arg-type]  # wrong on purpose
        ({"metrics": []}, "there are no metrics"),
        ({"metrics": ["pased"]}, 'did you mean "?passed'),
        ({"metrics": ["passed", "passed"]}, "two metrics are named passed"),
        ({"metrics": ["exact"], "cases": [Case(name="c", input="x")]}, "needs expected"),
        ({"primary": "cost"}, 'primary metric "cost" is not among'),
        ({"repeats": 0}, "repeats must be at least 1"),
        ({"jobs": True}, "jobs must be at least 1"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"pilot": 2}, "a pilot has fewer cases than all 2 cases, got 2"),
        ({"arms": {"a": Arm(PROGRAM_OF_ARMS, model="nope")}}, "arm a: 'nope' names no provider"),
        ({"arms": {"a": Arm(PROGRAM_OF_ARMS, model=3)}}, "arm a: 3 is not a model"),  # type: ignore[arg-type]  # wrong on purpose
        ({"cases": [Case(name="c", input=" ")]}, "arm a: "),
        (
            {"cases": [Case(name="c", input="x", calls=(ExpectedCall("add"),))]},
            "case c: no tool of greeter is named add",
        ),
        ({"arms": {"a": arm(right, edits=[lambda agent: None])}}, "an edit must return"),
        ({"arms": {"a": arm(right, edits=[lambda agent: 1 / 0])}}, "ZeroDivisionError"),
        ({"arms": {"a": arm(right, tools=lambda: 1 / 0)}}, "making the tools failed"),
        ({"arms": {"lacks": Arm(EXAMPLES / "hello_world.gram")}}, r"lacks: .*hello_world\.gram:7:"),
        ({"arms": {"a": arm(right, tools=nullcontext(()))}}, "anew for each run: write tools=lamb"),
        ({"arms": {"a": Arm(PROGRAM_OF_ARMS, model="OpenAI/x")}}, "a: OPENAI_API_KEY is not set"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_runs(
    given: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(GramError, match=message):
        ab(**{"cases": cases(2), "arms": {"a": arm(right)}, "out": tmp_path / "x", **given})
    assert not (tmp_path / "x").exists()


# --- the folder


def test_an_experiment_is_a_folder_that_can_be_read_again(tmp_path: Path) -> None:
    out = tmp_path / "x"

    found = ab(cases(4), {"a": arm(half), "b": arm(right)}, ["passed", len_of], out=out, seed=7)

    again = load_experiment(out)
    assert again.table() == found.table()
    assert again.to_json() == found.to_json()
    assert {each.name for each in out.iterdir()} == {"plan.gram", "results.gram", "runs.db"}
    with open_store(out / "runs.db") as store:
        assert {(each.status, each.facts.agent) for each in store.rows()} == {("done", "greeter")}
        assert len(list(store.rows())) == 8
    for each in again.trials:
        assert load_run(str(each.run)).state.context[-1].content == each.content


def test_going_on_runs_nothing_twice_and_ends_in_the_same_plan(tmp_path: Path) -> None:
    asked: list[str] = []

    def counted(text: str) -> str:
        asked.append(text)
        if len(asked) == 5:
            raise KeyboardInterrupt
        return right(text)

    out, arms = tmp_path / "x", {"a": arm(counted), "b": arm(counted)}
    with pytest.raises(KeyboardInterrupt) as stopped:
        ab(cases(4), arms, out=out, seed=7, jobs=1)

    assert "4 of 8 runs are kept in" in stopped.value.__notes__[0]
    early = load_experiment(out)
    assert not early.is_complete
    assert early.comparisons == ()
    assert "nothing is compared before" in notes(early)

    found = ab(cases(4), arms, out=out, jobs=1)

    assert found.is_complete
    assert found.plan.seed == 7
    assert len(asked) == 9  # the one that was interrupted is asked again
    whole = ab(cases(4), arms, out=out)
    assert len(asked) == 9
    assert whole.table() == found.table()


def test_runs_that_a_killed_process_left_go_on_where_they_were(tmp_path: Path) -> None:
    """What a run has spent before it was interrupted counts."""
    out = tmp_path / "x"
    whole = ab(cases(3), {"a": arm(right)}, out=out, seed=1, jobs=1)
    results = (out / "results.gram").read_text().splitlines(keepends=True)
    (out / "results.gram").write_text(results[0] + results[1][:40])  # killed while it was written
    with open_store(out / "runs.db") as store:
        last, *_ = [row.id for row in store.rows()]
        store.ready().execute("DELETE FROM gram_entries WHERE run = ? AND seq > 0", last)
        store.ready().execute("UPDATE gram_runs SET status = 'stopped' WHERE id = ?", last)
    asked: list[str] = []

    def again(text: str) -> str:
        asked.append(text)
        return right(text)

    found = ab(cases(3), {"a": arm(again)}, out=out)

    assert asked == [each.case.input for each in whole.trials if str(each.run).endswith(last)]
    assert [each.content for each in found.trials] == [each.content for each in whole.trials]
    assert [each.rounds for each in found.trials] == [1, 1, 1]
    assert not found.failures


def test_a_changed_plan_is_refused_with_the_difference(tmp_path: Path) -> None:
    out = tmp_path / "x"
    ab(cases(2), {"a": arm(right)}, out=out, seed=1)

    changed = arm(right, edits=agent_instruction.set("Shout."))
    with pytest.raises(ValidationError) as refused:
        ab(cases(2), {"a": changed}, out=out)

    lines = str(refused.value).splitlines()
    assert [each[0] for each in lines if "Greet." in each or "Shout." in each] == ["-", "+"]
    with pytest.raises(ValidationError, match="case 2"):
        ab(cases(3), {"a": arm(right)}, out=out)
    with pytest.raises(ValidationError, match="seed: 2"):
        ab(cases(2), {"a": arm(right)}, out=out, seed=2)
    later = [attrs.evolve(each, after=[Message(UserRole, "Hi")]) for each in cases(2)]
    with pytest.raises(ValidationError, match="beside"):
        ab(later, {"a": arm(right)}, out=out)


def test_edited_results_and_plans_are_found(tmp_path: Path) -> None:
    out = tmp_path / "x"
    ab(cases(2), {"a": arm(half), "b": arm(right)}, out=out, seed=1)
    results, plan = out / "results.gram", out / "plan.gram"
    lines = results.read_text().splitlines(keepends=True)

    results.write_text("".join(lines).replace('"value":false', '"value":true'))
    with pytest.raises(ValidationError, match=r"results\.gram:\d+:\d+: .*edited"):
        load_experiment(out)
    results.write_text("".join([*lines, lines[0]]))
    with pytest.raises(ValidationError, match=r"results\.gram:5:1: .*twice"):
        load_experiment(out)
    results.write_text("".join(lines[:2]))
    assert not load_experiment(out).is_complete
    plan.write_text(plan.read_text().replace("say 0", "say 7"))
    with pytest.raises(ValidationError, match=r"plan\.gram:\d+:\d+: .*the plan was edited"):
        load_experiment(out)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ("", "no experiment is in this folder"),
        ("(:Foo)", "expected Experiment, found Foo"),
        ("(:Experiment {format: 2})", "the format is not 1"),
        ('(:Experiment {format: 1, primary: "x"})', "the plan was edited"),
    ],
)
def test_a_plan_that_is_none_is_refused_with_its_place(
    plan: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "plan.gram").write_text(plan)
    with pytest.raises(ValidationError, match=message) as refused:
        load_experiment(tmp_path)
    assert "plan.gram" in str(refused.value)


def test_what_is_no_experiment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_experiment(tmp_path / "away")
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        ab(cases(1), {"a": arm(right)}, out=tmp_path / "file")


def test_two_processes_do_not_run_one_experiment(tmp_path: Path) -> None:
    out = tmp_path / "x"

    def second(plan: Any, done: Any) -> None:
        with pytest.raises(OSError, match="another gram process"):
            ab(cases(1), {"a": arm(right)}, out=out)

    ab(cases(1), {"a": arm(right)}, out=out, seed=1, on_plan=second)


# --- order


@settings(max_examples=8)
@given(st.randoms(use_true_random=False), st.integers(1, 6))
def test_figures_do_not_depend_on_the_order_in_which_runs_end(
    rng: random.Random, jobs: int
) -> None:
    """Trials that are shuffled, and runs that end in any order, give the same figures."""
    found = ab(cases(6), {"a": arm(half), "b": arm(right)}, ["passed", len_of], seed=3, jobs=jobs)
    shuffled = list(found.trials)
    rng.shuffle(shuffled)

    again = Experiment(found.plan, shuffled)

    assert again.trials == found.trials
    figures = FIRST.setdefault("figures", found.comparisons)
    assert again.comparisons == found.comparisons == figures


FIRST: dict[str, tuple[Comparison, ...]] = {}


def test_arms_are_interleaved_in_an_order_that_the_seed_gives() -> None:
    plan = ab(cases(20), {"a": arm(right), "b": arm(wrong)}, seed=5).plan

    arms = [key[2] for key in plan.order]
    pairs = {tuple(arms[at : at + 2]) for at in range(0, len(arms), 2)}
    assert pairs == {("a", "b"), ("b", "a")}
    assert sorted(plan.order) == sorted(plan.keys)
    assert plan.order == plan.order
    assert plan.order != plan.keys


def test_a_plan_has_the_answer_null_that_a_case_expects(tmp_path: Path) -> None:
    expects = Case(name="c", input="say 0", expected=None)
    ab([expects], {"a": arm(lambda _: "null")}, out=tmp_path / "x", seed=1)
    (case,) = load_experiment(tmp_path / "x").plan.cases
    assert case.has_expected
    assert case.expected is None
