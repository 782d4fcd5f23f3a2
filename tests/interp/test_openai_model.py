"""Models behind an OpenAI-compatible address, spoken to over real HTTP."""

import asyncio
import json

import pytest

from gram import Pattern
from interp import (
    ConfigurationError,
    ModelError,
    arun,
    hello_world_tool_library,
    run,
)
from interp.openai_model import OpenAIModel
from tests.interp.model_server import Answer, ModelServer, completion, function_call, tool_calls

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


def test_the_older_dialect_is_read(hello_world: Pattern, model_server: ModelServer) -> None:
    model_server.will_say(function_call("sayHello", {"personName": "Bob"}), "Done.")

    response = run(hello_world, "hello", hello_world_tool_library)

    assert response.tools_used[0].args == {"personName": "Bob"}


def test_the_older_dialect_is_spoken_where_asked(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say(function_call("sayHello", {"personName": "Bob"}), "Done.")
    model = OpenAIModel(model_server.url, "key", "functions")

    run(hello_world, "hello", hello_world_tool_library, model=model)
    model.close()

    first, second = model_server.requests
    assert first["functions"][0]["name"] == "sayHello"
    assert "tools" not in first
    assert second["messages"][2]["function_call"]["name"] == "sayHello"
    assert second["messages"][3] == {
        "role": "function",
        "name": "sayHello",
        "content": "Hello, Bob! Nice to meet you.",
    }


def test_an_asynchronous_run_says_the_same(hello_world: Pattern, model_server: ModelServer) -> None:
    model_server.will_say(CALL, "Done.", CALL, "Done.")

    once = run(hello_world, "hi", hello_world_tool_library)
    again = asyncio.run(arun(hello_world, "hi", hello_world_tool_library))

    assert once == again
    assert model_server.requests[:2] == model_server.requests[2:]


def test_without_tools_nothing_is_said_of_them(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    from lenses_ext import agent_tool_specs, put

    model_server.will_say("Hi.")

    run(put(agent_tool_specs, (), hello_world), "hello")

    assert set(model_server.requests[0]) == {"model", "messages"}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(raw=b"<html>oops</html>"), "the answer is not JSON"),
        (Answer({"error": {"message": "overloaded", "code": "busy"}}), "overloaded"),
        (Answer({"id": "c1"}), "no message"),
        (Answer({"choices": None}), "no choices"),
        (Answer(completion({"role": "assistant"}, choice={"finish_reason": "content_filter"})),
         "content filter"),
        (Answer({"error": {"message": "bad model"}}, 404), "404: bad model"),
        (Answer({"error": {"message": "too long"}}, 400), "400: too long"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_a_model_error(
    hello_world: Pattern, model_server: ModelServer, answer: Answer, message: str
) -> None:
    model_server.will_say(answer)

    with pytest.raises(ModelError, match=message):
        run(hello_world, "hello", hello_world_tool_library)


def test_a_refused_key_is_a_configuration_error(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say(Answer({"error": {"message": "bad key"}}, 401))

    with pytest.raises(ConfigurationError, match=r"refused the key \(401\): bad key"):
        run(hello_world, "hello", hello_world_tool_library)


@pytest.mark.parametrize(
    "answer",
    [
        Answer({"error": {"message": "slow down"}}, 429, {"retry-after": "0"}),
        Answer({"error": {"message": "oops"}}, 503, {"retry-after": "0"}),
        Answer(raw=b'{"choices": ', drop=True),
    ],
)
def test_what_may_pass_is_tried_again(
    hello_world: Pattern, model_server: ModelServer, answer: Answer
) -> None:
    model_server.will_say(answer, "Here I am.")

    assert run(hello_world, "hello", hello_world_tool_library).content == "Here I am."
    assert model_server.requests[0] == model_server.requests[1]


def test_an_exhausted_quota_is_not_tried_again(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    error = {"error": {"message": "no quota", "code": "insufficient_quota"}}
    model_server.will_say(Answer(error, 429), "never")

    with pytest.raises(ModelError) as caught:
        run(hello_world, "hello", hello_world_tool_library)

    assert caught.value.status == 429
    assert caught.value.code == "insufficient_quota"
    assert len(model_server.requests) == 1


def test_an_address_where_nobody_answers_is_a_model_error(
    hello_world: Pattern,
) -> None:
    model = OpenAIModel("http://127.0.0.1:9/v1", "key", attempts=1)

    with pytest.raises(ModelError, match=r"cannot reach http://127\.0\.0\.1:9/v1"):
        run(hello_world, "hello", hello_world_tool_library, model=model)


def test_without_a_key_the_error_names_the_variable(hello_world: Pattern) -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY is not set"):
        run(hello_world, "hello", hello_world_tool_library)


def test_the_request_is_json_that_repeats(hello_world: Pattern, model_server: ModelServer) -> None:
    model_server.will_say("a", "b")
    for _ in range(2):
        run(hello_world, "hello", hello_world_tool_library)

    first, second = map(json.dumps, model_server.requests)
    assert first == second
