"""The tokens that runs have used, and what they cost."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

from attrs import field, frozen

from lenses_ext import Model

from ..errors import ConfigurationError
from ..machine import CallModel, Effect, Event, ModelReplied, Usage, model_that_replied, shown_price
from ..models import price_of_reply


@frozen
class Spending:
    """Counts the replies of runs, each of which has a price of its own.

    Models differ in price, and one model may cost more where much is said to it.

    Attributes:
        replies: each reply with the model that was asked.
    """

    replies: list[tuple[Model, ModelReplied]] = field(factory=list)

    def count(self, effect: Effect | None, event: Event, _: object = None) -> None:
        """Count a reply; an observer and a watcher of runs."""
        if isinstance(event, ModelReplied) and isinstance(effect, CallModel):
            self.replies.append((model_that_replied(effect, event) or effect.request.model, event))

    @property
    def models(self) -> tuple[str, ...]:
        """The models that answered, as their providers name them."""
        return tuple(
            dict.fromkeys(each.served_model for _, each in self.replies if each.served_model)
        )

    def prices(self) -> list[Decimal | None]:
        """What each reply costs in US dollars; None where that is not known.

        Raises:
            ConfigurationError: prices are not installed.
        """
        return [_price_of(*each) for each in self.replies]

    def cost(self, model: Model) -> float | None:
        """What the replies cost together; None if it is not known of each.

        Args:
            model: the model whose price a run without replies would have.
        """
        try:
            costs = self.prices() if self.replies else [price_of_reply(model, Usage(0, 0))]
        except ConfigurationError:
            return None
        known = [float(each) for each in costs if each is not None]
        return sum(known) if len(known) == len(costs) else None

    def text(self) -> str:
        """The tokens used so far, those of failed turns too, and what they cost if it is known."""
        used = sum((reply.usage for _, reply in self.replies), Usage(0, 0))
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
            return f", about ${shown_price(sum(known, Decimal(0)))}" if known else ""
        servers = dict.fromkeys(reply.server for _, reply in self.replies if reply.server)
        return f", cost unknown at {' and '.join(servers)}" if servers else ""


def _price_of(model: Model, reply: ModelReplied) -> Decimal | None:
    """What a reply cost, as its event says where costs are limited, or by the model's price."""
    if reply.cost is not None:
        return reply.cost
    named = {"served_model": reply.served_model, "server": reply.server}
    return price_of_reply(model, reply.usage, **named)
