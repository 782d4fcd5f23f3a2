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
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from attrs import define

from gram import Pattern
from gram.errors import expect
from gram.extras import install
from lenses_ext import Model, agent_model, is_agent, view
from lenses_ext.schemas import to_json_value

from .. import machine
from ..errors import ApprovalNeeded, ConfigurationError
from ..json_text import Json, json_or_text, write_json
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
        trace: OpenTelemetry's module of traces.
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
            told = f"OpenTelemetry is not installed: {install('telemetry')}"
            raise ConfigurationError(told) from None
        none = type(None)
        expect(tracer_provider, (trace.TracerProvider, none), "tracer_provider", by="Telemetry")
        expect(meter_provider, (metrics.MeterProvider, none), "meter_provider", by="Telemetry")
        expect(content, bool, "content", by="Telemetry")
        self.trace, self.content = trace, content
        self.tracer = trace.get_tracer("gram-agents", tracer_provider=tracer_provider)
        self.meter = metrics.get_meter("gram-agents", meter_provider=meter_provider)
        self.metrics = Metrics(self.meter)

    @contextmanager
    def submitting(self, agent: str) -> Iterator[None]:
        """The span of submitting a run; the run itself is in its trace, wherever it is driven."""
        kind = self.trace.SpanKind.PRODUCER
        with self.tracer.start_as_current_span(f"submit {agent}", kind=kind):
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
    def running(self, state: Callable[[], machine.State]) -> Iterator[RunSpans]:
        """The span of a run while it goes on; gives what makes the spans inside it.

        Args:
            state: the State of the run when it is asked.
        """
        first = state()
        spans = RunSpans(self, first)
        span = spans.begin((), first.agent)
        span.set_attribute("gen_ai.agent.id", first.run_id)
        if self.content:
            span.set_attribute("gen_ai.input.messages", _messages(first.context))
        for frame in machine.frames_inside(first):
            spans.begin(frame.at, frame.frame.pattern)
        try:
            yield spans
        except GeneratorExit:
            raise
        except BaseException as error:  # the span says so, and it is raised again
            if not isinstance(error, ApprovalNeeded):  # it waits, which is no error
                self.failed(span, error)
            raise
        finally:
            if self.content and len(state().context) > len(first.context):
                span.set_attribute("gen_ai.output.messages", _messages(state().context[-1:]))
            spans.end_all(state().usage)

    def failed(self, span: Span, error: BaseException | str, said: str = "") -> None:
        """Mark a span as failed; what the error says is content.

        Args:
            span: the span.
            error: the exception, or what kind of error it is where there was none.
            said: what went wrong, if it is not what the exception says.
        """
        kind = error if isinstance(error, str) else type(error).__qualname__
        span.set_attribute("error.type", kind)
        words = without_keys(said or str(error)) if self.content else None
        span.set_status(self.trace.StatusCode.ERROR, words)


