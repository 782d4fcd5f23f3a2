"""The replies of a run: which models gave them, and what they cost."""

from __future__ import annotations

from attrs import field, frozen

from lenses_ext import Model

from ...errors import ConfigurationError
from ...machine import CallModel, Effect, Event, ModelReplied, Usage
from ...models import price_of_reply


@frozen
class Replies:
    """Gathers the replies of a run, which it watches.

    Attributes:
        found: each reply with the model that was asked.
    """

    found: list[tuple[Model, ModelReplied]] = field(factory=list)

    def watch(self, effect: Effect | None, event: Event, _: object = None) -> None:
        """Keep a reply; a `Watcher` of runs."""
        if isinstance(effect, CallModel) and isinstance(event, ModelReplied):
            self.found.append((effect.request.model, event))

    @property
    def models(self) -> tuple[str, ...]:
        """The models that answered, as their providers name them."""
        served = (each.served_model for _, each in self.found)
        return tuple(dict.fromkeys(filter(None, served)))

    def cost(self, model: Model) -> float | None:
        """What the replies cost in US dollars; None if it is not known of each.

        Args:
            model: the model whose price a run without replies would have.
        """
        asked = [
            (each, reply.usage, reply.served_model, reply.server) for each, reply in self.found
        ]
        costs = [_cost(*each) for each in asked or [(model, Usage(0, 0), "", "")]]
        known = [each for each in costs if each is not None]
        return sum(known) if len(known) == len(costs) else None


def _cost(model: Model, usage: Usage, served: str, server: str) -> float | None:
    try:
        found = price_of_reply(model, usage, served_model=served, server=server)
    except ConfigurationError:  # prices are not installed
        return None
    return None if found is None else float(found)
