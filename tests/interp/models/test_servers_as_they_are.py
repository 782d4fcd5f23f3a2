"""Replies as servers really send them: read the same, whole and streamed."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, strategies as st

import interp
from gram import GramError, Pattern
from interp import AssistantRole, Message, ModelError, OpenAIModel, hello_world_tool_library, run
from interp.models import detect_tool_call
from interp.models.chat import StreamedReply
from interp.models.reply_reading import Reply, read_reply
from interp.models.server_events import EventReader
from interp.models.wire import Reasoning
from tests.interp.four_ways import QUESTION, WAYS, ask
from tests.interp.model_server import (
    DONE,
    USAGE,
    Answer,
    ModelServer,
    completion,
    delta,
    part,
    streamed,
    tool_calls,
)
from tests.interp.strategies import completions, odd_json


def said(content: str = "", *calls: tuple[str, str], refused: bool = False) -> Message:
    """A message of the assistant; calls are given as name and arguments."""
    made = [interp.ToolCall(f"call_{at}", name, given) for at, (name, given) in enumerate(calls)]
    return Message(AssistantRole, content, made, refused=refused)


def call(arguments: Any, **more: Any) -> dict[str, Any]:
    """A completion's message that calls ``f`` with some arguments, or without any."""
    given = {} if arguments is ... else {"arguments": arguments}
    return {"tool_calls": [{"type": "function", "function": {"name": "f", **given}}], **more}


