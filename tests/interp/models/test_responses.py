"""Responses over a real server: whole runs, what is sent again, and what is remembered."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from gram import Pattern
from interp import (
    ConfigurationError,
    ModelError,
    ReasoningDelta,
    TextDelta,
    connect_model,
    hello_world_tool_library,
    load_run,
    run,
    stream,
)
from interp.models.openai_model import OpenAIModel
from tests.interp.four_ways import WAYS, ask
from tests.interp.model_server import CHAT, RESPONSES, Answer, ModelServer, tool_calls

GREET = tool_calls(("c1", "sayHello", {"personName": "Al"})) | {"reasoning": "A greeting."}
THINKING = {"content": "Hello, Al!", "reasoning": "Al is the name."}


@pytest.mark.parametrize("way", WAYS)
def test_the_four_ways_ask_in_responses(model_server: ModelServer, way: str) -> None:
    model_server.will_say(THINKING)

    *pieces, reply = ask(OpenAIModel(model_server.url, "key", "responses"), way)

    assert model_server.paths == [RESPONSES]
    assert (reply.message.content, reply.reasoning) == ("Hello, Al!", "Al is the name.")
    assert bool(pieces) == ("stream" in way)


def test_a_run_sends_the_reasoning_back_before_the_call_that_it_led_to(
    model_server: ModelServer, hello_world: Pattern
) -> None:
    model_server.will_say(GREET, THINKING)

    response = run(hello_world, "I'm Al", hello_world_tool_library, dialect="responses")

    assert response.content == "Hello, Al!"
    sent = model_server.requests[1]["input"]
    assert [each.get("type") for each in sent] == [
        None,
        "reasoning",
        "function_call",
        "function_call_output",
    ]
    assert sent[1]["encrypted_content"] == "c2VhbGVk"
    assert sent[2]["call_id"] == sent[3]["call_id"] == "c1"


def test_reasoning_is_observed_recorded_and_replayed(
    model_server: ModelServer, hello_world: Pattern, tmp_path: Path
) -> None:
    model_server.will_say(GREET, THINKING)
    record = tmp_path / "a.run.gram"

    seen = list(
        stream(hello_world, "I'm Al", hello_world_tool_library, dialect="responses", record=record)
    )

    thought = [each.text for each in seen if isinstance(each, ReasoningDelta) and each.at == (1,)]
    assert "".join(thought) == "Al is the name."
    said = [each.text for each in seen if isinstance(each, TextDelta) and each.at == (1,)]
    assert "".join(said) == "Hello, Al!"
    kept = load_run(record)
    assert kept.steps[0].event.reasoning == "A greeting."  # type: ignore[union-attr]  # a reply


def test_a_server_that_refuses_encrypted_reasoning_is_asked_without_it_from_then_on(
    model_server: ModelServer, hello_world: Pattern
) -> None:
    refusal = {"error": {"message": "Encrypted content is not supported with this model."}}
    model_server.will_say(Answer(refusal, 400), GREET, "Hello!", "Again!")

    def asked() -> None:
        run(hello_world, "I'm Al", hello_world_tool_library, dialect="responses")

    asked()
    asked()

    assert ["include" in each for each in model_server.requests] == [True, False, False, False]
    assert "c2VhbGVk" not in json.dumps(model_server.requests[2])


def test_the_same_refusal_twice_is_an_error(
    model_server: ModelServer, hello_world: Pattern
) -> None:
    refusal = {"error": {"message": "Encrypted content is not supported with this model."}}
    model_server.will_say(Answer(refusal, 400), Answer(refusal, 400))

    with pytest.raises(ModelError, match="not supported with this model"):
        run(hello_world, "hi", hello_world_tool_library, dialect="responses")

    assert len(model_server.requests) == 2


def test_a_stream_that_breaks_before_its_first_word_is_asked_for_again(
    model_server: ModelServer,
) -> None:
    begun = {"type": "response.created", "response": {"status": "in_progress", "output": []}}
    busy = {"type": "error", "code": "rate_limit_exceeded", "message": "Slow down"}
    model_server.will_say(Answer(events=[begun], drop=True), Answer(events=[begun, busy]), THINKING)

    *_, reply = ask(OpenAIModel(model_server.url, "key", "responses"), "stream")

    assert reply.message.content == "Hello, Al!"
    assert len(model_server.requests) == 3


def test_openai_itself_is_asked_in_responses_and_others_in_chat(
    monkeypatch: pytest.MonkeyPatch, hello_world: Pattern
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")

    def path(**options: str) -> str:
        model = connect_model("OpenAI/m", **options)  # type: ignore[arg-type]  # a dialect, an address
        assert isinstance(model, OpenAIModel)
        return f"/v1{model._wire.path}"

    assert path() == RESPONSES
    assert path(base_url="https://eu.api.openai.com/v1") == RESPONSES
    assert path(base_url="http://127.0.0.1:1/v1") == CHAT
    assert path(base_url="https://api.openai.com.example.org/v1") == CHAT
    assert path(base_url="http://127.0.0.1:1/v1", dialect="responses") == RESPONSES
    assert path(dialect="tools") == CHAT
    monkeypatch.setenv("OPENAI_DIALECT", "tools")
    assert path() == CHAT
    assert path(dialect="responses") == RESPONSES


def test_a_dialect_that_is_not_known_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    monkeypatch.setenv("OPENAI_DIALECT", "chat")

    with pytest.raises(ConfigurationError, match="OPENAI_DIALECT must be one of responses, tools"):
        connect_model("OpenAI/m")


def test_a_server_without_the_api_is_told_of(
    model_server: ModelServer, hello_world: Pattern
) -> None:
    model_server.speaks = (CHAT,)
    model_server.will_say("never")

    with pytest.raises(ModelError, match="--dialect tools is Chat Completions"):
        run(hello_world, "hi", hello_world_tool_library, dialect="responses")


def test_the_log_shows_reasoning_and_no_keys(
    model_server: ModelServer,
    hello_world: Pattern,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-0123456789abcdef")
    model_server.will_say(THINKING | {"reasoning": "The key is sk-proj-0123456789abcdef."})

    with caplog.at_level(logging.DEBUG, logger="interp"):
        response = run(hello_world, "hi", hello_world_tool_library, dialect="responses")

    assert response.content == "Hello, Al!"
    assert "The key is" in caplog.text
    assert "0123456789" not in caplog.text
