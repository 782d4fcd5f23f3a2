"""The protocol with models: what is sent, and what is made of every kind of reply."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given

from gram import Pattern
from interp import (
    AssistantRole,
    ConfigurationError,
    GramError,
    Message,
    ModelError,
    Run,
    ScriptedModel,
    ToolCall,
    arun,
    begin,
    detect_tool_call,
    hello_world_tool_library,
    run,
)
from interp.model_failures import failed
from interp.openai_model import OpenAIModel
from interp.replies import read_reply
from tests.interp.model_server import Answer, ModelServer, completion, delta, tool_calls
from tests.strategies import completions, odd_json

CALLS = tool_calls(
    ("c1", "sayHello", {"personName": "A"}), ("c2", "nope", {}), ("c3", "sayHello", "")
)


def test_every_call_is_answered_in_the_order_of_the_calls(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say(CALLS, "Done.")

    run(hello_world, "hi", hello_world_tool_library)

    echoed, *answers = model_server.requests[1]["messages"][2:]
    assert echoed == CALLS
    assert [answer["tool_call_id"] for answer in answers] == ["c1", "c2", "c3"]
    assert answers[1]["content"].startswith('error: there is no tool "nope"')


def test_several_calls_are_one_after_another_in_the_older_dialect(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say(CALLS, "Done.")
    model = OpenAIModel(model_server.url, "key", "functions")

    run(hello_world, "hi", hello_world_tool_library, model=model)
    model.close()

    said = model_server.requests[1]["messages"][2:]
    assert [message["role"] for message in said] == ["assistant", "function"] * 3
    assert [call["function_call"]["name"] for call in said[::2]] == ["sayHello", "nope", "sayHello"]
    assert [answer["name"] for answer in said[1::2]] == ["sayHello", "nope", "sayHello"]


def test_text_beside_calls_is_not_the_answer(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say(tool_calls(("c1", "sayHello", {}), content="One moment."), "Done.")

    response = run(hello_world, "hi", hello_world_tool_library)

    assert response.content == "Done."
    assert model_server.requests[1]["messages"][2]["content"] == "One moment."


@pytest.mark.parametrize("finish", ["stop", "tool_calls", "odd", None])
def test_calls_are_run_whatever_the_finish_reason(
    hello_world: Pattern, model_server: ModelServer, finish: str | None
) -> None:
    asked = completion(tool_calls(("c1", "sayHello", {})), choice={"finish_reason": finish})
    model_server.will_say(Answer(asked), "Done.")

    assert len(run(hello_world, "hi", hello_world_tool_library).tools_used) == 1


def test_calls_cut_off_at_the_length_limit_are_told_and_not_run(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    asked = completion(tool_calls(("c1", "sayHello", {})), choice={"finish_reason": "length"})
    model_server.will_say(Answer(asked), "Done.")

    response = run(hello_world, "hi", hello_world_tool_library)

    assert "cut off" in (response.tools_used[0].error or "")


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


@pytest.mark.parametrize("ids", [(None, None), ("", ""), ("c", "c"), ("call_1", None)])
def test_missing_and_repeated_ids_are_made_up_for(ids: tuple[str | None, str | None]) -> None:
    reply = tool_calls(*((id_, "sayHello", {}) for id_ in ids))  # type: ignore[misc]

    found = [call.id for call in read_reply(reply).message.tool_calls]

    assert all(found)
    assert len(set(found)) == 2


def test_arguments_may_come_as_an_object_or_not_at_all() -> None:
    reply = tool_calls(("a", "x", ""), ("b", "x", ""), ("c", "x", ""))
    reply["tool_calls"][0]["function"]["arguments"] = {"a": [1]}
    reply["tool_calls"][1]["function"]["arguments"] = None

    assert [call.arguments for call in read_reply(reply).message.tool_calls] == [
        '{"a":[1]}',
        "",
        "",
    ]


def test_reasoning_and_signatures_go_back_with_the_calls_they_led_to(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    asked = {**tool_calls(("c1", "sayHello", {})), "reasoning_content": "Hm."}
    asked["tool_calls"][0]["extra_content"] = {"google": {"thought_signature": "x"}}
    model_server.will_say(asked, {"role": "assistant", "content": "Done.", "reasoning": "Hm."})

    response = run(hello_world, "hi", hello_world_tool_library)

    assert model_server.requests[1]["messages"][2] == asked
    assert response.context[-1].echo is None


def test_what_a_server_adds_beyond_that_is_left_out(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    asked = tool_calls(("c1", "sayHello", {}))
    model_server.will_say({**asked, "annotations": [], "audio": None}, "Done.")

    run(hello_world, "hi", hello_world_tool_library)

    assert model_server.requests[1]["messages"][2] == asked


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
    with pytest.raises(ModelError, match="the model's answer is empty") as caught:
        run(hello_world, "hi", hello_world_tool_library, model=ScriptedModel([reply]))

    assert caught.value.code == "empty"


def test_a_reply_cut_off_before_its_first_word_says_so() -> None:
    with pytest.raises(ModelError, match="cut off at its length limit before"):
        read_reply(completion({"content": ""}, choice={"finish_reason": "length"}))


def test_a_tool_call_is_detected_in_both_dialects_and_in_values() -> None:
    current = tool_calls(("c", "f", {"x": 1}), ("d", "g", {}))
    older = {"function_call": {"name": "f", "arguments": '{"x": 1}'}}
    value = Message(AssistantRole, "", (ToolCall("", "f", '{"x": 1}'),))

    for reply in (current, completion(current), older, completion(older), value):
        assert detect_tool_call(reply) == ("f", {"x": 1})
    for nothing in ("hi", completion({"content": ""}), {"content": None, "tool_calls": None}):
        assert detect_tool_call(nothing) is None


@given(odd_json() | completions())
def test_whatever_a_model_answers_is_a_reply_or_one_of_our_errors(reply: Any) -> None:
    for read in (read_reply, detect_tool_call):
        with contextlib.suppress(GramError):
            read(reply)


# --- failures

HINTS = [
    (Answer({"error": {"message": "m", "code": "context_length_exceeded"}}, 400), "shorten it"),
    (Answer({"error": {"message": "m"}}, 404), "check the program's `model`"),
    (Answer({"error": {"message": "m"}}, 413), "shorten it"),
    (Answer({"error": {"message": "m"}}, 422), "does not take this request"),
    (Answer({"error": {"message": "m", "code": "insufficient_quota"}}, 429), "the billing"),
    (Answer({"error": "just words"}, 400), "just words"),
    (Answer({"detail": "no such field"}, 422), "no such field"),
    (Answer(raw=b"<html>teapot</html>", status=418), "418"),
    (Answer(raw=b"", status=200), "not JSON"),
    (Answer([1]), "with list"),
    (Answer(completion({"content": "x"}, choice={"error": {"message": "mid"}})), "mid"),
    (Answer({"choices": [None]}), "no choices"),
    (Answer({"choices": [{"finish_reason": "stop"}]}), "no message"),
    (Answer(tool_calls(("c", None, {}))), "without naming it"),  # type: ignore[arg-type]
    (Answer(raw=b'{"choices": [NaN]}'), "NaN is not JSON"),
]


@pytest.mark.parametrize(("answer", "message"), HINTS)
def test_what_asking_again_cannot_help_is_reported_at_once_with_a_hint(
    hello_world: Pattern, model_server: ModelServer, answer: Answer, message: str
) -> None:
    model_server.will_say(answer, "never")

    with pytest.raises(ModelError) as caught:
        run(hello_world, "hi", hello_world_tool_library)

    assert message in str(caught.value)
    assert len(model_server.requests) == 1
    assert caught.value.status == (answer.status if answer.status != 200 else None)
    assert caught.value.state is not None


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_what_asking_again_may_help_is_asked_three_times(
    hello_world: Pattern, model_server: ModelServer, status: int
) -> None:
    soon = {"retry-after": "0", "x-request-id": "r-1"}
    model_server.will_say(*[Answer({"error": {"message": "later"}}, status, soon)] * 3)

    with pytest.raises(ModelError, match="later") as caught:
        run(hello_world, "hi", hello_world_tool_library)

    assert len(model_server.requests) == 3
    assert (caught.value.status, caught.value.request_id) == (status, "r-1")
    assert "hint: " in str(caught.value)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_not_tried_again(
    hello_world: Pattern, model_server: ModelServer, status: int
) -> None:
    model_server.will_say(Answer({"error": {"message": "bad key"}}, status), "never")

    with pytest.raises(ConfigurationError, match=rf"refused the key \({status}\)") as caught:
        run(hello_world, "hi", hello_world_tool_library)

    assert len(model_server.requests) == 1
    assert caught.value.state is not None


def test_an_overload_reported_with_status_200_is_asked_again(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say(Answer({"error": {"message": "busy", "code": 503}}), "Here.")

    assert run(hello_world, "hi", hello_world_tool_library).content == "Here."


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("2", 2), ("0.5", 0.5), ("", None), ("soon", None), ("-1", None), ("١", 1)],
)
def test_retry_after_is_read_in_seconds(header: str, seconds: float | None) -> None:
    assert failed("m", status=429, headers={"retry-after": header}).retry_after == seconds


def test_retry_after_is_read_as_a_date() -> None:
    now = datetime.now(UTC)
    later, past = (format_datetime(now + timedelta(seconds=s), usegmt=True) for s in (30, -30))

    found = failed("m", status=429, headers={"retry-after": later}).retry_after or 0

    assert 25 < found <= 30
    assert failed("m", status=429, headers={"retry-after": past}).retry_after == 0


def test_a_wait_that_is_too_long_is_not_waited_for(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say(Answer({"error": {"message": "m"}}, 429, {"retry-after": "3600"}))

    with pytest.raises(ModelError) as caught:
        run(hello_world, "hi", hello_world_tool_library)

    assert caught.value.retry_after == 3600
    assert len(model_server.requests) == 1


def test_silence_is_a_model_error(hello_world: Pattern, model_server: ModelServer) -> None:
    model_server.will_say(Answer(completion({"content": "late"}), silence=0.5))
    model = OpenAIModel(model_server.url, "key", timeout=0.05, attempts=1)

    with pytest.raises(ModelError, match=r"did not answer within 0\.05 s"):
        run(hello_world, "hi", hello_world_tool_library, model=model)
    model.close()


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("localhost:8000", "k"), ("ftp://x", "k"), ("http://[x", "k"), ("http://x:99999", "k"),
        ("http://", "k"), ("http://x", "…"), ("http://x", "a\nb"), ("http://x", " "),
    ],
)  # fmt: skip
def test_what_cannot_be_an_address_or_a_key_is_a_configuration_error(url: str, key: str) -> None:
    with pytest.raises(ConfigurationError, match=r"is no address|is none"):
        OpenAIModel(url, key)


@pytest.mark.parametrize(
    "first", [Answer({"error": {"message": "busy", "code": 503}}), Answer(raw=b"{", drop=True)]
)
def test_an_asynchronous_run_asks_again_by_the_same_policy(
    hello_world: Pattern, model_server: ModelServer, first: Answer
) -> None:
    model_server.will_say(first, "Here.", Answer({"error": {"message": "bad key"}}, 401))

    assert asyncio.run(arun(hello_world, "hi", hello_world_tool_library)).content == "Here."
    with pytest.raises(ConfigurationError, match="refused the key"):
        asyncio.run(arun(hello_world, "hi", hello_world_tool_library))


@pytest.mark.parametrize("streaming", [False, True])
def test_a_run_that_is_cancelled_lets_go_of_its_connection(
    hello_world: Pattern, model_server: ModelServer, streaming: bool
) -> None:
    slow = [delta("Hel"), 5.0, delta("lo", "stop")]
    model_server.will_say(
        Answer(events=slow) if streaming else Answer(completion({"content": "late"}), silence=5)
    )

    async def cancelled() -> Run:
        begun = begin(hello_world, "hi", hello_world_tool_library)

        async def watch() -> None:
            async for _ in begun.astream():
                pass

        task = asyncio.ensure_future(watch() if streaming else begun.afinish())
        while not model_server.requests:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return begun

    begun = asyncio.run(cancelled())
    gc.collect()  # an open socket would warn, and warnings are errors here
    model_server.will_say("Here.")
    assert begun.finish().content == "Here."


def test_a_connection_lost_in_the_middle_is_a_model_error(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say(Answer(raw=b'{"choices": ', drop=True))
    model = OpenAIModel(model_server.url, "key", attempts=1)

    with pytest.raises(ModelError, match="cannot reach"):
        run(hello_world, "hi", hello_world_tool_library, model=model)
    model.close()
