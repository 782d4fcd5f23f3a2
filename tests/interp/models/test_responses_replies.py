"""Replies of the Responses API, whole and streamed: what is read of them."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, strategies as st

from interp import ModelError, Usage
from interp.models.reply_reading import read_reply
from interp.models.responses import StreamedResponse, read_response
from interp.models.server_events import END
from interp.models.wire import Reasoning
from tests.interp.model_server import response, response_events
from tests.interp.strategies import completions, odd_json

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


ODD_EVENTS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            [
                "response.output_item.added",
                "response.output_item.done",
                "response.output_text.delta",
                "response.reasoning_text.delta",
                "response.function_call_arguments.delta",
                "response.completed",
                "response.failed",
                "error",
            ]
        )
        | odd_json()
    },
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


def test_a_reply_that_only_asks_for_what_was_not_offered_is_an_error() -> None:
    with pytest.raises(ModelError, match="asks for computer_call, which was not offered"):
        read_response(whole({"type": "computer_call"}))


def test_what_was_not_asked_for_beside_an_answer_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        reply = read_response(whole({"type": "web_search_call"}, TEXT))

    assert reply.message.content == "Hi"
    assert "not asked for: web_search_call" in caplog.text


@pytest.mark.parametrize("status", ["queued", "in_progress", "cancelled"])
def test_a_response_that_is_not_finished_is_an_error(status: str) -> None:
    with pytest.raises(ModelError, match=f"not finished: its status is {status}"):
        read_response(whole(TEXT, status=status))


def test_an_incomplete_response_is_cut_off_or_filtered() -> None:
    cut = whole(TEXT, status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    filtered = whole(TEXT, status="incomplete", incomplete_details={"reason": "content_filter"})

    assert read_response(cut).truncated
    with pytest.raises(ModelError, match="content filter"):
        read_response(filtered)


def test_a_failed_response_says_the_servers_words_and_can_be_asked_again() -> None:
    failed = whole(status="failed", error={"code": "server_error", "message": "Out of luck"})

    with pytest.raises(ModelError, match="Out of luck") as caught:
        read_response(failed)

    assert caught.value.retriable


def test_a_chat_completion_is_told_apart() -> None:
    with pytest.raises(ModelError, match="--dialect tools is Chat Completions"):
        read_response({"choices": [{"message": {"content": "Hi"}}]})


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
