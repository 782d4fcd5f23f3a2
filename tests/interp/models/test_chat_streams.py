"""Chunks of streamed replies: put together again, whatever way they were cut."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, strategies as st

from interp import ModelError
from interp.models.chat import StreamedReply
from interp.models.reply_reading import read_reply
from tests.interp.model_server import delta, part
from tests.interp.strategies import odd_json

ODD_PARTS = st.fixed_dictionaries(
    {},
    optional={
        "index": st.integers(0, 2) | odd_json(),
        "id": st.sampled_from(["a", "b"]) | odd_json(),
        "function": st.fixed_dictionaries({"name": st.just("one"), "arguments": odd_json()})
        | odd_json(),
        "extra_content": odd_json(),
    },
)
ODD_CALLS = st.lists(ODD_PARTS | odd_json(), max_size=3).map(lambda parts: delta(tool_calls=parts))


@given(st.lists(odd_json() | ODD_CALLS), st.none() | st.just("stop"))
@example([delta(tool_calls=[{"index": []}])], "stop")
@example([delta(tool_calls=[{"id": {}}])], "stop")
def test_any_chunks_are_a_reply_or_a_model_error(events: list[Any], finish: str | None) -> None:
    chunks = StreamedReply()
    try:
        for event in [*events, delta(finish=finish)]:
            chunks.add(event)
        read_reply(chunks.whole())
    except ModelError:
        pass


def test_an_index_or_id_of_a_wrong_type_counts_as_missing() -> None:
    chunks = StreamedReply()
    chunks.add(delta(tool_calls=[{"index": [], "id": {}, "function": {"name": "one"}}]))
    chunks.add(delta(tool_calls=[{"index": "0", "function": {"arguments": "{}"}}]))
    chunks.add(delta(finish="stop"))

    (call,) = read_reply(chunks.whole()).message.tool_calls

    assert (call.id, call.name, call.arguments) == ("call_0", "one", "{}")


def test_whole_calls_under_one_index_are_told_apart_by_their_ids() -> None:
    chunks = StreamedReply()
    for id_, name in (("a", "one"), ("b", "two")):
        chunks.add(delta(tool_calls=[part(0, "{}", id=id_, name=name)]))
    chunks.add(delta(finish="stop"))

    calls = read_reply(chunks.whole()).message.tool_calls

    assert [(call.id, call.name, call.arguments) for call in calls] == [
        ("a", "one", "{}"),
        ("b", "two", "{}"),
    ]


def test_a_surrogate_pair_cut_in_two_is_put_together_again() -> None:
    chunks = StreamedReply()
    chunks.add(delta("\ud83d"))
    chunks.add(delta("\ude00", "stop"))

    assert read_reply(chunks.whole()).message.content == "\U0001f600"


def completed(*deltas: dict[str, Any]) -> dict[str, Any]:
    """The message that some deltas are parts of."""
    chunks = StreamedReply()
    for each in deltas:
        chunks.add(delta(**each))
    chunks.add(delta(finish="stop"))
    message: dict[str, Any] = chunks.whole()["choices"][0]["message"]
    return message


def test_reasoning_comes_in_pieces_of_text_and_in_lists_of_details() -> None:
    message = completed(
        {"reasoning": "Hm"},
        {"reasoning_details": [{"text": "H"}, {"text": "m"}]},
        {"reasoning": ".", "reasoning_details": [{"text": "."}]},
        {"reasoning_details": None},
        {"content": "Yes."},
    )

    assert message["reasoning"] == "Hm."
    assert message["reasoning_details"] == [{"text": "H"}, {"text": "m"}, {"text": "."}]
    assert message["content"] == "Yes."


def test_a_signature_of_the_reply_or_of_a_call_is_kept_whichever_chunk_brings_it() -> None:
    message = completed(
        {"tool_calls": [part(0, id="a", name="one")]},
        {"tool_calls": [part(0, "{}", extra_content={"s": 1})]},
        {"tool_calls": [part(1, "{}", id="b", name="two", extra_content={"s": 2})]},
        {"tool_calls": [part(1, "", extra_content=None)]},
        {"extra_content": {"s": 3}},
        {"extra_content": None, "content": ""},
    )

    assert [call.get("extra_content") for call in message["tool_calls"]] == [{"s": 1}, {"s": 2}]
    assert message["extra_content"] == {"s": 3}


def test_what_was_not_there_is_not_added() -> None:
    assert completed({"content": "a"}) == {"role": "assistant", "content": "a"}
    (call,) = completed({"tool_calls": [part(0, "{}", id="a", name="one")]})["tool_calls"]
    assert set(call) == {"id", "type", "function"}
