"""What tokens cost."""

from __future__ import annotations

from decimal import Decimal

import pytest

from interp import ConfigurationError, Usage
from interp.execution import Spending
from interp.machine import CallModel, ModelReplied, Request, shown_price
from interp.machine.messages import AssistantRole, Message, empty_context
from interp.models import price_of
from interp.models.prices import price_of_reply
from lenses_ext import Model

LUNA = Model("OpenAI", "gpt-5.6-luna")


def test_a_price_grows_with_the_tokens() -> None:
    one, two = (price_of(LUNA, Usage(count, count)) for count in (1000, 2000))

    assert one is not None
    assert two is not None
    assert Decimal(0) < one < two


@pytest.mark.parametrize(
    ("model", "usage"),
    [
        (Model("OpenAI", "no-such-model"), Usage(1, 1)),
        (Model("Nobody", "x"), Usage(1, 1)),
        (LUNA, Usage(None, 1)),
    ],
)
def test_what_is_not_known_has_no_price(model: Model, usage: Usage) -> None:
    assert price_of(model, usage) is None


def spending(
    server: str = "", usages: tuple[Usage, ...] = (Usage(1_000_000, 0),), model: Model = LUNA
) -> Spending:
    spent = Spending()
    request = Request(model, "x", empty_context)
    said = Message(AssistantRole, "hi")
    for usage in usages:
        reply = ModelReplied((0,), said, usage=usage, server=server)
        spent.count(CallModel((0,), request), reply)
    return spent


def test_each_reply_is_priced_alone_where_long_ones_cost_more() -> None:
    model, usage = Model("Google", "gemini-2.5-pro"), Usage(100_000, 0)
    one, together = price_of(model, usage), price_of(model, Usage(300_000, 0))
    assert one is not None
    assert together is not None
    assert together > 3 * one

    told = spending(usages=(usage,) * 3, model=model).text()

    assert told.endswith(f"300000 in all, about ${shown_price(3 * one)}")


def test_no_part_of_a_price_is_told_where_the_rest_is_unknown() -> None:
    told = spending(usages=(Usage(1000, 0), Usage(1000, None))).text()

    assert "$" not in told


def test_the_price_is_told_where_the_provider_itself_is_asked() -> None:
    text = spending("http://localhost:1/v1").text()

    assert "1000000 input and 0 output tokens, 1000000 in all, about $" in spending().text()
    assert text.endswith("1000000 in all, cost unknown at http://localhost:1/v1")


def test_a_server_that_is_known_has_the_prices_of_its_provider() -> None:
    usage, model = Usage(1000, 1000), Model("Mine", "gpt-5-mini")

    assert price_of_reply(model, usage) is None
    found = price_of_reply(model, usage, server="https://api.openai.com/v1")
    assert found == price_of(Model("OpenAI", "gpt-5-mini"), usage)
    assert price_of_reply(LUNA, usage, server="http://localhost:8000/v1") is None


def test_without_the_extra_it_says_how_to_get_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "genai_prices", None)

    with pytest.raises(ConfigurationError, match=r"pip install .*\[prices\]"):
        price_of(LUNA, Usage(1, 1))
    assert "in all (prices are not installed: pip install" in spending().text()
