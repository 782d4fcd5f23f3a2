"""Money: a run stops before it costs more than it may, and can be resumed with more."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import interp
from gram import Pattern, loads_one
from interp import LimitError, Limits, ScriptedModel, Usage, hello_world_tool_library
from interp.execution import Budget
from interp.machine import ModelReplied, fold
from lenses_ext import Model
from tests.interp.model_server import Answer, ModelServer, completion, tool_calls

CALL = tool_calls(("c1", "sayHello", {"personName": "Al"}))
FLOW = """
[both:Workflow | [one:Agent {instruction: "x", model: "A/m", settings: {maxTokens: 10}}],
  [two:Agent {instruction: "x", model: "A/m", settings: {maxTokens: 10}}], [three:Agent {
    instruction: "x", model: "A/m", settings: {maxTokens: 10}}],
  ()-->(one), ()-->(two), ()-->(three), (one)-->(), (two)-->(), (three)-->()]
"""


def cents(_: Model, usage: Usage) -> Decimal | None:
    """One cent a token."""
    return None if usage.total_tokens is None else Decimal(usage.total_tokens) / 100


def replies(*tokens: int) -> ScriptedModel:
    """A model that calls a tool, as often as there are numbers of tokens, and answers then."""
    return ScriptedModel([*(used(CALL, count) for count in tokens), used({"content": "Hi"}, 1)])


def used(message: dict[str, Any], tokens: int) -> dict[str, Any]:
    """A reply that took so many tokens."""
    return completion(message, usage={"prompt_tokens": tokens, "completion_tokens": 0})


def spend(
    agent: Pattern, model: ScriptedModel, said: str = "hi", **options: Any
) -> interp.AgentResponse:
    """A run whose tokens cost a cent each."""
    library, more = hello_world_tool_library, {"cost_of": cents, **options}
    return interp.run(agent, said, library, model=model, **more)


def test_what_replies_cost_is_counted_in_their_events(hello_world: Pattern) -> None:
    begun: list[Any] = []
    spend(hello_world, replies(3), observe=lambda _, event: begun.append(event))
    costs = [each.cost for each in begun if isinstance(each, ModelReplied)]
    assert costs == [Decimal("0.03"), Decimal("0.01")]


def test_a_run_stops_before_a_request_that_may_cost_too_much(hello_world: Pattern) -> None:
    model = replies(60)
    with pytest.raises(LimitError, match=r"\$0.60 of \$0.65, and the next request may cost"):
        spend(hello_world, model, settings={"maxTokens": 1}, limits=Limits(cost=0.65))
    assert len(model.requests) == 1


def test_a_run_goes_on_with_more_money(hello_world: Pattern, tmp_path: Path) -> None:
    record = tmp_path / "a.run.gram"
    options: dict[str, Any] = {"settings": {"maxTokens": 1}}
    with pytest.raises(LimitError) as stopped:
        spend(
            hello_world,
            ScriptedModel([used(CALL, 60)]),
            limits=Limits(cost=0.65),
            record=record,
            **options,
        )
    assert stopped.value.state is not None
    kept = interp.load_run(record)
    assert kept.state == stopped.value.state == fold(kept.first, kept.state.events)
    entry = interp.timeline(kept).entries[-1]
    assert "limit: cost" in (entry.error or "")

    options |= {"model": ScriptedModel([completion({"content": "Hi"})]), "cost_of": cents}
    answer = interp.resume_run(record, hello_world_tool_library, limits=Limits(cost=5), **options)
    assert answer.content == "Hi"
    assert interp.load_run(record).state.run.cost > Decimal("0.60")


def test_requests_under_way_count(hello_world: Pattern) -> None:
    agent = loads_one(FLOW)
    asked: list[str] = []

    class Slow:
        async def acomplete(self, request: Any) -> Any:
            asked.append(request.instruction)
            await asyncio.sleep(0.05)
            return used({"content": "ok"}, 10)

        def complete(self, request: Any) -> Any:
            raise AssertionError("it is asked without blocking")

    async def go() -> None:
        await interp.arun(agent, "hi", model=Slow(), limits=Limits(cost=0.25), cost_of=cents)

    with pytest.raises(LimitError, match="limit: cost"):
        asyncio.run(go())

    assert len(asked) == 2


def test_a_first_request_is_refused_by_its_length(hello_world: Pattern) -> None:
    model = ScriptedModel(["Hi"])
    with pytest.raises(LimitError, match=r"\$0.00 of \$0.01, and the next request may cost"):
        spend(hello_world, model, "a" * 4_000, limits=Limits(cost=0.01))
    assert not model.requests


PRICES: list[tuple[Any, str]] = [
    (None, r"the price of OpenAI/.* is not known"),
    *((price, "which is no price") for price in (-1, float("nan"), float("inf"), "much")),
    (ValueError("no such price"), r"cost_of failed for OpenAI/.*: no such price"),
]


@pytest.mark.parametrize(("price", "message"), PRICES)
def test_what_is_no_price_is_refused_before_anything_runs(
    hello_world: Pattern, price: Any, message: str
) -> None:
    def cost_of(_: Model, __: Usage) -> Any:
        if isinstance(price, Exception):
            raise price
        return price

    model = ScriptedModel(["Hi"])
    with pytest.raises(interp.ConfigurationError, match=message):
        spend(hello_world, model, limits=Limits(cost=1), cost_of=cost_of)
    assert not model.requests


def test_servers_on_this_machine_cost_nothing(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say(Answer(completion(CALL)), "Hi")
    answer = interp.run(hello_world, "hi", hello_world_tool_library, limits=Limits(cost=0.000001))
    assert answer.content == "Hi"


def test_a_reply_of_unknown_size_counts_as_what_was_expected(hello_world: Pattern) -> None:
    seen: list[Any] = []

    def known(model: Model, usage: Usage) -> float | None:
        return None if usage.total_tokens is None else 0.2

    more: Any = {"observe": lambda _, event: seen.append(event)}
    spend(hello_world, ScriptedModel(["Hi"]), cost_of=known, **more)

    assert [each.cost for each in seen if isinstance(each, ModelReplied)] == [Decimal("0.2")]
    assert Budget(known).cost_of is known
