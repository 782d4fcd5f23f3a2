"""What tokens cost, by the prices that the package ``genai-prices`` keeps (an extra)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from importlib.util import find_spec
from typing import Any

from gram.errors import expect
from gram.extras import install
from lenses_ext import Model

from ..errors import ConfigurationError
from ..machine import Usage
from .providers import OFFLINE, find_provider, is_on_this_machine


def price_of(model: Model, usage: Usage) -> Decimal | None:
    """What tokens of a model cost, in US dollars; None if the price or the number is unknown.

    The price is what the model's provider lists for it, without discounts.

    Raises:
        ArgumentError: an argument is of the wrong type.
        ConfigurationError: the extra ``gram-agents[prices]`` is not installed.
    """
    expect(model, Model, "model", by="price_of")
    expect(usage, Usage, "usage", by="price_of")
    return _price(model.name, usage, model.provider)


def require_prices(by: str) -> None:
    """Refuse what needs prices where the extra ``gram-agents[prices]`` is not installed."""
    if find_spec("genai_prices") is None:
        raise ConfigurationError(f"{by} needs prices: {install('prices')}")


def unknown_price(model: Model) -> str:
    """What to say of a model whose price is not known."""
    hint = f"\n  hint: {install('prices')} knows many" if not find_spec("genai_prices") else ""
    return f"the price of {model} is not known{hint}"


def price_of_reply(
    model: Model, usage: Usage, *, served_model: str = "", server: str = ""
) -> Decimal | None:
    """What a reply cost, in US dollars; None if that is unknown.

    A rehearsal costs nothing, nor does a provider that is on this machine by its row. The price of
    the model that answered counts, if it is said and has one, else that of the model asked. A
    server that is not the provider's own has prices only where it is known as that of one.

    Raises:
        ConfigurationError: the extra ``gram-agents[prices]`` is not installed.
    """
    row = find_provider(model)
    is_here = row is not None and is_on_this_machine(row.base_url)
    if model.provider == OFFLINE.provider or (
        is_here and (not server or is_on_this_machine(server))
    ):
        return Decimal(0)
    names = filter(None, (served_model, model.name))
    prices = (_price(each, usage, model.provider, server) for each in names)
    return next((each for each in prices if each is not None), None)


def _price(model: str, usage: Usage, provider: str, server: str = "") -> Decimal | None:
    try:
        import genai_prices  # loads pydantic
    except ImportError:
        raise ConfigurationError(f"prices are not installed: {install('prices')}") from None
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    tokens = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens,
    )
    whose: Any = {"provider_api_url": server} if server else {"provider_id": provider.lower()}
    try:
        price: Decimal = genai_prices.calc_price(tokens, model_ref=model, **whose).total_price
    except LookupError:
        return None
    return price


def cost_at(addresses: Mapping[Model, str]) -> Callable[[Model, Usage], Decimal | None]:
    """What tokens cost at the addresses of models' servers: those on this machine cost nothing."""

    def cost(model: Model, usage: Usage) -> Decimal | None:
        if model.provider == OFFLINE.provider or is_on_this_machine(addresses.get(model, "")):
            return Decimal(0)
        try:
            return price_of(model, usage)
        except ConfigurationError:  # prices are not installed
            return None

    return cost


def context_window(model: Model) -> int | None:
    """How many tokens a model reads at most, as the package of prices knows it; None if not."""
    try:
        from genai_prices.data import providers  # loads pydantic
    except ImportError:
        return None
    wanted = model.provider.lower()
    for provider in providers:
        if provider.id == wanted and (found := provider.find_model(model.name)) is not None:
            window: int | None = found.context_window
            return window
    return None
