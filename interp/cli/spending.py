"""The tokens that a command has used, and what they cost."""

from __future__ import annotations

import os
from decimal import Decimal

from lenses_ext import Model

from ..errors import ConfigurationError
from ..machine import CallModel, Effect, Event, ModelReplied
from ..messages import Usage
from ..prices import price_of, shown_price
from ..providers import find_provider


class Spending:
    """Counts tokens, of each model for itself.

    Args:
        base_url: the address that the user gave for all models, or None.
    """

    def __init__(self, base_url: str | None = None) -> None:
        self._base_url = base_url
        self._used: dict[Model, Usage] = {}

    def count(self, effect: Effect, event: Event) -> None:
        """Count the tokens of a reply; an observer of runs."""
        if isinstance(event, ModelReplied) and isinstance(effect, CallModel):
            model = effect.request.model
            self._used[model] = self._used.get(model, Usage(0, 0)) + event.usage

    def text(self) -> str:
        """The tokens used so far, those of failed turns too, and what they cost if it is known."""
        used = sum(self._used.values(), Usage(0, 0))
        if used.input_tokens is None and used.output_tokens is None:
            return "the number of tokens is unknown: the model did not report all of them"
        counts = (used.input_tokens, used.output_tokens, used.total_tokens)
        given, said, total = ("unknown" if each is None else str(each) for each in counts)
        return f"{given} input and {said} output tokens, {total} in all{self._price()}"

    def _price(self) -> str:
        try:
            prices = [price_of(*each) for each in self._used.items() if self._has_price(each[0])]
        except ConfigurationError as error:
            return f" ({error})"
        known = [price for price in prices if price is not None]
        if len(known) < len(self._used):
            return ""
        return f", about ${shown_price(sum(known, Decimal(0)))}" if known else ""

    def _has_price(self, model: Model) -> bool:
        """Whether a model is asked at its provider's own address, which takes a key."""
        provider = find_provider(model)
        is_own = provider is not None and not os.environ.get(provider.base_url_variable)
        return is_own and provider is not None and bool(provider.key) and not self._base_url
