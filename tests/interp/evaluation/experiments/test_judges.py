"""Judges that are agents: how they score answers, and how they do beside people."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from interp import ConfigurationError, ModelError, Usage, ab, open_store
from interp.errors import ValidationError
from interp.evaluation import MeasuredJudge, Metric, judged_by, load_experiment, measure_judge
from interp.evaluation.cases import Case, read_cases
from interp.evaluation.experiments import Verdict
from interp.evaluation.experiments.metrics import code_of, passed
from lenses_ext import parse_program
from tests.interp.cli.process import gram
from tests.interp.evaluation.experiments.worlds import Answering, arm, cases, right, wrong


@cache
def verdict(label: bool, judged: bool | None, answer: str = "a", **columns: str) -> Verdict:
    case = Case(name="c", input="q", columns={"answer": answer, "label": label, **columns})
    return Verdict(case, label, judged)


def judge_of(table: tuple[int, int, int, int]) -> MeasuredJudge:
    kinds = [(True, True), (True, False), (False, True), (False, False)]
    found = (verdict(*kind) for kind, n in zip(kinds, table, strict=True) for _ in range(n))
    return MeasuredJudge("judge", tuple(found))


def test_what_cannot_be_said_is_none() -> None:
    assert (judge_of((20, 5, 10, 15)).figures["agreement"] or [0])[0] == pytest.approx(0.7)
    assert "all are labelled good" in judge_of((5, 5, 0, 0)).text()
    assert judge_of((5, 0, 0, 0)).figures["specificity"] is None
    assert judge_of((5, 5, 5, 5)).corrected(3, 10) is None
    assert "no better than chance" in judge_of((5, 5, 5, 5)).text()


@pytest.mark.parametrize(
    ("rate", "sensitivity", "specificity", "labels"),
    [(0.05, 0.9, 0.9, 30), (0.5, 0.8, 0.7, 200), (0.9, 0.95, 0.8, 30)],
)
def test_intervals_of_corrected_rates_hold_the_true_rate(
    rate: float, sensitivity: float, specificity: float, labels: int
) -> None:
    rng = random.Random(3)
    held = tried = 0
    for _ in range(400):
        good = labels // 2
        both = sum(rng.random() < sensitivity for _ in range(good))
        neither = sum(rng.random() < specificity for _ in range(labels - good))
        yes = sum(
            rng.random() < (sensitivity if rng.random() < rate else 1 - specificity)
            for _ in range(100)
        )
        found = judge_of((both, good - both, labels - good - neither, neither))
        if corrected := found.corrected(yes, 100):
            tried += 1
            held += corrected[1].low <= rate <= corrected[1].high

    assert tried > 390
    assert held / tried >= 0.93  # 95 %, less three standard errors of 400


def leaning(rng: random.Random, more: float) -> MeasuredJudge:
    """A judge that says yes more often to its own model, whose answers are better, too."""
    found = []
    for _ in range(120):
        own = rng.random() < 0.5
        label = rng.random() < (0.8 if own else 0.4)
        yes = (0.85 if label else 0.2) + (more if own else 0.0)
        found.append(verdict(label, rng.random() < yes, model="M/own" if own else "M/other"))
    return MeasuredJudge("judge", tuple(found), "M/own")


def test_a_lean_to_the_own_model_is_found_and_better_answers_are_no_lean() -> None:
    rng = random.Random(5)
    false = sum(leaning(rng, 0.0).leans[-1].p_value <= 0.05 for _ in range(200))
    true = sum(leaning(rng, 0.4).leans[-1].p_value <= 0.05 for _ in range(50))
    assert false <= 18  # 5 % of 200, and three standard errors
    assert true >= 40
    assert "milder with answers of M/own, its own model" in leaning(rng, 0.6).text()


def test_length_and_position_are_compared_where_the_labels_say_them() -> None:
    verdicts = [
        verdict(True, number % 2 == 0, "a" * (100 if number % 2 else 1), position=str(number % 2))
        for number in range(40)
    ]

    found = {each.kind: each for each in MeasuredJudge("judge", tuple(verdicts)).leans}

    assert [*found] == ["longer than 50.5 characters", "at position 0"]
    assert found["at position 0"].difference == 1.0
    assert found["longer than 50.5 characters"].difference == -1.0
    assert all(each.p_corrected < 0.001 for each in found.values())


def test_what_is_no_label_and_a_judge_of_numbers_are_refused(tmp_path: Path) -> None:
    case = Case(name="c", input="q", columns={"answer": "a", "label": "maybe"})
    judge = Metric("judge", lambda run: 0.5)
    (tmp_path / "l.csv").write_text("input,answer,Label\none,1,yes\n")
    with pytest.raises(ValidationError, match=r"l\.csv:2:1: .* no label(.|\n)*did you mean Label"):
        measure_judge(judge, read_cases(tmp_path / "l.csv"))
    untyped = parse_program('[judge:Agent {instruction: "Judge.", model: "Offline/rehearsal"}]')
    with pytest.raises(ConfigurationError, match="must declare the type of its answer"):
        judged_by(untyped)
    with pytest.raises(ValidationError, match='c: the column "label" is true or false'):
        measure_judge(judge, [case])
    with pytest.raises(ValidationError, match="c: there is no answer: "):
        measure_judge(judge, [Case(name="c", input="q")])
    labelled = [Case(name=n, input="q", columns={"answer": n, "label": "no"}) for n in "ab"]
    with pytest.raises(ValidationError, match="judge gave no verdict at all: ZeroDivisionError"):
        measure_judge(Metric("judge", lambda run: 1 / 0), labelled)
    half = measure_judge(Metric("judge", lambda run: "a" not in run.content or 1 / 0), labelled)
    assert "1 answer got no verdict, which counts as no; the first: Zero" in half.text()
    with pytest.raises(ValidationError, match=r"judge gives 0\.5: a judge that is measured"):
        measure_judge(judge, [Case(name="c", input="q", columns={"answer": "a", "label": "no"})])


def test_a_comparison_says_that_its_judge_was_not_measured_and_judge_measures_it(
    tmp_path: Path,
) -> None:
    rehearsed = 'instruction: "Right?", model: "Offline/rehearsal"'
    texts = {
        "judge.gram": f"[judge:Agent {{{rehearsed}}} | [:Answer:Boolean]]",
        "a.gram": f"(a:Agent {{{rehearsed}}})",
        "b.gram": f"(b:Agent {{{rehearsed}}})",
        "cases.csv": "input\none\ntwo\n",
        "labels.csv": "input,answer,label\none,1,yes\ntwo,2,no\nthree,3,yes\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    judge, a, b, cases, labels = (str(tmp_path / name) for name in texts)
    folder = str(tmp_path / "x.ab")

    compared = gram("ab", a, b, "--cases", cases, "--metric", judge, "--out", folder)
    found = gram("judge", judge, labels, "--experiment", folder, "--json")
    shown = gram("judge", judge, labels, "--experiment", folder).stdout

    assert "note: judge is a judge that was not measured here: gram judge" in compared.stdout
    assert json.loads(found.stdout)["answers"] == 3
    assert [each["arm"] for each in json.loads(found.stdout)["corrected"]] == ["a", "b"]
    assert "a: the judge says" in shown
    assert "no bias by position is measured" in shown


JUDGE = parse_program(
    '[judge:Agent {instruction: "Is the answer in capitals?", model: "Offline/rehearsal"} | '
    "(:Answer:Boolean)]"
)
SCORER = parse_program(
    '[judge:Agent {instruction: "How loud is it?", model: "Offline/rehearsal"} | '
    "[verdict::Answer::Object | (score::Number), (reason::String)]]"
)


def test_a_judge_sees_the_case_and_the_answer_but_neither_arm_nor_order(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []

    def verdict(text: str) -> str:
        told.append(json.loads(text))
        return "true" if told[-1]["answer"].isupper() else "false"

    seen: list[object] = []

    async def observe(_: object, event: object) -> None:
        seen.append(event)

    loud = judged_by(JUDGE, name="loud", model=Answering(verdict), observe=observe)
    arms = {"quiet one": arm(wrong), "loud one": arm(right)}

    found = ab(cases(6), arms, [loud], out=tmp_path / "x", seed=1)

    assert {each.value for each in found.estimates[:2]} == {0.0, 1.0}
    assert len(seen) == len(told) == 12
    assert all(set(each) == {"input", "expected", "answer"} for each in told)
    assert not any(name in json.dumps(told) for name in arms)
    with open_store(tmp_path / "x" / "runs.db") as store:
        judged = [row.id for row in store.rows() if ".loud:" in row.id]
        assert len(judged) == 12
        assert "quiet" not in str(store.recorded(judged[0]).state.context)


def test_what_a_plan_knows_of_a_judge_is_the_same_in_another_version_of_this_package() -> None:
    assert code_of(judged_by(JUDGE).measure) == code_of(passed({}).measure) == ""
    assert judged_by(JUDGE).code


def test_a_judge_scores_with_a_number_and_a_reason() -> None:
    def verdict(text: str) -> str:
        return json.dumps({"score": len(json.loads(text)["answer"]), "reason": "counted"})

    length = judged_by(SCORER, name="length", model=Answering(verdict))

    found = ab(cases(2), {"a": arm(right)}, [length], seed=1)

    assert [each.scores["length"].value for each in found.trials] == [5.0, 5.0]
    assert found.trials[0].scores["length"].problem == "counted"
    assert "no score" not in "\n".join(found.notes)


def test_a_judge_that_fails_is_told_and_counts_against_nobody_in_secret() -> None:
    away = judged_by(JUDGE, name="away", model=Answering(lambda _: ModelError("away")))
    found = ab(cases(2), {"a": arm(right), "b": arm(right)}, [away, "passed"], seed=1)
    assert "2 of 2 runs of a without a score for away" in "\n".join(found.notes)
    assert "the judge failed: away" in "\n".join(found.notes)
    assert [each.metric for each in found.comparisons] == ["passed"]


def test_what_a_judge_takes_is_counted_apart_from_the_arms(tmp_path: Path) -> None:
    pytest.importorskip("genai_prices", reason="prices are an extra")
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0, "total_tokens": 1_000_000}
    said = {"role": "assistant", "content": "true"}
    priced = parse_program(
        '[judge:Agent {instruction: "Right?", model: "OpenAI/gpt-4o"} | (:Answer:Boolean)]'
    )
    reply = {"choices": [{"message": said, "finish_reason": "stop"}], "usage": usage}
    judge = judged_by(priced, name="fair", model=Answering(lambda _: reply))

    ab(cases(2), {"a": arm(right), "b": arm(right)}, [judge], out=tmp_path / "x", seed=1)
    found = load_experiment(tmp_path / "x")

    assert found.judges == {"fair": (Usage(4_000_000, 0), 10.0)}
    assert "judging by fair took 4,000,000 tokens and 10 USD" in found.table()
    told: Any = found.to_json()["judges"]
    assert (told["fair"]["input_tokens"], told["fair"]["cost"]) == (4_000_000, 10.0)
    assert not any(each.metric == "cost" and each.value for each in found.estimates)
    assert all(each.usage.total_tokens is None for each in found.trials)


def test_a_judge_is_the_same_in_another_process() -> None:
    def judge() -> str:
        return judged_by(JUDGE, model=Answering(lambda _: "true")).code

    assert judge() == judge()
    assert judge() != judged_by(JUDGE, model="Offline/rehearsal").code
