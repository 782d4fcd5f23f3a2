"""The tokens that runs have used, what they cost, and what one may still cost.

The machine counts what replies have cost and stops a run that calls tools past its limit. Here
requests under way count, too: as much as the last one of their agent cost, or, where it is the
first, by its length and the setting ``maxTokens``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from decimal import Decimal
from typing import Final, TypeAlias

from attrs import define, evolve, field, frozen

from lenses_ext import Model

from .. import machine
from ..errors import ConfigurationError, said_by
from ..machine import CallModel, Effect, Event, ModelReplied, State, Usage
from ..models import price_of_reply, unknown_price


@frozen
class Spending:
    """Counts the replies of runs, each of which has a price of its own.

    Models differ in price, and one model may cost more where much is said to it.
    """

    replies: list[tuple[Model, ModelReplied]] = field(factory=list)

    def count(self, effect: Effect | None, event: Event, _: object = None) -> None:
        """Count a reply; an observer and a watcher of runs."""
        if isinstance(event, ModelReplied) and isinstance(effect, CallModel):
            self.replies.append((event.model or effect.request.model, event))

    @property
    def models(self) -> tuple[str, ...]:
        """The models that answered, as their providers name them."""
        return tuple(
            dict.fromkeys(each.served_model for _, each in self.replies if each.served_model)
        )

    @property
    def usage(self) -> Usage:
        """The tokens of all replies."""
        return sum((reply.usage for _, reply in self.replies), Usage(0, 0))

    def prices(self) -> list[Decimal | None]:
        """What each reply costs in US dollars; None where that is not known.

        Raises:
            ConfigurationError: prices are not installed.
        """
        return [
            price_of_reply(model, reply.usage, served_model=reply.served_model, server=reply.server)
            if reply.cost is None
            else reply.cost  # as its event says where costs are limited
            for model, reply in self.replies
        ]

    def cost(self, model: Model | None = None) -> float | None:
        """What the replies cost together; None if it is not known of each.

        Args:
            model: the model whose price a run without replies would have; None is no price.
        """
        try:
            costs = self.prices()
            if model and not costs:
                costs = [price_of_reply(model, Usage(0, 0))]
        except ConfigurationError:
            return None
        known = [float(each) for each in costs if each is not None]
        return sum(known, 0.0) if len(known) == len(costs) else None

    def text(self) -> str:
        """The tokens used so far, those of failed turns too, and what they cost if it is known."""
        used = self.usage
        if used.input_tokens is None and used.output_tokens is None:
            return "the number of tokens is unknown: the model did not report all of them"
        counts = (used.input_tokens, used.output_tokens, used.total_tokens)
        given, said, total = ("unknown" if each is None else str(each) for each in counts)
        cached = f" ({used.cached_tokens} cached)" if used.cached_tokens else ""
        thought = f" ({used.reasoning_tokens} reasoning)" if used.reasoning_tokens else ""
        return (
            f"{given} input{cached} and {said} output{thought} tokens, {total} in all"
            f"{self._price()}{self._passed()}"
        )

    def _passed(self) -> str:
        """The models that gave no reply, so that others were asked."""
        tried = Counter(each for _, reply in self.replies for each in reply.tried)
        told = (
            f"; {model} gave no reply{'' if times == 1 else f' {times} times'} ({why})"
            for (model, why), times in tried.items()
        )
        return "".join(told)

    def _price(self) -> str:
        try:
            prices = self.prices()
        except ConfigurationError as error:
            return f" ({error})"
        known = [price for price in prices if price is not None]
        if len(known) == len(prices):
            return f", about ${machine.shown_price(sum(known, Decimal(0)))}" if known else ""
        servers = dict.fromkeys(reply.server for _, reply in self.replies if reply.server)
        return f", cost unknown at {' and '.join(servers)}" if servers else ""


CostOf: TypeAlias = Callable[[Model, Usage], "Decimal | float | None"]
"""What tokens of a model cost, in US dollars; None if that is not known."""

_TOKENS: Final = 1_000
"""How long a reply may get that has no ``maxTokens``, for the estimate of a first request."""


@define
class Budget:
    """The money of a run."""

    cost_of: CostOf
    _last: dict[str, Decimal] = field(factory=dict)

    def expected(self, request: machine.Request) -> Decimal:
        """What a request may cost."""
        if (last := self._last.get(request.agent)) is not None:
            return last
        said = len(request.instruction) + sum(len(each.content) for each in request.messages)
        most = request.settings.get("maxTokens")
        reply = most if isinstance(most, int) else _TOKENS
        usage = Usage(said // machine.CHARACTERS_OF_A_TOKEN, reply)
        return self._price(request.model, usage) or Decimal(0)

    def admits(self, effect: Effect, under_way: Iterable[Effect], state: State) -> bool:
        """Whether there is money for an effect beside those under way: requests alone cost some."""
        limit = state.limits.cost
        if limit is None or not isinstance(effect, CallModel):
            return True
        asked = (each for each in (effect, *under_way) if isinstance(each, CallModel))
        needed = sum((self.expected(each.request) for each in asked), state.run.cost)
        return needed <= machine.dollars(limit)

    def with_cost(self, effect: Effect | None, event: Event) -> Event:
        """The answer to a request with what it cost; without a price, as much as was expected."""
        if not (isinstance(event, ModelReplied) and isinstance(effect, CallModel)):
            return event
        request, cost = effect.request, event.cost
        if cost is None:
            cost = self._price(event.model or request.model, event.usage)
        self._last[request.agent] = self.expected(request) if cost is None else cost
        return evolve(event, cost=self._last[request.agent])

    def check(self, models: tuple[Model, ...]) -> None:
        """Refuse models without a known price, before anything runs.

        Raises:
            ConfigurationError: the price of a model is not known.
        """
        for model in models:
            if self._price(model, Usage(1, 1)) is None:
                told = f"the cost of the run is limited, and {unknown_price(model)}"
                raise ConfigurationError(f"{told}\n  hint: cost_of= gives others in Python")

    def _price(self, model: Model, usage: Usage) -> Decimal | None:
        try:
            found = self.cost_of(model, usage)
        except Exception as error:  # it is the user's
            raise ConfigurationError(f"cost_of failed for {model}: {said_by(error)}") from error
        if found is None:
            return None
        with suppress(ArithmeticError):
            cost = machine.dollars(found)
            if cost.is_finite() and cost >= 0:
                return cost
        raise ConfigurationError(f"cost_of: {model} costs {found!r}, which is no price")
