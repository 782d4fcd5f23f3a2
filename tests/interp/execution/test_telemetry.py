"""Runs as OpenTelemetry spans, seen through the exporter of the SDK."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

import interp
from interp import ModelError, ScriptedModel, Telemetry, ToolLibrary, run
from interp.machine.messages import AssistantRole, Message
from interp.models.reply_reading import Reply
from lenses_ext import parse_program
from tests.interp.execution.test_recording import AGENT, CALLS, counting
from tests.interp.model_server import completion, tool_calls

LAST = completion({"content": "done"}, model="b-2026-01")


class Spans:
    """What a process exports."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))

    @property
    def ended(self) -> list[ReadableSpan]:
        return list(self._exporter.get_finished_spans())

    def named(self, name: str) -> ReadableSpan:
        """The first span with a name."""
        return next(each for each in self.ended if each.name == name)


@pytest.fixture
def spans() -> Spans:
    return Spans()


def attributes(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


def test_a_span_has_the_server_that_is_not_the_providers_own(spans: Spans) -> None:
    said = Reply(Message(AssistantRole, "hi"), server="https://proxy.test/v1")
    run(AGENT, "go", counting([]), model=ScriptedModel([said]), telemetry=Telemetry(spans.provider))
    found = attributes(spans.named("chat b"))
    assert (found["server.address"], found["server.port"]) == ("proxy.test", 443)


def test_a_run_is_a_span_with_its_requests_and_calls_inside(spans: Spans) -> None:
    model = ScriptedModel([CALLS, LAST])
    run(AGENT, "go", counting([]), model=model, telemetry=Telemetry(spans.provider))

    agent = spans.named("invoke_agent counter")
    inside = [each for each in spans.ended if each is not agent]
    assert [each.name for each in inside] == ["chat b", *["execute_tool add"] * 2, "chat b"]
    assert agent.context is not None
    assert {each.parent.span_id for each in inside if each.parent} == {agent.context.span_id}
    assert {each.kind for each in inside} == {SpanKind.CLIENT, SpanKind.INTERNAL}
    assert attributes(inside[-1]) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "a",
        "gen_ai.request.model": "b",
        "gen_ai.response.model": "b-2026-01",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
    }
    assert attributes(inside[1])["gen_ai.tool.name"] == "add"
    assert attributes(agent)["gen_ai.agent.name"] == "counter"


@pytest.mark.parametrize("words", [False, True])
def test_async_runs_and_streams_have_the_same_spans(spans: Spans, words: bool) -> None:
    async def watch() -> None:
        model = ScriptedModel([CALLS, LAST])
        begun = interp.begin(
            AGENT, "go", counting([]), model=model, telemetry=Telemetry(spans.provider)
        )
        async for _ in begun.astream(words=words):
            pass

    with spans.provider.get_tracer("mine").start_as_current_span("mine"):
        asyncio.run(watch())

    mine, agent = spans.named("mine"), spans.named("invoke_agent counter")
    assert agent.parent == mine.context
    assert len(spans.ended) == 6
    assert all(each.parent for each in spans.ended if each is not mine)


def test_what_a_tool_does_is_inside_its_span(spans: Spans) -> None:
    @interp.tool
    def add(x: int) -> int:
        """Adds one."""
        with spans.provider.get_tracer("mine").start_as_current_span("inside"):
            return x + 1

    for running in (
        lambda **more: run(AGENT, "go", ToolLibrary.of(add), **more),
        lambda **more: asyncio.run(interp.arun(AGENT, "go", ToolLibrary.of(add), **more)),
    ):
        running(model=ScriptedModel([CALLS, LAST]), telemetry=Telemetry(spans.provider))

    ids = {each.context.span_id: each.name for each in spans.ended if each.context}
    inside = [each for each in spans.ended if each.name == "inside"]
    assert [ids[each.parent.span_id] for each in inside if each.parent] == ["execute_tool add"] * 4


def test_content_is_left_out_unless_it_is_asked_for(spans: Spans) -> None:
    said = "secret words"
    other = Spans()
    for kept, content in ((spans, False), (other, True)):
        telemetry = Telemetry(kept.provider, content=content)
        run(AGENT, said, counting([]), model=ScriptedModel([CALLS, said]), telemetry=telemetry)

    assert "secret words" not in str([attributes(each) for each in spans.ended])
    last, agent = other.ended[-2:]
    assert json.loads(str(attributes(last)["gen_ai.output.messages"])) == [
        {"role": "assistant", "parts": [{"type": "text", "content": "secret words"}]}
    ]
    asked = json.loads(str(attributes(last)["gen_ai.input.messages"]))
    assert [each["role"] for each in asked] == ["user", "assistant", "tool", "tool"]
    results = [attributes(each) for each in other.ended if each.name == "execute_tool add"]
    assert sorted(str(each["gen_ai.tool.call.result"]) for each in results) == ["1", "2"]
    assert "secret words" in str(attributes(agent))


