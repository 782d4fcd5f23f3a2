"""The Responses API: requests, items, whole runs over a real server, and what is remembered."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, strategies as st

from gram import Pattern, loads_one
from interp import (
    ConfigurationError,
    Message,
    ModelError,
    OpenAIModel,
    ReasoningDelta,
    TextDelta,
    Usage,
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
from interp.models.reply_reading import read_reply
from interp.models.responses import StreamedResponse, items_of, read_response
from interp.models.server_events import END
from interp.models.wire import Reasoning
from lenses_ext import Model
from tests.interp.four_ways import QUESTION, WAYS, ask
from tests.interp.model_server import (
    CHAT,
    RESPONSES,
    Answer,
    ModelServer,
    response,
    response_events,
    tool_calls,
)
from tests.interp.strategies import completions, odd_json

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
    kinds = [each.get("type") for each in sent]
    assert kinds == [None, "reasoning", "function_call", "function_call_output"]
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
    model_server.will_say(Answer(refusal, 400), GREET, "Hello!", "Again!", Answer(refusal, 400))

    def asked() -> None:
        run(hello_world, "I'm Al", hello_world_tool_library, dialect="responses")

    asked()
    asked()

    assert ["include" in each for each in model_server.requests] == [True, False, False, False]
    assert "c2VhbGVk" not in json.dumps(model_server.requests[2])
    with pytest.raises(ModelError, match="not supported with this model"):
        asked()


def test_requests_that_are_refused_at_once_are_both_asked_without_what_is_refused(
    model_server: ModelServer,
) -> None:
    message = "Encrypted content is not supported with this model."
    refusal = Answer({"error": {"message": message}}, 400, silence=0.3)
    model_server.will_say(refusal, refusal, "Hello!", "Hello!")
    model = OpenAIModel(model_server.url, "key", "responses")

    async def both() -> list[Any]:
        return await asyncio.gather(*(model.acomplete(QUESTION) for _ in range(2)))

    assert [each.message.content for each in asyncio.run(both())] == ["Hello!"] * 2
    assert ["include" in each for each in model_server.requests] == [True, True, False, False]


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
    monkeypatch.setenv("OPENAI_DIALECT", "chat")
    with pytest.raises(ConfigurationError, match="OPENAI_DIALECT must be one of responses, tools"):
        path()


def test_a_server_without_the_api_is_told_of(
    model_server: ModelServer, hello_world: Pattern
) -> None:
    model_server.speaks = (CHAT,)
    model_server.will_say("never")
    with pytest.raises(ModelError, match="--dialect tools is Chat Completions"):
        run(hello_world, "hi", hello_world_tool_library, dialect="responses")


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
    settings = (
        'maxTokens: 9, temperature: 0.5, topP: 0.5, reasoningEffort: "low", verbosity: "low", '
        'reasoningSummary: "auto", parallelToolCalls: false, extraBody: {service_tier: "flex"}'
    )
    fields = {
        "max_output_tokens": 9, "temperature": 0.5, "top_p": 0.5, "text": {"verbosity": "low"},
        "reasoning": {"effort": "low", "summary": "auto"}, "parallel_tool_calls": False,
        "service_tier": "flex",
    }  # fmt: skip
    assert model().body(request_of(settings)).items() >= fields.items()


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


@pytest.mark.parametrize(("arguments", "sent"), [('{"x": 1}', '{"x": 1}'), ('{"x": ', "{}")])
def test_calls_and_results_are_items_with_one_id(arguments: str, sent: str) -> None:
    call = ToolCall("c1", "t", arguments)
    said = Message(AssistantRole, "One moment.", (call,))
    result = Message(FunctionRole("t"), "2", call_id="c1")
    request = request_of()
    body = model().body(evolve(request, messages=[*request.messages, said, result]))

    content = [{"type": "output_text", "text": "One moment."}]
    assert body["input"][1:] == [
        {"type": "message", "role": "assistant", "content": content},
        {"type": "function_call", "call_id": "c1", "name": "t", "arguments": sent},
        {"type": "function_call_output", "call_id": "c1", "output": "2"},
    ]


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

    sent = items_of(message, server, model, True)
    assert [each["type"] for each in sent] == ["message", "function_call"]
    assert not any(word in json.dumps(sent) for word in ("c2VhbGVk", "fc_1"))


def test_reasoning_that_nobody_can_read_is_left_out() -> None:
    unreadable = {"type": "reasoning", "id": "rs_2", "summary": [{"text": "Hm"}]}
    said = [{"type": "reasoning_text", "text": "H"}]
    plain = {"type": "reasoning", "id": "rs_3", "content": said}

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
    assert items_of(reply_of(SAID), "here", "m", True) == [SAID]
    assert reply_of({**SAID, "phase": None}).echo is None


@pytest.mark.parametrize(
    "echo", ["", "no json", "[]", '{"output": 3}', '{"output": [{"type": 1}]}']
)
def test_an_echo_that_somebody_wrote_by_hand_is_no_harm(echo: str) -> None:
    message = evolve(reply_of(CALL), echo=echo)
    assert items_of(message, "here", "m", True)[0]["arguments"] == CALL["arguments"]


TEXT = {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}


def whole(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"status": "completed", "output": list(items), **more}


def streamed(events: list[Any]) -> tuple[list[Any], Any]:
    """The pieces of a stream, and the response that it is put together to."""
    stream = StreamedResponse()
    pieces = [piece for event in events for piece in stream.add(event)]
    return pieces, stream.whole()


def as_plain(completed: dict[str, Any]) -> dict[str, Any]:
    """A completion whose parts the Responses API has, too: texts and calls with ids."""
    message = completed["choices"][0]["message"]
    calls = [
        {"id": f"c{index}", "function": {**call["function"], "name": "f", "arguments": "{}"}}
        for index, call in enumerate(message.get("tool_calls") or ())
    ]
    said = {
        key: message[key] for key in ("content", "reasoning") if isinstance(message.get(key), str)
    }
    choice = {**completed["choices"][0], "message": {**said, "tool_calls": calls}}
    return {**completed, "choices": [choice]}


@given(completions().map(as_plain))
def test_a_reply_says_the_same_in_either_dialect_and_streamed(completed: dict[str, Any]) -> None:
    if completed["choices"][0]["finish_reason"] == "content_filter":
        completed["choices"][0]["finish_reason"] = "stop"
    written = response(completed)
    try:
        expected: Any = read_reply(completed)
    except ModelError as error:
        expected = error.code

    def found(data: Any) -> Any:
        try:
            return read_response(data)
        except ModelError as error:
            return error.code

    read = found(written)
    if isinstance(expected, str):
        assert read == expected
        return
    assert read.message.content == expected.message.content
    calls = [(call.id, call.name, call.arguments) for call in expected.message.tool_calls]
    assert [(call.id, call.name, call.arguments) for call in read.message.tool_calls] == calls
    assert read.truncated == expected.truncated
    assert read.reasoning == expected.reasoning
    pieces, data = streamed(response_events(written))
    assert found(data) == read
    assert "".join(each for each in pieces if isinstance(each, str)) == read.message.content
    thought = "".join(each.text for each in pieces if isinstance(each, Reasoning))
    assert thought == read.reasoning


ODD_TYPES = [
    "response.output_item.added", "response.output_item.done", "response.output_text.delta",
    "response.reasoning_text.delta", "response.function_call_arguments.delta",
    "response.completed", "response.failed", "error",
]  # fmt: skip
ODD_EVENTS = st.fixed_dictionaries(
    {"type": st.sampled_from(ODD_TYPES) | odd_json()},
    optional={
        "item": odd_json() | st.just(TEXT),
        "delta": odd_json() | st.just("Hi"),
        "output_index": st.integers(0, 2) | st.none(),
        "response": odd_json() | st.builds(whole),
        "error": odd_json(),
    },
)


@given(st.lists(ODD_EVENTS | odd_json(), max_size=6))
def test_any_events_are_a_reply_or_a_model_error(events: list[Any]) -> None:
    with suppress(ModelError):
        read_response(streamed(events)[1])


@given(odd_json())
def test_any_json_is_a_reply_or_a_model_error(data: Any) -> None:
    with suppress(ModelError):
        read_response(data)


def test_tokens_are_counted_with_those_that_were_cached_and_those_of_reasoning() -> None:
    usage = {
        "input_tokens": 9,
        "output_tokens": 5,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens_details": {"reasoning_tokens": 3},
    }

    assert read_response(whole(TEXT, usage=usage)).usage == Usage(9, 5, 4, 3)


def test_several_messages_are_one_text_with_a_blank_line_between() -> None:
    pieces, data = streamed(response_events(whole(TEXT, TEXT)))
    assert read_response(data).message.content == "Hi\n\nHi"
    assert "".join(pieces) == "Hi\n\nHi"


def test_a_refusal_is_not_an_answer() -> None:
    said = {"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}
    message = read_response(whole(said)).message
    assert (message.content, message.refused) == ("No.", True)


def test_what_was_not_asked_for_beside_an_answer_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        reply = read_response(whole({"type": "web_search_call"}, TEXT))
    assert reply.message.content == "Hi"
    assert "not asked for: web_search_call" in caplog.text


FILTERED = whole(TEXT, status="incomplete", incomplete_details={"reason": "content_filter"})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (FILTERED, "content filter"),
        (whole({"type": "computer_call"}), "asks for computer_call, which was not offered"),
        ({"choices": [{"message": {"content": "Hi"}}]}, "--dialect tools is Chat Completions"),
        *(
            (whole(TEXT, status=status), f"not finished: its status is {status}")
            for status in ("queued", "in_progress", "cancelled")
        ),
    ],
)
def test_what_is_no_answer_is_an_error(data: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        read_response(data)


def test_a_failed_response_says_the_servers_words_and_can_be_asked_again() -> None:
    failed = whole(status="failed", error={"code": "server_error", "message": "Out of luck"})
    with pytest.raises(ModelError, match="Out of luck") as caught:
        read_response(failed)
    assert caught.value.retriable


DONE = {"type": "response.output_item.done", "output_index": 0, "item": TEXT}
LAST = {"type": "response.completed", "response": whole()}


@pytest.mark.parametrize(
    "events",
    [
        [DONE, LAST],
        [{**DONE, "type": "response.output_item.added"}, DONE, LAST, END],
        [{"choices": [{"delta": {"content": "no"}}]}, DONE, LAST],
        [{"type": "response.completed", "output": [TEXT]}, END],
    ],
    ids=["the last event has no output", "[DONE] after it", "a chat chunk", "no `response`"],
)
def test_streams_of_servers_that_break_the_rules_are_read(events: list[Any]) -> None:
    assert read_response(streamed(events)[1]).message.content == "Hi"


BEGUN = {"type": "function_call", "name": "f", "call_id": "c", "arguments": ""}
ADDED = {"type": "response.output_item.added", "output_index": 0, "item": BEGUN}


@pytest.mark.parametrize(
    "pieces",
    [
        [("delta", {"delta": '{"x"'}), ("delta", {"delta": ":1}"})],
        [("done", {"arguments": '{"x":1}'})],
    ],
)
def test_a_call_whose_item_is_never_done_is_made_of_its_pieces(pieces: list[Any]) -> None:
    kind = "response.function_call_arguments"
    events = [{"type": f"{kind}.{end}", "output_index": 0, **each} for end, each in pieces]
    (call,) = read_response(streamed([ADDED, *events, LAST])[1]).message.tool_calls
    assert (call.name, call.arguments) == ("f", '{"x":1}')


def test_a_call_whose_arguments_never_come_is_an_error() -> None:
    with pytest.raises(ModelError, match="ended before the reply was complete"):
        streamed([ADDED, DONE | {"output_index": 1}, LAST])


def test_a_stream_without_its_last_event_was_cut() -> None:
    with pytest.raises(ModelError, match="ended before the reply was complete") as caught:
        streamed([DONE, END])
    assert caught.value.retriable


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "server_error", "message": "Out of luck"},
        {"type": "error", "error": {"type": "server_error", "message": "Out of luck"}},
        {"type": "response.failed", "response": {"error": {"message": "Out of luck"}}},
        {"error": {"message": "Out of luck"}},
        {"error": "Out of luck"},
        {"detail": "Out of luck"},
    ],
)
def test_an_error_in_the_middle_of_a_stream_says_the_servers_words(event: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="Out of luck"):
        read_response(streamed([DONE, event])[1])


def test_the_secret_of_an_item_is_taken_from_when_it_was_done() -> None:
    begun = {"type": "reasoning", "encrypted_content": "old", "summary": []}
    call = {"type": "function_call", "name": "f", "call_id": "c", "arguments": "{}"}
    events = [
        {"type": "response.output_item.added", "output_index": 0, "item": begun},
        {**DONE, "item": {**begun, "encrypted_content": "new"}},
        {**DONE, "output_index": 1, "item": call},
        LAST,
    ]

    data: Any = streamed(events)[1]

    assert data["output"][0]["encrypted_content"] == "new"
    assert data["output"][1] == call
