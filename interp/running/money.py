"""The budget of a run: prices of its models, where its cost is limited."""

from __future__ import annotations

import os

from lenses_ext import Model

from ..execution import Budget, named_model
from ..machine import State, limits_of
from ..models import cost_at, find_provider
from ..programs import fallbacks_of, models_of
from .options import RunOptions


def budget_of(state: State, options: RunOptions) -> Budget | None:
    """What knows the cost of a run; None where it is not limited and nobody gives prices.

    Args:
        state: a State of the run.
        options: how it goes on.

    Raises:
        ConfigurationError: the cost is limited, and the price of a model is not known.
    """
    limits = limits_of(options.get("limits"), state.limits) or state.limits
    cost_of = options.get("cost_of")
    if limits.cost is None and cost_of is None:
        return None
    named = named_model(options.get("model")) or state.model
    models = (named,) if named else (*models_of(state.agent), *fallbacks_of(state.agent))
    addresses = {each: _address(each, options.get("base_url")) for each in models}
    budget = Budget(cost_of or cost_at(addresses))
    if limits.cost is not None:
        budget.check(models)
    return budget


def _address(model: Model, base_url: str | None) -> str:
    provider = find_provider(model)
    if base_url or provider is None:
        return base_url or ""
    return os.environ.get(provider.base_url_variable) or provider.base_url
