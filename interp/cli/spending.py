"""The tokens that a command has used, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from lenses_ext import Model

from ..errors import ConfigurationError
from ..machine import CallModel, Effect, Event, ModelReplied, Usage
from ..models import price_of_reply, shown_price


class Spending:
    """Counts the tokens of replies, each of which has a price of its own.

    Models differ in price, and one model may cost more where much is said to it.
    """

    def __init__(self) -> None:
        self._replies: list[tuple[Model, ModelReplied]] = []

    def count(self, effect: Effect, event: Event) -> None:
        """Count the tokens of a reply; an observer of runs."""
        if isinstance(event, ModelReplied) and isinstance(effect, CallModel):
            self._replies.append((effect.request.model, event))

    def text(self) -> str:
        """The tokens used so far, those of failed turns too, and what they cost if it is known."""
        used = sum((reply.usage for _, reply in self._replies), Usage(0, 0))
        if used.input_tokens is None and used.output_tokens is None:
            return "the number of tokens is unknown: the model did not report all of them"
        counts = (used.input_tokens, used.output_tokens, used.total_tokens)
        given, said, total = ("unknown" if each is None else str(each) for each in counts)
        return f"{given} input and {said} output tokens, {total} in all{self._price()}"

    def _price(self) -> str:
        try:
            prices = list(self._prices())
        except ConfigurationError as error:
            return f" ({error})"
        known = [price for price in prices if price is not None]
        if len(known) == len(prices):
            return f", about ${shown_price(sum(known, Decimal(0)))}" if known else ""
        servers = dict.fromkeys(reply.server for _, reply in self._replies if reply.server)
        return f", cost unknown at {' and '.join(servers)}" if servers else ""

    def _prices(self) -> Iterator[Decimal | None]:
        for model, reply in self._replies:
            named = {"served_model": reply.served_model, "server": reply.server}
            yield price_of_reply(model, reply.usage, **named)