class RunSpans:
    """The spans of a run: its own, those of the agents and workflows in it, and of its effects."""

    def __init__(self, telemetry: Telemetry, state: machine.State) -> None:
        self._telemetry, self._model = telemetry, state.model
        self._open: dict[machine.At, _FrameSpan] = {}

    @contextmanager
    def performing(self, effect: machine.Effect) -> Iterator[Callable[[machine.Event], None]]:
        """The span of an effect, current while it is performed; gives what takes its answer."""
        if isinstance(effect, machine.Ask):
            yield lambda _: None
            return
        telemetry, metrics = self._telemetry, self._telemetry.metrics
        kinds = telemetry.trace.SpanKind
        frames, began = self._around(effect.at), monotonic()
        noticing: AbstractContextManager[object] = nullcontext()
        if isinstance(effect, machine.CallModel):
            model = effect.request.model
            name, kind = f"chat {model.name}", kinds.CLIENT
            noticing = noticing_retries(lambda *_: metrics.retried(model))
        else:
            name, kind = f"execute_tool {effect.name}", kinds.INTERNAL
        asked = _asked(effect, content=telemetry.content)
        start = telemetry.tracer.start_as_current_span
        ours: Any = {"record_exception": False, "set_status_on_exception": False}  # done below
        with noticing, start(name, frames[-1].within, kind, asked, **ours) as span:

            def answered(event: machine.Event) -> None:
                self._answered(span, event)
                metrics.answered(effect, event, monotonic() - began)
                if isinstance(event, machine.ModelReplied):
                    for each in frames:
                        each.usage += event.usage

            try:
                yield answered
            except BaseException as error:  # the spans say so, and it is raised again
                telemetry.failed(span, error)
                if isinstance(error, Exception):
                    metrics.failed(effect, error, monotonic() - began)
                    for each in frames[1:]:  # the run goes on without what is not waited for
                        telemetry.failed(each.span, error)
                raise

    def _answered(self, span: Span, event: machine.Event) -> None:
        content = self._telemetry.content
        match event:
            case machine.ModelReplied():
                _set_usage(span, event.usage)
                if event.served_model:
                    span.set_attribute("gen_ai.response.model", event.served_model)
                if event.server:
                    parts = urlsplit(event.server)
                    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
                    span.set_attribute("server.address", parts.hostname or "")
                    span.set_attribute("server.port", port)
                if reason := event.finish_reason:
                    span.set_attribute("gen_ai.response.finish_reasons", [reason])
                if content:
                    said = _messages([event.message], event.finish_reason)
                    span.set_attribute("gen_ai.output.messages", said)
            case machine.ToolReturned() if content:
                span.set_attribute("gen_ai.tool.call.result", event.result)
            case machine.CallFailed():
                self._telemetry.failed(span, event.exception or "tool_error", event.error)

    def happened(self, step: machine.Step) -> None:
        """Begin and end the spans of the agents and workflows that a step begins and ends."""
        for each in step.happened:
            if isinstance(each, machine.AgentStarted):
                self.begin(each.at, each.frame.pattern)
            elif isinstance(each, machine.AgentFinished) and each.at in self._open:
                ended = self._open.pop(each.at)
                if each.error is not None and not each.was_dropped:
                    self._telemetry.failed(ended.span, f"{each.kind}_error", each.error)
                ended.end()

    def end_all(self, usage: machine.Usage) -> None:
        """End the spans of what is still open, the run's with all that it has used."""
        self._open[()].usage = usage
        while self._open:
            self._open.popitem()[1].end()

    def begin(self, at: machine.At, pattern: Pattern) -> Span:
        """Begin the span of the agent or workflow at a place, inside those around it."""
        name, properties = pattern.value.identity, pattern.value.properties
        model = self._model or (view(agent_model, pattern) if is_agent(pattern) else None)
        attributes = {"gen_ai.agent.name": name, **(_about(model) if model else {})}
        attributes["gen_ai.operation.name"] = "invoke_agent"
        if description := properties.get("description"):
            attributes["gen_ai.agent.description"] = str(description)
        tracer, around = self._telemetry.tracer, self._around(at)
        within = around[-1].within if around else None
        span = tracer.start_span(f"invoke_agent {name}", within, attributes=attributes)
        self._open[at] = _FrameSpan(span, self._telemetry.trace.set_span_in_context(span))
        return span

    def _around(self, at: machine.At) -> list[_FrameSpan]:
        """The spans of the run and of all in it that a position is in, those around first."""
        places = (at[:size] for size in range(len(at)))
        return [self._open[place] for place in places if place in self._open]


@define
class _FrameSpan:
    span: Span
    within: Any
    usage: machine.Usage = machine.Usage(0, 0)

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


def _asked(effect: machine.CallModel | machine.CallTool, *, content: bool) -> dict[str, Any]:
    """The attributes of the span of an effect."""
    found: dict[str, Any]
    if isinstance(effect, machine.CallTool):
        found = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": effect.name}
        said = {"gen_ai.tool.call.arguments": effect.arguments} if content else {}
        return {**found, "gen_ai.tool.type": "function", **said}
    request = effect.request
    found = {**_about(request.model)}
    for key, value in request.settings.items():
        if name := _SETTINGS.get(key):
            plain = to_json_value(value)
            found[name] = [plain] if key == "stop" and isinstance(plain, str) else plain
    if content:
        told = [{"type": "text", "content": request.instruction}]
        found["gen_ai.system_instructions"] = write_json(told)
        found["gen_ai.input.messages"] = _messages(request.messages)
    return found


