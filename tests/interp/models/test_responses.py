"""The Responses API: requests, items, whole runs over a real server, and what is remembered."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from gram import Pattern, loads_one
from interp import (
    ConfigurationError,
    Message,
    ModelError,
    OpenAIModel,
    ReasoningDelta,
    TextDelta,
    UserRole,
    connect_model,
    hello_world_tool_library,
    load_run,
    run,
    stream,
)
from interp.machine import (
    AssistantRole,
    CallModel,
    ConversationContext,
    FunctionRole,
    Request,
    ToolCall,
    start,
)
from interp.models.responses import items_of, read_response
from lenses_ext import Model, Settings
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


AGENT = """
[a:Agent {instruction: "Be kind.", model: "OpenAI/m", settings: {%s}} |
  [t:Tool {description: "Adds."} | (x::Integer)==>(y::Integer {default: 1})==>(::Integer)]%s]
"""


def request_of(settings: str = "", answer: str = "", said: str = "hi") -> Request:
    """The first request of a program."""
    _, (effect,), _ = start(loads_one(AGENT % (settings, answer)), said)
    assert isinstance(effect, CallModel)
    return effect.request


def model(address: str = "http://127.0.0.1:1/v1") -> OpenAIModel:
    return OpenAIModel(address, "k", "responses")


def test_nothing_is_kept_by_the_server_and_reasoning_is_asked_for() -> None:
    body = model().body(request_of())

    assert body["store"] is False
    assert body["include"] == ["reasoning.encrypted_content"]
    assert "previous_response_id" not in body
    assert body["instructions"] == "Be kind."
    assert body["input"] == [{"role": "user", "content": "hi"}]


def test_a_tool_is_flat_says_whether_it_is_strict_and_what_it_gives() -> None:
    (tool,) = model().body(request_of())["tools"]

    assert (tool["type"], tool["name"], tool["description"]) == ("function", "t", "Adds.")
    assert tool["strict"] is False
    assert tool["output_schema"] == {"type": "integer"}
    assert tool["parameters"]["required"] == ["x"]
    (strict,) = model().body(request_of('strictTools: "on"'))["tools"]
    assert (strict["strict"], strict["parameters"]["required"]) == (True, ["x", "y"])


def test_settings_are_fields_at_their_places() -> None:
    body = model().body(
        request_of(
            'maxTokens: 9, temperature: 0.5, topP: 0.5, reasoningEffort: "low", '
            'reasoningSummary: "auto", verbosity: "low", parallelToolCalls: false, '
            'extraBody: {service_tier: "flex"}'
        )
    )

    assert body["max_output_tokens"] == 9
    assert (body["temperature"], body["top_p"]) == (0.5, 0.5)
    assert body["reasoning"] == {"effort": "low", "summary": "auto"}
    assert body["text"] == {"verbosity": "low"}
    assert body["parallel_tool_calls"] is False
    assert body["service_tier"] == "flex"


def test_a_setting_without_a_field_is_left_out_and_told(caplog: pytest.LogCaptureFixture) -> None:
    body = model().body(request_of("seed: 3"))

    assert "seed" not in body
    assert "no field for the setting seed" in caplog.text


@pytest.mark.parametrize(
    ("choice", "sent"),
    [("auto", "auto"), ("required", "required"), ("t", {"type": "function", "name": "t"})],
)
def test_a_choice_of_tools_is_a_word_or_a_function(choice: str, sent: object) -> None:
    assert model().body(request_of(f'toolChoice: "{choice}"'))["tool_choice"] == sent


def test_a_declared_answer_is_a_format_of_the_text() -> None:
    body = model().body(request_of(answer=", (:Answer:Object)"))

    found = body["text"]["format"]
    assert (found["type"], found["name"], found["strict"]) == ("json_schema", "answer", False)
    assert found["schema"]["type"] == "object"


def test_calls_and_results_are_items_with_one_id() -> None:
    call = ToolCall("c1", "t", '{"x": 1}')
    said = [
        Message(AssistantRole, "One moment.", (call,)),
        Message(FunctionRole("t"), "2", call_id="c1"),
    ]
    request = request_of()
    body = model().body(
        Request(request.model, "x", request.messages + said, request.tools, Settings())
    )

    assert body["input"][1:] == [
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "One moment."}],
        },
        {"type": "function_call", "call_id": "c1", "name": "t", "arguments": '{"x": 1}'},
        {"type": "function_call_output", "call_id": "c1", "output": "2"},
    ]


def test_arguments_that_are_no_object_go_back_as_an_empty_one() -> None:
    said = [Message(AssistantRole, "", (ToolCall("c1", "t", '{"x": '),))]
    request = request_of()
    body = model().body(Request(request.model, "x", request.messages + said))

    assert body["input"][1]["arguments"] == "{}"


def test_the_bytes_are_the_json_of_the_body() -> None:
    asked = request_of('reasoningEffort: "low"', ", (:Answer:Object)", said="é\U0001f600")
    wire = model()._wire

    assert json.loads(wire.content(asked, streaming=False)) == wire.body(asked)
    streamed: dict[str, Any] = json.loads(wire.content(asked, streaming=True))
    assert streamed == wire.body(asked) | {"stream": True}


@pytest.mark.parametrize("field", ["input", "instructions", "store", "text", "include"])
def test_extra_fields_do_not_replace_those_that_a_run_depends_on(field: str) -> None:
    with pytest.raises(ValueError, match="extraBody"):
        Settings({"extraBody": {field: 1}})


REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbGVk"}
SAID = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "phase": "commentary",
    "content": [{"type": "output_text", "text": "One moment."}],
}
CALL = {
    "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "sayHello",
    "arguments": '{"personName": "Al"}',
}  # fmt: skip
ASKED = Request(Model("OpenAI", "m"), "x", ConversationContext([Message(UserRole, "hi")]))


def reply_of(*items: dict[str, Any]) -> Message:
    """What a server says in some items."""
    data = {"status": "completed", "output": list(items)}
    return read_response(data, ASKED, server="here").message


def test_a_reply_that_calls_tools_goes_back_as_it_came() -> None:
    message = reply_of(REASONING, SAID, CALL)

    assert items_of(message, "here", "m", True) == [REASONING, SAID, CALL]


@pytest.mark.parametrize(("server", "model"), [("there", "m"), ("here", "n")])
def test_another_server_or_model_gets_only_what_was_said(server: str, model: str) -> None:
    message = reply_of(REASONING, SAID, CALL)

    assert [each["type"] for each in items_of(message, server, model, True)] == [
        "message",
        "function_call",
    ]
    sent = json.dumps(items_of(message, server, model, True))
    assert "c2VhbGVk" not in sent
    assert "fc_1" not in sent


def test_reasoning_that_nobody_can_read_is_left_out() -> None:
    unreadable = {"type": "reasoning", "id": "rs_2", "summary": [{"text": "Hm"}]}
    plain = {
        "type": "reasoning",
        "id": "rs_3",
        "content": [{"type": "reasoning_text", "text": "H"}],
    }

    assert items_of(reply_of(unreadable, CALL), "here", "m", True) == [CALL]
    assert items_of(reply_of(plain, CALL), "here", "m", True) == [plain, CALL]


def test_where_encrypted_reasoning_is_refused_only_plain_reasoning_goes_back() -> None:
    both = {**REASONING, "content": [{"type": "reasoning_text", "text": "Hm"}]}

    assert items_of(reply_of(REASONING, CALL), "here", "m", False) == [CALL]
    (kept, _) = items_of(reply_of(both, CALL), "here", "m", False)
    assert "encrypted_content" not in kept


def test_an_edited_message_is_sent_as_it_is_now() -> None:
    edited = evolve(reply_of(REASONING, SAID, CALL), content="Wait.")

    sent = items_of(edited, "here", "m", True)

    assert sent[0]["content"] == [{"type": "output_text", "text": "Wait."}]
    assert "c2VhbGVk" not in json.dumps(sent)


def test_a_call_without_an_id_goes_back_with_the_one_that_its_result_names() -> None:
    nameless = {key: value for key, value in CALL.items() if key != "call_id"}
    message = reply_of(nameless, nameless)

    ids = [each["call_id"] for each in items_of(message, "here", "m", True)]

    assert ids == [call.id for call in message.tool_calls] == ["call_0", "call_1"]


def test_the_phase_of_an_answer_goes_back() -> None:
    message = reply_of(SAID)

    assert items_of(message, "here", "m", True) == [SAID]
    assert reply_of({**SAID, "phase": None}).echo is None


@pytest.mark.parametrize(
    "echo", ["", "no json", "[]", '{"output": 3}', '{"output": [{"type": 1}]}']
)
def test_an_echo_that_somebody_wrote_by_hand_is_no_harm(echo: str) -> None:
    message = evolve(reply_of(CALL), echo=echo)

    assert items_of(message, "here", "m", True)[0]["arguments"] == CALL["arguments"]


def test_a_call_without_a_name_is_an_error() -> None:
    with pytest.raises(ModelError, match="does not name a tool"):
        reply_of({"type": "function_call", "arguments": "{}"})
