"""What runs count and measure, as OpenTelemetry metrics; the names are in this module alone.

The first two are those of the semantic conventions for generative AI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lenses_ext import Model

from ..machine import CallFailed, CallModel, CallTool, Event, ModelReplied
from ..models import cost_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opentelemetry.metrics import Histogram, Meter

_SECONDS: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96)
_TOKENS: Final = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576)


class Metrics:
    """The instruments of runs.

    Args:
        meter: what makes them.
    """

    def __init__(self, meter: Meter) -> None:
        def histogram(name: str, unit: str, description: str, bounds: Sequence[float]) -> Histogram:
            how = {"unit": unit, "description": description}
            return meter.create_histogram(name, explicit_bucket_boundaries_advisory=bounds, **how)

        asked, called = "gen_ai.client.operation.duration", "gram.tool.duration"
        self._seconds = histogram(asked, "s", "Seconds of requests to models", _SECONDS)
        self._calls = histogram(called, "s", "Seconds of calls of tools", _SECONDS)
        used = "gen_ai.client.token.usage"
        self._tokens = histogram(used, "{token}", "Tokens of requests to models", _TOKENS)
        self._cost = meter.create_counter(
            "gram.model.cost", unit="USD", description="What requests have cost, as far as is known"
        )
        self._retries = meter.create_counter(
            "gram.model.retries", description="Requests that were sent again"
        )
        self._failures = meter.create_counter(
            "gram.tool.failures", description="Calls of tools that failed"
        )

    def answered(self, effect: CallModel | CallTool, event: Event, seconds: float) -> None:
        """Count a request or a call that was answered."""
        if isinstance(effect, CallTool):
            tool = {"gen_ai.tool.name": effect.name}
            self._calls.record(seconds, tool)
            if isinstance(event, CallFailed):
                self._failures.add(1, tool)
        elif isinstance(event, ModelReplied):
            model = event.model or effect.request.model
            about = _about(model)
            self._seconds.record(seconds, about)
            for kind, count in (
                ("input", event.usage.input_tokens),
                ("output", event.usage.output_tokens),
            ):
                if count is not None:
                    self._tokens.record(count, {**about, "gen_ai.token.type": kind})
            cost = cost_at({model: event.server})(model, event.usage)
            if cost is not None:
                self._cost.add(float(cost), about)

    def failed(self, effect: CallModel | CallTool, error: BaseException, seconds: float) -> None:
        """Count a request or a call that raised."""
        kind = type(error).__qualname__
        if isinstance(effect, CallModel):
            self._seconds.record(seconds, {**_about(effect.request.model), "error.type": kind})
        else:
            self._failures.add(1, {"gen_ai.tool.name": effect.name})

    def retried(self, model: Model) -> None:
        """Count a request that is sent again."""
        self._retries.add(1, _about(model))


def _about(model: Model) -> dict[str, str]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider_name(model.provider),
        "gen_ai.request.model": model.name,
    }


_PROVIDERS: Final = {"Google": "gcp.gemini"}
"""The names of providers that are not ours in small letters."""


def provider_name(name: str) -> str:
    """The name of a provider, as the conventions write it."""
    return _PROVIDERS.get(name, name.lower())
