"""Metrics that are built in, and what functions of users may give."""

from __future__ import annotations

import asyncio
from asyncio import CancelledError
from typing import Any

import numpy
import pytest

from gram import ArgumentError
from interp import (
    AssistantRole,
    Case,
    Message,
    ScriptedModel,
    ToolCall,
    ToolLibrary,
    Usage,
    ab,
    tool,
)
from interp.evaluation import Arm, Metric, Trial, matches_schema
from interp.evaluation.experiments import Score
from interp.evaluation.experiments.metrics import MEASURES
from interp.terminated import Terminated
from lenses_ext import parse_program
from tests.interp.evaluation.experiments.worlds import arm, cases


def trial(**given: Any) -> Trial:
    spent: dict[str, Any] = {
        "calls": 2, "rounds": 3, "usage": Usage(10, 5), "cost": 0.25, "seconds": 1.5
    }  # fmt: skip
    known = {"failure": None, "content": "yes", **spent, **given}
    return Trial(arm="a", case=Case(name="c", input="x"), repeat=0, **known)


def scored(metric: Metric, **given: Any) -> Score:
    return asyncio.run(metric.score(trial(**given)))


@pytest.mark.parametrize(
    ("found", "value"),
    [
        (True, True),
        (0, 0.0),
        (2.5, 2.5),
        (numpy.float32(2.5), 2.5),
        (numpy.bool_(True), True),
        ("because", False),
        ("", False),
        (None, None),
        (float("nan"), None),
        (float("inf"), None),
        (10**400, None),
        ([1], None),
        (1j, None),
        (Score(3.0), 3.0),
        (Score(float("nan")), None),
    ],
)
def test_what_a_function_gives_is_a_number_or_yes_or_no_or_no_score(
    found: Any, value: float | bool | None
) -> None:
    score = scored(Metric("m", lambda _: found))
    assert (score.value, type(score.value)) == (value, type(value))
    assert (score.problem is None) == (value is not None and not isinstance(found, str))


def test_what_was_spent_is_measured_of_runs_that_failed_too() -> None:
    spent = {name: scored(metric, failure="x").value for name, metric in MEASURES.items()}
    taken = {"tokens": 15, "input_tokens": 10, "output_tokens": 5, "cost": 0.25, "seconds": 1.5}
    assert spent == {"calls": 2, "rounds": 3, **taken}

    assert scored(MEASURES["tokens"], usage=Usage()).value is None
    assert scored(MEASURES["cost"], cost=None).value is None


def raising(raised: BaseException) -> Metric:
    def odd(_: Trial) -> float:
        raise raised

    return Metric("odd", odd)


@pytest.mark.parametrize(
    "raised",
    [SystemExit("bye"), GeneratorExit(), RecursionError(), MemoryError(), CancelledError()],
)
def test_whatever_a_metric_raises_is_no_score(raised: BaseException) -> None:
    found = scored(raising(raised))
    assert (found.value, (found.problem or "")[:10]) == (None, type(raised).__name__[:10])


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), Terminated(143)])
def test_what_ends_the_process_goes_through_a_metric(raised: BaseException) -> None:
    with pytest.raises(type(raised)):
        scored(raising(raised))


def test_an_answer_matches_a_schema_or_not() -> None:
    metric = matches_schema({"type": "object", "required": ["a"]})
    said = {"say 0": '{"a": 1}', "say 1": "{}", "say 2": "no"}

    found = ab(cases(3), {"a": arm(said.get)}, [metric], seed=1)

    scores = [each.scores["schema"] for each in found.trials]
    assert [each.value for each in scores] == [True, False, False]
    assert "not JSON" in (scores[2].problem or "")
    assert scored(metric, failure="x").value is False
    with pytest.raises(ArgumentError, match="no keyword that refuses an answer"):
        matches_schema({})


def test_the_model_that_was_served_is_kept_by_arm() -> None:
    def served(_: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": "hi"}
        usage = {"prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 6}
        return {"model": "m-2026-01", "choices": [{"message": message}], "usage": usage}

    found = ab(cases(2), {"a": arm(served)}, seed=1)

    assert found.models == {"a": ("m-2026-01",)}
    assert "m-2026-01" in found.table()
    assert found.trials[0].usage == Usage(4, 2)


def test_calls_and_rounds_are_counted() -> None:
    @tool
    def look(what: str) -> str:
        """Looks."""
        return what

    program = parse_program(
        '[a:Agent {instruction: "x", model: "Offline/rehearsal"} | '
        '[look:ToolSpecification {description: "Looks."} | (what::String)==>(::String)]]'
    )
    asks = Message(AssistantRole, "", [ToolCall("1", "look", '{"what": "up"}')])
    made = Arm(program, ToolLibrary.of([look]), lambda: ScriptedModel([asks, "done"]))

    found = ab([Case(name="c", input="x", calls=())], {"a": made}, ["passed", "calls"], seed=1)

    (one,) = found.trials
    assert (one.calls, one.rounds, one.content) == (1, 2, "done")
    assert one.scores["passed"].value is False
    assert [each.tool_name for each in one.tools_used] == ["look"]
