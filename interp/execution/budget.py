"""What a run may cost: whether there is money for another request, before it is sent.

The machine counts what replies have cost and stops a run that calls tools past its limit. Here
requests under way count, too: as much as the last one of their agent cost, or, where it is the
first, by its length and the setting ``maxTokens``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from decimal import Decimal
from typing import Final, TypeAlias

from attrs import define, evolve, field

from gram.extras import install
from lenses_ext import Model

from ..errors import ConfigurationError, said_by
from ..machine import (
    CallModel,
    Effect,
    Event,
    ModelReplied,
    Request,
    State,
    Usage,
    dollars,
    frame_at,
    model_that_replied,
)

CostOf: TypeAlias = Callable[[Model, Usage], "Decimal | float | None"]
"""What tokens of a model cost, in US dollars; None if that is not known."""

_CHARACTERS: Final = 4
"""How many characters make a token, roughly: OpenAI's rule of thumb for English."""

_TOKENS: Final = 1_000
"""How long a reply may get that has no ``maxTokens``, for the estimate of a first request."""


@define
class Budget:
    """The money of a run.

    Attributes:
        cost_of: what tokens cost.
    """

    cost_of: CostOf
    _last: dict[str, Decimal] = field(factory=dict)

    def expected(self, effect: CallModel, state: State) -> Decimal:
        """What a request may cost."""
        last = self._last.get(frame_at(state, effect.at).name)
        return self._estimate(effect.request) if last is None else last

    def admits(self, effect: Effect, under_way: Iterable[Effect], state: State) -> bool:
        """Whether there is money for an effect beside those under way: requests alone cost some."""
        limit = state.limits.cost
        if limit is None or not isinstance(effect, CallModel):
            return True
        asked = [effect, *(each for each in under_way if isinstance(each, CallModel))]
        needed = sum((self.expected(each, state) for each in asked), Decimal(0))
        return state.run.cost + needed <= dollars(limit)

    def with_cost(self, effect: Effect | None, event: Event, state: State) -> Event:
        """The answer to a request with what it cost; without a price, as much as was expected."""
        if not (isinstance(event, ModelReplied) and isinstance(effect, CallModel)):
            return event
        cost = event.cost
        if cost is None:
            model = model_that_replied(effect, event) or effect.request.model
            price = self._price(model, event.usage)
            cost = self.expected(effect, state) if price is None else price
        self._last[frame_at(state, effect.at).name] = cost
        return evolve(event, cost=cost)

    def check(self, models: tuple[Model, ...]) -> None:
        """Refuse models without a known price, before anything runs.

        Raises:
            ConfigurationError: the price of a model is not known.
        """
        for model in models:
            if self._price(model, Usage(1, 1)) is None:
                raise ConfigurationError(
                    f"the cost of the run is limited, and the price of {model} is not known\n"
                    f"  hint: {install('prices')} knows many; cost_of= gives others"
                )

    def _estimate(self, request: Request) -> Decimal:
        said = len(request.instruction) + sum(len(each.content) for each in request.messages)
        most = request.settings.get("maxTokens", _TOKENS)
        usage = Usage(said // _CHARACTERS, most if isinstance(most, int) else _TOKENS)
        return self._price(request.model, usage) or Decimal(0)

    def _price(self, model: Model, usage: Usage) -> Decimal | None:
        try:
            found = self.cost_of(model, usage)
        except Exception as error:  # it is the user's
            raise ConfigurationError(f"cost_of failed for {model}: {said_by(error)}") from error
        if found is None:
            return None
        with suppress(ArithmeticError):
            cost = dollars(found)
            if cost.is_finite() and cost >= 0:
                return cost
        raise ConfigurationError(f"cost_of: {model} costs {found!r}, which is no price")
