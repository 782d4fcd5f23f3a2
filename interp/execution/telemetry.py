"""Runs as OpenTelemetry spans and metrics, by the conventions for generative AI (an extra).

.. code-block:: python

    run(agent, "hi", library, telemetry=Telemetry())

A run is a span ``invoke_agent``, with a span ``chat`` for each request to a model and a span
``execute_tool`` for each call of a tool inside it; each agent and workflow inside the run has a
span ``invoke_agent`` of its own around what it does. They go to the tracer provider of the process,
or to the one that is given; so do the metrics, of which the first two are those of the conventions.
What is said, and the arguments and results of tools, are left out unless they are asked for. The
names of spans and metrics are in this module alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from attrs import define

from gram import Pattern
from gram.errors import expect
from gram.extras import install
from lenses_ext import Model, agent_model, is_agent, view
from lenses_ext.schemas import to_json_value

from ..errors import ApprovalNeeded, ConfigurationError
from ..json_text import Json, json_or_text, write_json
from ..machine import (
    Ask,
    At,
    CallFailed,
    CallModel,
    CallTool,
    Effect,
    Ended,
    Event,
    FrameBegun,
    FunctionRole,
    Message,
    ModelReplied,
    State,
    Step,
    ToolReturned,
    Usage,
    frames_inside,
)
from ..models import cost_at, noticing_retries
from ..secrets import without_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opentelemetry.metrics import Histogram, Meter, MeterProvider
    from opentelemetry.trace import Span, TracerProvider

_TOKENS = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cached_tokens": "gen_ai.usage.cache_read.input_tokens",
    "reasoning_tokens": "gen_ai.usage.reasoning.output_tokens",
}
_SETTINGS = {
    "frequencyPenalty": "gen_ai.request.frequency_penalty",
    "maxTokens": "gen_ai.request.max_tokens",
    "presencePenalty": "gen_ai.request.presence_penalty",
    "seed": "gen_ai.request.seed",
    "stop": "gen_ai.request.stop_sequences",
    "temperature": "gen_ai.request.temperature",
    "topP": "gen_ai.request.top_p",
}


class Telemetry:
    """Makes spans of runs; give it to `run` and the like as ``telemetry``.

    Args:
        tracer_provider: where the spans go; None for the tracer provider of the process.
        meter_provider: where the metrics go; None for the meter provider of the process.
        content: whether spans have what was said, and the arguments and results of tools.

    Attributes:
        meter: makes instruments for more metrics.
        metrics: what runs count and measure.

    Raises:
        ConfigurationError: the extra ``gram-agents[telemetry]`` is not installed.
    """

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        *,
        meter_provider: MeterProvider | None = None,
        content: bool = False,
    ) -> None:
        try:
            from opentelemetry import metrics, trace
        except ImportError:
            raise ConfigurationError(
                f"OpenTelemetry is not installed: {install('telemetry')}"
            ) from None
        kinds = (trace.TracerProvider, type(None))
        expect(tracer_provider, kinds, "tracer_provider", by="Telemetry")
        expect(
            meter_provider, (metrics.MeterProvider, type(None)), "meter_provider", by="Telemetry"
        )
        expect(content, bool, "content", by="Telemetry")
        self._trace = trace
        self._tracer = trace.get_tracer("gram-agents", tracer_provider=tracer_provider)
        self._content = content
        self.meter = metrics.get_meter("gram-agents", meter_provider=meter_provider)
        self.metrics = Metrics(self.meter)

    @contextmanager
    def submitting(self, agent: str) -> Iterator[None]:
        """The span of submitting a run; the run itself is in its trace, wherever it is driven."""
        kind = self._trace.SpanKind.PRODUCER
        with self._tracer.start_as_current_span(f"submit {agent}", kind=kind):
            yield

    @contextmanager
    def going_on(self, trace: str | None) -> Iterator[None]:
        """Have the spans inside be in a trace that began elsewhere, see `current_trace`."""
        from opentelemetry.context import attach, detach
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        carrier = {} if trace is None else {"traceparent": trace}
        token = attach(TraceContextTextMapPropagator().extract(carrier))
        try:
            yield
        finally:
            detach(token)

    @contextmanager
    def running(self, state: Callable[[], State]) -> Iterator[RunSpans]:
        """The span of a run while it goes on; gives what makes the spans inside it.

        Args:
            state: the State of the run when it is asked.
        """
        first = state()
        span = self.invoking(first.agent, first.model)
        span.set_attribute("gen_ai.agent.id", first.run_id)
        if self._content:
            span.set_attribute("gen_ai.input.messages", _messages(first.context))
        inside = RunSpans(self, first, self.within(span))
        try:
            yield inside
        except GeneratorExit:
            raise
        except BaseException as error:  # the span says so, and it is raised again
            if not isinstance(error, ApprovalNeeded):  # it waits, which is no error
                self.failed(span, error)
            raise
        finally:
            inside.end_all()
            _set_usage(span, state().usage)
            if self._content and len(state().context) > len(first.context):
                span.set_attribute("gen_ai.output.messages", _messages(state().context[-1:]))
            span.end()

    def invoking(self, pattern: Pattern, model: Model | None, within: Any = None) -> Span:
        """The span of an agent or a workflow, begun inside another if it is given."""
        name, properties = pattern.value.identity, pattern.value.properties
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
        if model := model or (view(agent_model, pattern) if is_agent(pattern) else None):
            attributes |= {
                "gen_ai.provider.name": provider_name(model.provider),
                "gen_ai.request.model": model.name,
            }
        if description := properties.get("description"):
            attributes["gen_ai.agent.description"] = str(description)
        return self._tracer.start_span(
            f"invoke_agent {name}", context=within, attributes=attributes
        )

    def within(self, span: Span) -> Any:
        """The context in which spans are inside another."""
        return self._trace.set_span_in_context(span)

    def performing(self, effect: CallModel | CallTool, within: Any) -> AbstractContextManager[Span]:
        """The span of an effect, current while it is performed."""
        if isinstance(effect, CallModel):
            name, kind = f"chat {effect.request.model.name}", self._trace.SpanKind.CLIENT
        else:
            name, kind = f"execute_tool {effect.name}", self._trace.SpanKind.INTERNAL
        return self._tracer.start_as_current_span(
            name,
            context=within,
            kind=kind,
            attributes=self._asked(effect),
            record_exception=False,
            set_status_on_exception=False,
        )

    def answered(self, span: Span, event: Event) -> None:
        """Say in the span of an effect how it was answered."""
        match event:
            case ModelReplied():
                _set_usage(span, event.usage)
                if event.served_model:
                    span.set_attribute("gen_ai.response.model", event.served_model)
                _set_server(span, event.server)
                if event.finish_reason:
                    span.set_attribute("gen_ai.response.finish_reasons", [event.finish_reason])
                if self._content:
                    span.set_attribute(
                        "gen_ai.output.messages", _messages([event.message], event.finish_reason)
                    )
            case ToolReturned() if self._content:
                span.set_attribute("gen_ai.tool.call.result", event.result)
            case CallFailed():
                self.failed(span, event.exception, event.error)

    def failed(
        self,
        span: Span,
        error: BaseException | None,
        said: str | None = None,
        *,
        kind: str = "tool_error",
    ) -> None:
        """Mark a span as failed; what the error says is content.

        Args:
            span: the span.
            error: the exception, if there was one.
            said: what went wrong, if it is not what the exception says.
            kind: what kind of error it is, where there was no exception.
        """
        span.set_attribute("error.type", type(error).__qualname__ if error else kind)
        words = without_keys(said or str(error)) if self._content else None
        span.set_status(self._trace.StatusCode.ERROR, words)

    def _asked(self, effect: CallModel | CallTool) -> dict[str, Any]:
        if isinstance(effect, CallTool):
            found: dict[str, Any] = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": effect.name,
                "gen_ai.tool.type": "function",
            }
            return found | (
                {"gen_ai.tool.call.arguments": effect.arguments} if self._content else {}
            )
        request = effect.request
        found = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider_name(request.model.provider),
            "gen_ai.request.model": request.model.name,
            **dict(_settings(request.settings)),
        }
        if self._content:
            told = [{"type": "text", "content": request.instruction}]
            found |= {
                "gen_ai.system_instructions": write_json(told),
                "gen_ai.input.messages": _messages(request.messages),
            }
        return found


class RunSpans:
    """The spans inside that of a run: of its effects, and of the agents and workflows in it.

    Args:
        telemetry: what makes them.
        state: the State that the run goes on from.
        within: the context of the run's own span.
    """

    def __init__(self, telemetry: Telemetry, state: State, within: Any) -> None:
        self._telemetry, self._model, self._within = telemetry, state.model, within
        self._open: dict[At, _FrameSpan] = {}
        for frame in frames_inside(state):
            self._begin(frame)

    @contextmanager
    def performing(self, effect: Effect) -> Iterator[Callable[[Event], None]]:
        """The span of an effect, current while it is performed; gives what takes its answer."""
        if isinstance(effect, Ask):
            yield lambda _: None
            return
        frames = self._around(effect.at)
        within = frames[-1].within if frames else self._within
        began, metrics = monotonic(), self._telemetry.metrics
        with ExitStack() as around:
            span = around.enter_context(self._telemetry.performing(effect, within))
            if isinstance(effect, CallModel):
                model = effect.request.model
                around.enter_context(noticing_retries(lambda *_: metrics.retried(model)))

            def answered(event: Event) -> None:
                self._telemetry.answered(span, event)
                metrics.answered(effect, event, monotonic() - began)
                for each in frames:
                    each.usage += event.usage if isinstance(event, ModelReplied) else Usage(0, 0)

            try:
                yield answered
            except BaseException as error:  # the spans say so, and it is raised again
                if isinstance(error, Exception):
                    metrics.failed(effect, error, monotonic() - began)
                outer = [each.span for each in frames] if isinstance(error, Exception) else []
                for each in (span, *outer):
                    self._telemetry.failed(each, error)
                raise

    def happened(self, step: Step) -> None:
        """Begin and end the spans of the agents and workflows that a step begins and ends."""
        for each in step.happened:
            if isinstance(each, FrameBegun):
                self._begin(each)
            elif isinstance(each, Ended) and each.is_frame and each.at in self._open:
                ended = self._open.pop(each.at)
                if each.error is not None and not each.was_dropped:
                    self._telemetry.failed(ended.span, None, each.error, kind=f"{each.kind}_error")
                ended.end()

    def end_all(self) -> None:
        """End the spans of what is still open."""
        while self._open:
            self._open.popitem()[1].end()

    def _begin(self, begun: FrameBegun) -> None:
        frame, around = begun.frame, self._around(begun.at)
        pattern = frame.pattern
        within = around[-1].within if around else self._within
        span = self._telemetry.invoking(pattern, self._model, within)
        self._open[begun.at] = _FrameSpan(span, self._telemetry.within(span))

    def _around(self, at: At) -> list[_FrameSpan]:
        """The spans of the agents and workflows that a position is in, those around first."""
        places = [at[:size] for size in range(1, len(at))]
        return [self._open[place] for place in places if place in self._open]


@define
class _FrameSpan:
    """The span of an agent or a workflow inside a run."""

    span: Span
    within: Any
    usage: Usage = Usage(0, 0)

    def end(self) -> None:
        _set_usage(self.span, self.usage)
        self.span.end()


def current_trace() -> str | None:
    """The trace that the process is in, as ``traceparent`` of W3C writes it; None if in none."""
    if "opentelemetry" not in sys.modules:  # nobody makes spans
        return None
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier.get("traceparent")


def _settings(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        if name := _SETTINGS.get(key):
            plain = to_json_value(value)
            yield name, [plain] if key == "stop" and isinstance(plain, str) else plain


def _set_usage(span: Span, usage: Usage) -> None:
    for name, count in usage.details().items():
        span.set_attribute(_TOKENS[name], count)


def _set_server(span: Span, address: str) -> None:
    if address:
        parts = urlsplit(address)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
        span.set_attributes({"server.address": parts.hostname or "", "server.port": port or 0})


def _messages(messages: Any, finish_reason: str = "") -> str:
    """Messages as the JSON text of the conventions, without keys."""
    last = {"finish_reason": finish_reason} if finish_reason else {}
    return write_json([{**_message(each), **last} for each in messages])


def _message(message: Message) -> dict[str, Json]:
    if isinstance(message.role, FunctionRole):
        response = {"type": "tool_call_response", "id": message.call_id}
        return {"role": "tool", "parts": [{**response, "response": message.content}]}
    parts: list[Json] = []
    if message.content:
        parts.append({"type": "text", "content": message.content})
    for call in message.tool_calls:
        arguments = json_or_text(call.arguments)
        parts.append(
            {"type": "tool_call", "id": call.id, "name": call.name, "arguments": arguments}
        )
    return {"role": message.role.name, "parts": parts}


_SECOND_STEPS: Final = (
    0.01,
    0.02,
    0.04,
    0.08,
    0.16,
    0.32,
    0.64,
    1.28,
    2.56,
    5.12,
    10.24,
    20.48,
    40.96,
)
_TOKEN_STEPS: Final = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576)


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
        self._seconds = histogram(asked, "s", "Seconds of requests to models", _SECOND_STEPS)
        self._calls = histogram(called, "s", "Seconds of calls of tools", _SECOND_STEPS)
        used = "gen_ai.client.token.usage"
        self._tokens = histogram(used, "{token}", "Tokens of requests to models", _TOKEN_STEPS)
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