BLANK = {"name": "", "arguments": ""}
WHOLE: dict[str, tuple[dict[str, Any], Message]] = {
    "content as a list": ({"content": [{"type": "text", "text": "144"}]}, said("144")),
    "thinking in a list": (
        {"content": [{"type": "thinking", "thinking": [{"text": "Hm"}]}, {"text": "Yes"}]},
        said("Yes"),
    ),
    "an empty function call": ({"content": "Hi", "function_call": BLANK}, said("Hi")),
    "an empty object as call": ({"content": "Hi", "function_call": {}}, said("Hi")),
    "a blank tool call": ({"content": "Hi", "tool_calls": [{"function": BLANK}]}, said("Hi")),
    "empty lists beside a call": (
        {"tool_calls": [], "function_call": {"name": "f", "arguments": "{}"}},
        said("", ("f", "{}")),
    ),
    "arguments null": (call(None), said("", ("f", ""))),
    "arguments null as text": (call("null"), said("", ("f", ""))),
    "arguments empty": (call(""), said("", ("f", ""))),
    "arguments missing": (call(...), said("", ("f", ""))),
    "arguments as an object": (call({"a": 1}), said("", ("f", '{"a":1}'))),
    "a role in capitals": ({"role": "Assistant", "content": "Hi"}, said("Hi")),
    "an empty role": ({"role": "", "content": "Hi"}, said("Hi")),
    "a refusal": ({"content": None, "refusal": "No."}, said("No.", refused=True)),
    "a refusal as a list": ({"refusal": [{"text": "No."}]}, said("No.", refused=True)),
}
EVENTS: dict[str, tuple[list[Any], Message]] = {
    "Mistral's content as a list": (
        [delta([{"type": "text", "text": "1"}]), delta("44", "stop")],  # type: ignore[arg-type]  # as it is sent
        said("144"),
    ),
    "done without a finish": (
        [delta("Hel"), delta("lo", function_call=BLANK), DONE],
        said("Hello"),
    ),
    "a message in place of a delta": (
        [{"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}],
        said("Hi"),
    ),
    "arguments null in the parts": (
        [delta(tool_calls=[{"index": 0, "function": {"name": "f", "arguments": None}}]), DONE],
        said("", ("f", "")),
    ),
    "calls without index and id": (
        [delta(tool_calls=[part(None, each, name="f")]) for each in ('{"a": 1}', '{"a": 2}')]
        + [delta(finish="stop")],
        said("", ("f", '{"a": 1}'), ("f", '{"a": 2}')),
    ),
    "two calls under one index": (
        [delta(tool_calls=[part(0, each, name=each[2])]) for each in ('{"f": 1}', '{"g": 2}')]
        + [delta(finish="stop")],
        said("", ("f", '{"f": 1}'), ("g", '{"g": 2}')),
    ),
    "a name in every part": (
        [delta(tool_calls=[part(0, each, name="f")]) for each in ("", '{"a":', "1}", "")]
        + [delta(finish="tool_calls")],
        said("", ("f", '{"a":1}')),
    ),
    "Gemini's parts without index": (
        [
            delta(tool_calls=[{"id": "call_0", "function": {"name": "f", "arguments": ""}}]),
            delta(tool_calls=[{"id": "", "function": {"arguments": '{"a":'}, "type": ""}]),
            delta(tool_calls=[{"id": "", "function": {"arguments": "1}"}, "type": ""}]),
            delta(finish="stop"),
        ],
        said("", ("f", '{"a":1}')),
    ),
    "an index and an id of other types": (
        [
            delta(tool_calls=[{"index": [], "id": {}, "function": {"name": "f"}}]),
            delta(tool_calls=[{"index": "0", "function": {"arguments": "{}"}}]),
            delta(finish="stop"),
        ],
        said("", ("f", "{}")),
    ),
    "two ids under one index": (
        [delta(tool_calls=[part(0, "{}", id=f"call_{n}", name="fg"[n])]) for n in (0, 1)] + [DONE],
        said("", ("f", "{}"), ("g", "{}")),
    ),
    "a part without a call before it": (
        [delta(tool_calls=[part(None, "{}", name="f")]), delta(finish="stop")],
        said("", ("f", "{}")),
    ),
    "a refusal under a filter": (
        [delta(refusal="No."), delta(finish="content_filter")],
        said("No.", refused=True),
    ),
}


def reply_of(model_server: ModelServer, way: str) -> Reply:
    """The reply of the server's next answer, asked for in one of four ways."""
    *pieces, reply = ask(OpenAIModel(model_server.url, "key", "tools", attempts=1), way)
    if "stream" in way:
        words = "".join(each for each in pieces if isinstance(each, str))
        assert words == ("" if reply.message.refused else reply.message.content)
        thought = "".join(each.text for each in pieces if isinstance(each, Reasoning))
        assert thought == reply.reasoning
    return reply  # type: ignore[no-any-return]  # the last piece


@pytest.mark.parametrize("way", ["complete", "astream"])
@pytest.mark.parametrize(("message", "expected"), WHOLE.values(), ids=WHOLE)
def test_a_reply_is_read_right(
    model_server: ModelServer, message: dict[str, Any], expected: Message, way: str
) -> None:
    body = completion(message)
    model_server.will_say(Answer(events=streamed(body)) if "stream" in way else Answer(body))
    assert reply_of(model_server, way).message == expected


@pytest.mark.parametrize(("events", "expected"), EVENTS.values(), ids=EVENTS)
def test_a_stream_is_read_right(
    model_server: ModelServer, events: list[Any], expected: Message
) -> None:
    model_server.will_say(Answer(events=events))
    assert reply_of(model_server, "stream").message == expected


REPORTED: dict[str, tuple[dict[str, Any], str]] = {
    "Groq, an object": ({"choices": [], "x_groq": {"error": {"message": "too busy"}}}, "too busy"),
    "Groq, a text": ({"x_groq": {"error": "too busy"}}, "too busy"),
    "OpenRouter": (
        delta("", "error", error={"code": 502}) | {"error": {"message": "gone"}},
        "gone",
    ),
    "a finish alone": (
        {"choices": [{"delta": {}, "message": {"content": ""}, "finish_reason": "error"}]},
        "failed in the middle",
    ),
    "vLLM": ({"object": "error", "message": "too many tokens", "code": 400}, "too many tokens"),
    "a code and a message": ({"code": 1261, "msg": "Prompt exceeds max length"}, "shorten it"),
    "MiniMax": ({"base_resp": {"status_code": 1004, "status_msg": "login fail"}, "choices": None},
        "login fail"),
    "a detail": ({"detail": [{"msg": "no such field"}]}, "no such field"),
}  # fmt: skip


@pytest.mark.parametrize("way", ["complete", "astream"])
@pytest.mark.parametrize(("body", "message"), REPORTED.values(), ids=REPORTED)
def test_an_error_under_a_status_of_success_is_reported(
    model_server: ModelServer, body: dict[str, Any], message: str, way: str
) -> None:
    begun = [delta("Hel")] if "choices" in body else []
    answer = Answer(events=[*begun, body, DONE]) if "stream" in way else Answer(body)
    model_server.will_say(answer)
    with pytest.raises(ModelError, match=message):
        reply_of(model_server, way)


@pytest.mark.parametrize("way", WAYS)
def test_a_server_may_always_stream_or_never(model_server: ModelServer, way: str) -> None:
    whole, events = Answer(completion({"content": "Hi"})), Answer(events=[delta("Hi"), DONE])
    if "stream" in way:
        raw = json.dumps(whole.body).encode()
        model_server.will_say(Answer(raw=raw))
        model = OpenAIModel(model_server.url, "key")
        *words, reply = model.stream(QUESTION)
        model.close()
        expected = read_reply(whole.body)._replace(server=model_server.url)
        assert (words, reply) == ([], expected)
    else:
        model_server.will_say(events)
        assert reply_of(model_server, way).message.content == "Hi"
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("kind", ["", "text/plain", "application/octet-stream", "Application/JSON"])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_whole_reply_is_read_under_any_name_of_its_kind(
    model_server: ModelServer, kind: str, indent: int | None
) -> None:
    raw = b"\n" + json.dumps(completion({"content": "Hi"}), indent=indent).encode()
    model_server.will_say(*[Answer(raw=raw, headers={"content-type": kind})] * 2)
    model = OpenAIModel(model_server.url, "key")
    assert list(model.stream(QUESTION)) == [model.complete(QUESTION)]


@pytest.mark.parametrize("role", ["user", "system", "tool", "function", "developer", 3])
def test_a_message_of_another_role_is_not_a_reply(role: object) -> None:
    reply = StreamedReply()
    reply.add(delta("Hi", "stop", role=role))

    for found in ({"role": role, "content": "Hi"}, reply.whole()):
        with pytest.raises(ModelError, match="role"):
            read_reply(found)
    with pytest.raises(ModelError, match="role"):
        read_reply(Message(interp.UserRole, "Hi"))


def test_an_empty_reply_after_a_tool_s_result_ends_the_run(hello_world: Pattern) -> None:
    calls = tool_calls(("a", "sayHello", {}))
    for empty in ({"content": ""}, {"content": None}, ""):
        model = interp.ScriptedModel([calls, empty])
        response = run(hello_world, "hi", hello_world_tool_library, model=model)
        assert (response.content, len(response.tools_used)) == ("", 1)


@pytest.mark.parametrize("arguments", ["", "null", "[1]", '"x"', '{"a": 1', "x", '{"a":1,"a":2}'])
def test_arguments_that_are_not_an_object_are_sent_back_as_an_empty_object(
    hello_world: Pattern, model_server: ModelServer, arguments: str
) -> None:
    model_server.will_say(tool_calls(("c1", "sayHello", arguments)), "Done.")
    response = run(hello_world, "hi", hello_world_tool_library)
    echoed = model_server.requests[1]["messages"][2]["tool_calls"][0]["function"]["arguments"]
    kept = response.context[1].tool_calls[0].arguments
    assert (json.loads(echoed), kept) == ({}, "" if arguments == "null" else arguments)


def test_reasoning_goes_back_only_to_the_server_that_sent_it(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    asked = {**tool_calls(("c1", "sayHello", {})), "reasoning_content": "Hm."}
    asked["tool_calls"][0]["extra_content"] = {"signature": "x"}
    model_server.will_say(asked, "Done.")
    response = run(hello_world, "hi", hello_world_tool_library)
    request = evolve(QUESTION, messages=response.context)
    same, other = OpenAIModel(model_server.url, "k"), OpenAIModel("http://other/v1", "k")

    assert same.body(request)["messages"][2] == asked
    assert other.body(request)["messages"][2] == tool_calls(("c1", "sayHello", {}))


@pytest.mark.parametrize("usage", [..., None, {}, {"prompt_tokens": None}])
def test_usage_that_is_not_told_is_unknown(usage: Any) -> None:
    found = completion({"content": "Hi"})
    del found["usage"]
    whole = found if usage is ... else {**found, "usage": usage}
    assert read_reply(whole).usage == interp.Usage()
    assert read_reply({**found, "usage": USAGE["usage"]}).usage == interp.Usage(10, 5)


def events_of(data: bytes, cuts: Iterable[int]) -> Any:
    """The reply in the bytes of a stream that come in pieces, or the error."""
    reader, reply = EventReader(), StreamedReply()
    ends = [0, *sorted(cuts), len(data)]
    try:
        for start, end in pairwise(ends):
            for event in reader.feed(data[start:end]):
                reply.add(event)
        for event in reader.rest():
            reply.add(event)
        return read_reply(reply.whole())
    except ModelError as error:
        return str(error)


@given(completions(), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.data())
def test_a_reply_is_the_same_whole_and_streamed_in_any_cut(
    whole: dict[str, Any], line_end: str, ends_with_blank: bool, data: st.DataObject
) -> None:
    blank = line_end if ends_with_blank else ""
    lines = [
        f"data: {each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)}"
        for each in streamed(whole)
    ]
    sent = (": hello" + line_end + "".join(line + line_end + blank for line in lines)).encode()
    cuts = data.draw(st.lists(st.integers(0, len(sent)), max_size=8))
    try:
        expected: Any = read_reply(whole)
    except ModelError as error:
        expected = str(error)

    assert events_of(sent, cuts) == expected


@given(st.lists(st.tuples(st.sampled_from([0, 0, 1, 2]), st.sampled_from("abc"))))
def test_of_several_replies_at_once_the_first_counts(said: list[tuple[int, str]]) -> None:
    reply = StreamedReply()
    for index, text in [(0, "x"), *said]:
        choice = {"index": index, "delta": {"content": text}, "finish_reason": None}
        reply.add({"choices": [choice]})
    reply.add(delta(finish="stop"))

    expected = "x" + "".join(text for index, text in said if index == 0)
    assert read_reply(reply.whole()).message.content == expected


def test_an_event_may_have_several_lines_of_data() -> None:
    sent = b'\xef\xbb\xbfdata: {"choices": [{"delta":\ndata:{"content": "a"}}]}\n\ndata: [DONE]'
    assert events_of(sent, []).message.content == "a"


# --- replies of models: what is read from them, and what is refused


@pytest.mark.parametrize("ids", [(None, None), ("", ""), ("c", "c"), ("call_1", None)])
def test_missing_and_repeated_ids_are_made_up_for(ids: tuple[str | None, str | None]) -> None:
    reply = tool_calls(*((id_, "sayHello", {}) for id_ in ids))
    found = [call.id for call in read_reply(reply).message.tool_calls]
    assert all(found)
    assert len(set(found)) == 2


def test_a_reply_says_why_it_ended_and_which_model_gave_it() -> None:
    said = read_reply(completion({"content": "hi"}, model="luna-2026-01"))
    unsaid = read_reply({"content": "hi"})
    assert (said.finish_reason, said.served_model) == ("stop", "luna-2026-01")
    assert (unsaid.finish_reason, unsaid.served_model) == ("", "")


def test_text_beside_calls_is_not_the_answer(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say(tool_calls(("c1", "sayHello", {}), content="One moment."), "Done.")
    response = run(hello_world, "hi", hello_world_tool_library)
    assert response.content == "Done."
    assert model_server.requests[1]["messages"][2]["content"] == "One moment."


@pytest.mark.parametrize("finish", ["stop", "tool_calls", "odd", None])
def test_calls_are_run_with_any_finish_reason(
    hello_world: Pattern, model_server: ModelServer, finish: str | None
) -> None:
    asked = completion(tool_calls(("c1", "sayHello", {})), choice={"finish_reason": finish})
    model_server.will_say(Answer(asked), "Done.")
    assert len(run(hello_world, "hi", hello_world_tool_library).tools_used) == 1


def test_a_refusal_is_an_answer_that_says_so(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say({"role": "assistant", "content": None, "refusal": "I will not."}, "Ok.")

    response = run(hello_world, "hi", hello_world_tool_library)
    again = run(hello_world, "please", hello_world_tool_library, response.context)

    assert (response.content, response.refused, again.refused) == ("I will not.", True, False)
    assert model_server.requests[1]["messages"][2] == {
        "role": "assistant",
        "content": None,
        "refusal": "I will not.",
    }


@pytest.mark.parametrize(
    "reply",
    [
        "",
        Message(AssistantRole, ""),
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": "", "tool_calls": []},
        completion({"role": "assistant", "content": []}),
    ],
)
def test_an_empty_reply_is_a_model_error(hello_world: Pattern, reply: Any) -> None:
    with pytest.raises(ModelError, match="the model's reply is empty") as caught:
        run(hello_world, "hi", hello_world_tool_library, model=interp.ScriptedModel([reply]))
    assert caught.value.code == "empty"


def test_a_reply_cut_off_before_its_first_word_says_so() -> None:
    with pytest.raises(ModelError, match="cut off at its length limit before"):
        read_reply(completion({"content": ""}, choice={"finish_reason": "length"}))


def test_a_tool_call_is_detected_in_both_dialects_and_in_values() -> None:
    current = tool_calls(("c", "f", {"x": 1}), ("d", "g", {}))
    older = {"function_call": {"name": "f", "arguments": '{"x": 1}'}}
    value = Message(AssistantRole, "", (interp.ToolCall("", "f", '{"x": 1}'),))

    for reply in (current, completion(current), older, completion(older), value):
        assert detect_tool_call(reply) == ("f", {"x": 1})
    for nothing in ("hi", completion({"content": ""}), {"content": None, "tool_calls": None}):
        assert detect_tool_call(nothing) is None


@given(odd_json() | completions())
def test_whatever_a_model_answers_is_a_reply_or_one_of_our_errors(reply: Any) -> None:
    for read in (read_reply, detect_tool_call):
        with contextlib.suppress(GramError):
            read(reply)
