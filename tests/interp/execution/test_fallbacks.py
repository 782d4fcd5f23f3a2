"""Several models: the next is asked where one cannot be, and the run stays with who answered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import interp
from gram import Pattern, loads_one
from interp.errors import ReplayError
from interp.history.stores import open_store
from interp.machine import ModelReplied
from interp.views import lines
from lenses_ext import Model, agent_models, put
from tests.interp.model_server import Answer, ModelServer, serving, tool_calls

AGENT = """
[a:Agent {instruction: "Greet.", model: ["First/m", "Second/n"]} |
  [sayHello:ToolSpecification {
    description: "Returns a friendly greeting message for the given name"
  } |
    (personName::Text {default: "world"})==>(::String)]]
"""
BUSY = Answer({"error": {"message": "Overloaded"}}, 529, {"retry-after": "0"})
CALL = tool_calls(("c1", "sayHello", {"personName": "Al"}))


Two = tuple[ModelServer, ModelServer]


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Two]:
    """The servers of the two providers."""
    with serving() as first, serving() as second:
        for name, server in (("FIRST", first), ("SECOND", second)):
            monkeypatch.setenv(f"{name}_BASE_URL", server.url)
            monkeypatch.setenv(f"{name}_API_KEY", "a-key-of-a-test")
        yield first, second


@pytest.fixture
def agent() -> Pattern:
    return loads_one(AGENT)


def asked(server: ModelServer) -> list[str]:
    return [request["model"] for request in server.requests]


PASSED: dict[str, list[Answer]] = {
    "overloaded after its retries": [BUSY] * 3,
    "a wait that is too long": [Answer({"error": {"message": "b"}}, 429, {"retry-after": "900"})],
    "unknown to its server": [Answer({"error": {"message": "no such model"}}, 404)],
    "unknown by its code": [
        Answer({"error": {"message": "m does not exist", "code": "model_not_found"}}, 400)
    ],
    "broken off each time": [Answer(raw=b"{", drop=True)] * 3,
}


@pytest.mark.parametrize("answers", PASSED.values(), ids=PASSED)
def test_the_next_model_is_asked_where_one_cannot_be(
    agent: Pattern, servers: Two, answers: list[Answer]
) -> None:
    first, second = servers
    first.will_say(*answers)
    second.will_say("Hello!")
    response = interp.run(agent, "hi", interp.hello_world_tool_library)
    assert response.content == "Hello!"
    assert asked(second) == ["n"]
    assert len(first.requests) == len(answers)


REFUSED: dict[str, Answer] = {
    "a bad request": Answer({"error": {"message": "bad"}}, 400),
    "a wrong key": Answer({"error": {"message": "Incorrect API key"}}, 401),
    "no money": Answer({"error": {"message": "pay", "code": "insufficient_quota"}}, 429),
    "no reply": Answer({"choices": []}),
}


@pytest.mark.parametrize("answer", REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_not_asked_of_another(
    agent: Pattern, servers: Two, answer: Answer
) -> None:
    first, second = servers
    first.will_say(answer)
    with pytest.raises((interp.ModelError, interp.ConfigurationError)):
        interp.run(agent, "hi", interp.hello_world_tool_library)
    assert not second.requests


def test_a_model_that_refuses_is_an_answer(agent: Pattern, servers: Two) -> None:
    first, second = servers
    first.will_say({"role": "assistant", "content": None, "refusal": "No."})
    assert interp.run(agent, "hi", interp.hello_world_tool_library).refused
    assert not second.requests


def test_nobody_else_is_asked_once_a_word_was_shown(agent: Pattern, servers: Two) -> None:
    first, second = servers
    word = {"choices": [{"delta": {"content": "Hel"}}]}
    first.will_say(Answer(events=[word], drop=True))
    seen: list[Any] = []
    with pytest.raises(interp.ModelError):
        seen.extend(interp.stream(agent, "hi", interp.hello_world_tool_library))
    assert not second.requests


def test_a_stream_goes_to_the_next_before_its_first_word(agent: Pattern, servers: Two) -> None:
    first, second = servers
    first.will_say(*[BUSY] * 3)
    second.will_say("Hello!")
    seen = list(interp.stream(agent, "hi", interp.hello_world_tool_library))
    assert "".join(each.text for each in seen if isinstance(each, interp.TextDelta)) == "Hello!"


def test_a_run_stays_with_the_model_that_answered(agent: Pattern, servers: Two) -> None:
    first, second = servers
    first.will_say(*[BUSY] * 3)
    second.will_say(CALL, "Hello, Al!")
    response = asyncio.run(interp.arun(agent, "I'm Al", interp.hello_world_tool_library))
    assert response.content == "Hello, Al!"
    assert len(first.requests) == 3
    assert asked(second) == ["n", "n"]


def test_a_run_goes_on_where_the_model_that_answered_cannot_be_asked(
    agent: Pattern, servers: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = servers
    first.will_say(*[BUSY] * 3, "Hello, Al!")
    second.will_say(CALL)
    limits = {"iterations": 0}
    with pytest.raises(interp.LimitError) as stopped:
        interp.run(agent, "I'm Al", interp.hello_world_tool_library, limits=limits)

    for name in ("SECOND_BASE_URL", "SECOND_API_KEY"):
        monkeypatch.delenv(name)
    state, library, replied = stopped.value.state, interp.hello_world_tool_library, list[Any]()
    goes_on: Any = {"limits": {"iterations": 1}, "observe": lambda _, event: replied.append(event)}
    assert interp.resume_run(state, library, **goes_on).content == "Hello, Al!"
    assert [str(each.model) for each in replied if isinstance(each, ModelReplied)] == ["First/m"]


def test_the_first_is_asked_again_where_the_one_that_answered_fails(
    agent: Pattern, servers: Two
) -> None:
    first, second = servers
    first.will_say(*[BUSY] * 3, "Hello again!")
    second.will_say(CALL, *[BUSY] * 3)
    assert interp.run(agent, "I'm Al", interp.hello_world_tool_library).content == "Hello again!"


def test_where_none_answers_the_error_is_that_of_the_last_and_tells_of_the_others(
    agent: Pattern, servers: Two
) -> None:
    first, second = servers
    first.will_say(*[BUSY] * 3)
    second.will_say(Answer({"error": {"message": "gone"}}, 404))
    with pytest.raises(interp.ModelError, match="gone") as raised:
        interp.run(agent, "hi", interp.hello_world_tool_library)
    assert "\n  before it, First/m gave no reply (" in str(raised.value)


def test_what_was_asked_and_why_is_recorded_and_replayed(
    agent: Pattern, servers: Two, tmp_path: Path
) -> None:
    first, second = servers
    first.will_say(*[BUSY] * 3)
    second.will_say(CALL, "Hello, Al!")
    store = open_store(str(tmp_path / "runs.db"))
    response = interp.run(agent, "I'm Al", interp.hello_world_tool_library, record=store)

    (row,) = store.rows()
    kept = store.recorded(row.id)

    assert row.facts.model == "First/m"

    event = kept.steps[0].event
    assert isinstance(event, ModelReplied)
    assert event.model == Model("Second", "n")
    ((model, why),) = event.tried
    assert model == Model("First", "m")
    assert "Overloaded" in why
    fewer = put(agent_models, (Model("First", "m"),), agent)
    with pytest.raises(ReplayError, match=r"\n-model: First/m, Second/n\n\+model: First/m\n"):
        interp.run(fewer, "I'm Al", interp.hello_world_tool_library, handler=interp.recorded(kept))
    *_, last = kept.stream()
    assert getattr(last, "response", None) == response
    entry = interp.timeline(kept).entries[0]
    assert entry.name == "Second/n"
    assert any(each.startswith("First/m: ") for each in entry.retries)
    told = [line for line in map(str, lines(interp.timeline(kept))) if "/" in line]
    assert any("sent again: First/m: " in line and "Overloaded" in line for line in told)
    assert any("from Second/n at http" in line for line in told)


def test_a_fallback_that_cannot_be_asked_is_told_and_left_out(
    agent: Pattern, servers: Two, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    first, _ = servers
    monkeypatch.delenv("SECOND_BASE_URL")
    first.will_say("Hello!")
    with caplog.at_level(logging.WARNING, logger="interp"):
        assert interp.run(agent, "hi", interp.hello_world_tool_library).content == "Hello!"
    assert "the fallback Second/n cannot be asked" in caplog.text


def test_fallbacks_of_a_call_are_written_into_its_program(
    servers: Two, hello_world: Pattern
) -> None:
    first, second = servers
    first.will_say(*[BUSY] * 3)
    second.will_say("Hello!")

    begun = interp.begin(
        hello_world, "hi", interp.hello_world_tool_library, model="First/m", fallbacks=["Second/n"]
    )

    assert begun.state.agent.value.properties["model"] == loads_one(AGENT).value.properties["model"]
    assert begun.finish().content == "Hello!"


@pytest.mark.parametrize("fallbacks", ["Second/n", [3], ["nobody"]])
def test_wrong_fallbacks_are_one_message(hello_world: Pattern, fallbacks: Any) -> None:
    with pytest.raises(interp.ConfigurationError):
        interp.run(hello_world, "hi", interp.hello_world_tool_library, fallbacks=fallbacks)


def test_an_override_is_asked_alone(agent: Pattern, servers: Two) -> None:
    first, second = servers
    second.will_say(*[BUSY] * 3)
    with pytest.raises(interp.ModelError, match="Overloaded"):
        interp.run(agent, "hi", interp.hello_world_tool_library, model="Second/n")
    assert not first.requests
