"""Replies of models: what is read from them, and what is refused."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given

from gram import GramError, Pattern
from interp import (
    AssistantRole,
    Message,
    ModelError,
    ScriptedModel,
    ToolCall,
    hello_world_tool_library,
    run,
)
from interp.models import detect_tool_call
from interp.models.reply_reading import read_reply
from tests.interp.model_server import (
    Answer,
    ModelServer,
    completion,
    tool_calls,
)
from tests.interp.strategies import completions, odd_json


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
