"""What is sent to models in either dialect, and replies that are streamed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

import interp
from gram import Pattern
from interp import ConfigurationError, ConversationContext, hello_world_tool_library, run
from interp.machine import Request
from interp.models.chat import ChatCompletions, StreamedReply
from interp.models.providers import Dialect
from interp.models.reply_reading import read_reply
from lenses_ext import Model, Settings, agent_tool_specs, put
from tests.interp.model_server import ModelServer, delta, part, tool_calls
from tests.interp.strategies import contexts, odd_json
from tests.paths import ROOT


def calls(arguments: str = "") -> dict[str, Any]:
    """Three calls, the last with some arguments."""
    return tool_calls(
        ("c1", "sayHello", {"personName": "A"}), ("c2", "nope", {}), ("c3", "sayHello", arguments)
    )


CALL = tool_calls(("c1", "sayHello", {"personName": "Alice"}))


def test_a_tool_call_and_its_result_go_over_the_wire(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say(CALL, "Done.")

    response = run(hello_world, "Hello, I'm Alice!", hello_world_tool_library)

    first, second = model_server.requests
    assert response.content == "Done."
    assert response.usage.total_tokens == 30
    assert first["model"] == "gpt-5.6-luna"
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert first["tools"][0]["function"]["name"] == "sayHello"
    assert first["tools"][0]["function"]["parameters"] == {
        "type": "object",
        "properties": {"personName": {"type": "string", "default": "world"}},
        "required": [],
    }
    assert second["messages"][2] == CALL
    assert second["messages"][3] == {
        "role": "tool",
        "tool_call_id": "c1",
        "content": "Hello, Alice! Nice to meet you.",
    }
    assert model_server.headers[0]["authorization"] == "Bearer sk-test-key"


def test_every_call_is_answered_in_the_order_of_the_calls(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say(calls(), "Done.")
    run(hello_world, "hi", hello_world_tool_library)
    echoed, *answers = model_server.requests[1]["messages"][2:]
    assert echoed == calls("{}")  # servers refuse empty arguments
    assert [answer["tool_call_id"] for answer in answers] == ["c1", "c2", "c3"]
    assert answers[1]["content"].startswith('error: there is no tool "nope"')


def test_the_older_dialect_is_spoken_where_asked_with_one_call_after_another(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say(calls(), "Done.")
    model = interp.OpenAIModel(model_server.url, "key", "functions")

    run(hello_world, "hi", hello_world_tool_library, model=model)
    model.close()

    first, second = model_server.requests
    assert first["functions"][0]["name"] == "sayHello"
    assert "tools" not in first
    said = second["messages"][2:]
    assert [message["role"] for message in said] == ["assistant", "function"] * 3
    assert [call["function_call"]["name"] for call in said[::2]] == ["sayHello", "nope", "sayHello"]
    assert [answer["name"] for answer in said[1::2]] == ["sayHello", "nope", "sayHello"]
    assert said[1]["content"] == "Hello, A! Nice to meet you."


def test_without_tools_nothing_is_said_of_them(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say("Hi.")
    run(put(agent_tool_specs, (), hello_world), "hello")
    assert set(model_server.requests[0]) == {"model", "messages"}


def test_what_a_server_adds_beyond_that_is_left_out(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    asked = tool_calls(("c1", "sayHello", {}))
    model_server.will_say({**asked, "annotations": [], "audio": None}, "Done.")
    run(hello_world, "hi", hello_world_tool_library)
    assert model_server.requests[1]["messages"][2] == asked


MANY_KEYS = """
[a:Agent {instruction: "x", model: "OpenAI/m",
  settings: {temperature: 0.5, topP: 0.9, seed: 1, maxTokens: 9, stop: ["a", "b"]}} |
  [t:Tool {description: "d"} | (b::Integer {minimum: 1, maximum: 9, description: "x", default: 2})
    ==>(o::Object {default: {c: 1, b: 2, a: {e: 3, d: 4}}})
    ==>(a::String::Null {enum: ["y", "x"], title: "t"})==>(u::User)==>(::Any),
    [User:Object | (name::String), (age::Integer {optional: true}), (b::String)]]]
"""


def test_a_request_is_the_same_text_in_every_process() -> None:
    # The order of a set or of a map of the program changes with how a process hashes texts; a
    # request that changed with it would never be found in a provider's cache of prompts.
    code = (
        "import json; from gram import loads_one; from interp.machine import start; "
        "from interp.models.chat import request_body; "
        f"_, (effect,), _ = start(loads_one({MANY_KEYS!r}), 'hi'); "
        "print(json.dumps(request_body(effect.request)))"
    )
    how: Any = {"capture_output": True, "text": True, "cwd": ROOT, "check": True}
    environments = [{**os.environ, "PYTHONHASHSEED": seed} for seed in "12"]
    command = [sys.executable, "-c", code]
    one, two = [subprocess.run(command, env=each, **how).stdout for each in environments]
    assert one == two
    assert json.loads(one)["temperature"] == 0.5


@given(contexts(), st.sampled_from(["tools", "functions"]))
def test_any_conversation_is_sent_but_for_files_that_the_dialect_has_no_form_for(
    context: ConversationContext, dialect: Dialect
) -> None:
    said = (each for each in context if not isinstance(each.role, interp.FunctionRole))
    files = [file for each in said for file in each.attachments]
    is_odd = any(each.content is None and each.kind != "picture" for each in files)
    request = Request(Model("A", "b"), "x", context, settings=Settings({"temperature": 0}))
    form = ChatCompletions(dialect=dialect)
    if files if dialect == "functions" else is_odd:
        with pytest.raises(ConfigurationError, match="cannot be sent"):
            form.content(request)
        return
    streamed = json.loads(form.content(request, streaming=True))
    how = {"stream": True, "stream_options": {"include_usage": True}}
    assert streamed == form.body(request) | how


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
    except interp.ModelError:
        pass


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
        {"reasoning": ".", "reasoning_details": [{"text": "H"}]},
        {"reasoning_details": [{"text": "m"}]},
        {"reasoning_details": None, "content": "Yes."},
    )
    assert (message["reasoning"], message["content"]) == ("Hm.", "Yes.")
    assert message["reasoning_details"] == [{"text": "H"}, {"text": "m"}]


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
