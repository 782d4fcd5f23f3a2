"""A judge that is an agent sees answers, and nothing of whose they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interp import ConfigurationError, ModelError, Usage, ab, open_store
from interp.evaluation import judged_by, load_experiment
from lenses_ext import parse_program
from tests.interp.evaluation.experiments.worlds import Answering, arm, cases, right, wrong

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


def test_a_judge_without_a_declared_verdict_is_refused() -> None:
    untyped = parse_program('[judge:Agent {instruction: "Judge.", model: "Offline/rehearsal"}]')

    with pytest.raises(ConfigurationError, match="must declare the type of its answer"):
        judged_by(untyped)


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