def test_errors_mark_the_spans_they_happened_in(spans: Spans) -> None:
    @interp.tool
    def add(x: int) -> int:
        """Adds one."""
        raise ZeroDivisionError("secret words")

    model = ScriptedModel([CALLS, ModelError("down")])
    with pytest.raises(ModelError):
        run(AGENT, "go", ToolLibrary.of(add), model=model, telemetry=Telemetry(spans.provider))

    failed = {each.name: attributes(each).get("error.type") for each in spans.ended}
    assert failed == {
        "chat b": "ModelError",
        "execute_tool add": "ZeroDivisionError",
        "invoke_agent counter": "ModelError",
    }
    assert spans.named("execute_tool add").status.status_code is StatusCode.ERROR
    assert "secret words" not in str([each.to_json() for each in spans.ended])


def test_a_run_that_waits_for_approval_has_not_failed(spans: Spans, tmp_path: Path) -> None:
    file = tmp_path / "run.gram"
    telemetry = Telemetry(spans.provider)
    with pytest.raises(interp.ApprovalNeeded):
        run(
            AGENT, "go", counting([]), model=ScriptedModel([CALLS]), policy=interp.ask_all,
            record=file, telemetry=telemetry,
        )  # fmt: skip
    assert [each.status.status_code for each in spans.ended] == [StatusCode.UNSET] * 2

    model = ScriptedModel([LAST])
    interp.resume_run(file, counting([]), model=model, approve=lambda _: True, telemetry=telemetry)

    ids = [attributes(each).get("gen_ai.agent.id") for each in spans.ended]
    assert [each for each in ids if each] == [interp.load_run(file).first.run_id] * 2


TEAM = parse_program("""
[both:Workflow {description: "Both"} | desk, look]
[desk:Agent {instruction: "Ask.", model: "a/desk"} | helper]
(helper:Agent {instruction: "Help.", model: "a/helper"})
(look:Agent {instruction: "Look.", model: "a/look"})
""")


class Team:
    """A model that answers by its name: the desk calls the helper once."""

    def complete(self, request: Any) -> object:
        """The reply."""
        if request.model.name == "desk" and len(request.messages) == 1:
            return tool_calls(("1", "helper", {"input": "x"}))
        return completion({"content": request.model.name})

    async def acomplete(self, request: Any) -> object:
        """The reply, after the others had their turn."""
        await asyncio.sleep(0)
        return self.complete(request)


@pytest.mark.parametrize("is_async", [False, True])
def test_agents_and_workflows_inside_have_spans_around_what_they_do(
    spans: Spans, is_async: bool
) -> None:
    options: Any = {"agent": "both", "model": Team(), "telemetry": Telemetry(spans.provider)}
    if is_async:
        asyncio.run(interp.arun(TEAM, "go", **options))
    else:
        run(TEAM, "go", **options)

    names = {each.context.span_id: each.name for each in spans.ended if each.context}
    parents = [
        (each.name, names[each.parent.span_id] if each.parent else None) for each in spans.ended
    ]
    assert sorted(parents, key=str) == [
        ("chat desk", "invoke_agent desk"),
        ("chat desk", "invoke_agent desk"),
        ("chat helper", "invoke_agent helper"),
        ("chat look", "invoke_agent look"),
        ("invoke_agent both", None),
        ("invoke_agent desk", "invoke_agent both"),
        ("invoke_agent helper", "invoke_agent desk"),
        ("invoke_agent look", "invoke_agent both"),
    ]
    by_id = {each.context.span_id: each for each in spans.ended if each.context}
    for each in spans.ended:
        if each.parent:
            around = by_id[each.parent.span_id]
            assert around.start_time <= each.start_time <= each.end_time <= around.end_time
    helper = attributes(spans.named("invoke_agent helper"))
    assert helper["gen_ai.request.model"] == "helper"
    assert helper["gen_ai.usage.input_tokens"] == 10


class Failing(Team):
    """A team whose helper fails."""

    def __init__(self, failure: Any) -> None:
        self._failure = failure

    def complete(self, request: Any) -> object:
        """The reply, or what fails."""
        if request.model.name != "helper":
            return super().complete(request)
        if isinstance(self._failure, Exception):
            raise self._failure
        return completion(self._failure)


@pytest.mark.parametrize(
    ("failure", "marked"),
    [
        ({"content": None, "refusal": "I won't"}, {"invoke_agent helper": "agent_error"}),
        (
            ModelError("down"),
            dict.fromkeys(
                ["chat helper", *(f"invoke_agent {each}" for each in ("helper", "desk", "both"))],
                "ModelError",
            ),
        ),
    ],
)
def test_the_span_of_an_agent_inside_that_fails_is_marked(
    spans: Spans, failure: Any, marked: dict[str, str]
) -> None:
    team = parse_program(TEAM.text.replace("| desk, look]", "| desk]"))
    telemetry = Telemetry(spans.provider)
    with suppress(ModelError):
        run(team, "go", agent="both", model=Failing(failure), telemetry=telemetry)

    found = {each.name: attributes(each).get("error.type") for each in spans.ended}
    assert {name: kind for name, kind in found.items() if kind} == marked
    status = spans.named("invoke_agent helper").status
    assert status.status_code is StatusCode.ERROR
    assert not status.description


def test_without_a_provider_spans_go_to_that_of_the_process() -> None:
    response = run(AGENT, "go", counting([]), model=ScriptedModel(["done"]), telemetry=Telemetry())
    assert response.content == "done"
    assert trace.get_current_span() is trace.INVALID_SPAN