def _set_usage(span: Span, usage: machine.Usage) -> None:
    for name, count in usage.details().items():
        span.set_attribute(_TOKENS[name], count)


def _messages(messages: Any, finish_reason: str = "") -> str:
    """Messages as the JSON text of the conventions, without keys."""
    last = {"finish_reason": finish_reason} if finish_reason else {}
    return write_json([{**_message(each), **last} for each in messages])


def _message(message: machine.Message) -> dict[str, Json]:
    if isinstance(message.role, machine.FunctionRole):
        response = {"type": "tool_call_response", "id": message.call_id}
        return {"role": "tool", "parts": [{**response, "response": message.content}]}
    parts: list[Json] = [{"type": "text", "content": message.content}] if message.content else []
    for call in message.tool_calls:
        called = {"id": call.id, "name": call.name, "arguments": json_or_text(call.arguments)}
        parts.append({"type": "tool_call", **called})
    return {"role": message.role.name, "parts": parts}


_SECOND_STEPS: Final = [0.01 * 2**step for step in range(13)]
_TOKEN_STEPS: Final = [4**step for step in range(11)]


class Metrics:
    """The instruments of runs."""

    def __init__(self, meter: Meter) -> None:
        def histogram(name: str, unit: str, description: str, bounds: Sequence[float]) -> Histogram:
            how = {"unit": unit, "description": description}
            return meter.create_histogram(name, explicit_bucket_boundaries_advisory=bounds, **how)

        asked, called = "gen_ai.client.operation.duration", "gram.tool.duration"
        self._seconds = histogram(asked, "s", "Seconds of requests to models", _SECOND_STEPS)
        self._calls = histogram(called, "s", "Seconds of calls of tools", _SECOND_STEPS)
        used = "gen_ai.client.token.usage"
        self._tokens = histogram(used, "{token}", "Tokens of requests to models", _TOKEN_STEPS)
        cost = "What requests have cost, as far as is known"
        self._cost = meter.create_counter("gram.model.cost", "USD", cost)
        self._retries = meter.create_counter("gram.model.retries", "", "Requests sent again")
        self._failures = meter.create_counter("gram.tool.failures", "", "Calls that failed")

    def answered(
        self, effect: machine.CallModel | machine.CallTool, event: machine.Event, seconds: float
    ) -> None:
        """Count a request or a call that was answered."""
        if isinstance(effect, machine.CallTool):
            tool = {"gen_ai.tool.name": effect.name}
            self._calls.record(seconds, tool)
            if isinstance(event, machine.CallFailed):
                self._failures.add(1, tool)
        elif isinstance(event, machine.ModelReplied):
            model, usage = event.model or effect.request.model, event.usage
            about = _about(model)
            self._seconds.record(seconds, about)
            for kind, count in (("input", usage.input_tokens), ("output", usage.output_tokens)):
                if count is not None:
                    self._tokens.record(count, {**about, "gen_ai.token.type": kind})
            cost = cost_at({model: event.server})(model, usage)
            if cost is not None:
                self._cost.add(float(cost), about)

    def failed(
        self, effect: machine.CallModel | machine.CallTool, error: BaseException, seconds: float
    ) -> None:
        """Count a request or a call that raised."""
        if isinstance(effect, machine.CallModel):
            about = _about(effect.request.model)
            self._seconds.record(seconds, {**about, "error.type": type(error).__qualname__})
        else:
            self._failures.add(1, {"gen_ai.tool.name": effect.name})

    def retried(self, model: Model) -> None:
        """Count a request that is sent again."""
        self._retries.add(1, _about(model))


def _about(model: Model) -> dict[str, str]:
    """What the conventions say of a model; their names of providers are in small letters."""
    provider = {"Google": "gcp.gemini"}.get(model.provider, model.provider.lower())
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model.name,
    }
