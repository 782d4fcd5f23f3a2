"""Models behind an OpenAI-compatible address, spoken to over real HTTP."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from typing import Any

import pytest

import interp
from gram import ArgumentError, Pattern
from interp import ConfigurationError, ModelError, OpenAIModel, hello_world_tool_library, run
from interp.machine import Usage
from interp.models import price_of, request_body
from tests.interp.four_ways import QUESTION
from tests.interp.model_server import Answer, ModelServer, completion, delta, tool_calls
from tests.paths import ROOT

CALL = tool_calls(("c1", "sayHello", {"personName": "Alice"}))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("base_url", 3), ("key", None), ("max_tokens", 3), ("timeout", "1"), ("attempts", "3"),
        ("connect_timeout", None), ("max_reply_bytes", "1"), ("not_taken", 3), ("not_taken", [3]),
    ],
)  # fmt: skip
def test_arguments_of_another_type_are_refused(name: str, wrong: Any) -> None:
    given: dict[str, Any] = {"base_url": "http://localhost/v1", "key": "key", name: wrong}
    with pytest.raises(ArgumentError, match=rf"^OpenAIModel: {name}"):
        OpenAIModel(**given)


def test_what_is_no_request_and_no_model_is_refused() -> None:
    nowhere: Any = OpenAIModel("http://127.0.0.1:9/v1", "key")
    for ask in (nowhere.body, nowhere.complete, request_body):
        with pytest.raises(ArgumentError, match="request must be a Request, got int"):
            ask(3)
    with pytest.raises(ArgumentError, match="price_of: model must be a Model, got int"):
        price_of(3, Usage(1, 1))  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    "answer",
    [
        Answer({"error": {"message": "busy", "code": 503}}),  # an overload with status 200
        Answer(raw=b'{"choices": ', drop=True),
    ],
)
def test_what_may_pass_is_tried_again(
    hello_world: Pattern, model_server: ModelServer, answer: Answer
) -> None:
    model_server.will_say(answer, "Here I am.")
    assert run(hello_world, "hello", hello_world_tool_library).content == "Here I am."
    assert model_server.requests[0] == model_server.requests[1]


def test_a_wait_that_is_too_long_is_not_waited_for(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say(Answer({"error": {"message": "m"}}, 429, {"retry-after": "3600"}))
    with pytest.raises(ModelError) as caught:
        run(hello_world, "hi", hello_world_tool_library)
    assert caught.value.retry_after == 3600
    assert len(model_server.requests) == 1


def test_silence_and_an_address_where_nobody_answers_are_model_errors(
    hello_world: Pattern, model_server: ModelServer
) -> None:
    model_server.will_say(Answer(completion({"content": "late"}), silence=1))
    model = OpenAIModel(model_server.url, "key", timeout=0.3, attempts=1)
    with pytest.raises(ModelError, match=r"did not answer within 0\.3 s"):
        run(hello_world, "hi", hello_world_tool_library, model=model)
    model.close()
    nowhere = OpenAIModel("http://127.0.0.1:9/v1", "key", attempts=1)
    with pytest.raises(ModelError, match=r"cannot connect to http://127\.0\.0\.1:9/v1: (Con|All)"):
        nowhere.complete(QUESTION)


@pytest.mark.parametrize("streaming", [False, True])
def test_a_run_that_is_cancelled_lets_go_of_its_connection(
    hello_world: Pattern, model_server: ModelServer, streaming: bool
) -> None:
    slow = [delta("Hel"), 5.0, delta("lo", "stop")]
    model_server.will_say(
        Answer(events=slow) if streaming else Answer(completion({"content": "late"}), silence=5)
    )

    async def cancelled() -> interp.Run:
        begun = interp.begin(hello_world, "hi", hello_world_tool_library)

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


def test_the_organization_of_the_environment_is_told(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    model_server.will_say("Hi.")
    OpenAIModel(model_server.url, "a key of its own").complete(QUESTION)
    (headers,) = model_server.headers
    assert headers["openai-organization"] == "org-1"


@pytest.mark.parametrize(
    "wrong", [{"dialect": "tool"}, {"answers": "never"}, {"answers_as": "xml"}, {"dialect": []}]
)
def test_a_form_that_is_not_known_is_a_configuration_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="is not one of '"):
        OpenAIModel("http://127.0.0.1:9/v1", "key", **wrong)


def test_a_model_can_be_prepared_for_its_first_request() -> None:
    code = (
        "import asyncio, sys; from interp import OpenAIModel; "
        "m = OpenAIModel('http://x/v1', 'k'); "
        "print('openai' in sys.modules); asyncio.run(m.aprepare()); print('openai' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )

    assert done.stdout.split() == ["False", "True"]
