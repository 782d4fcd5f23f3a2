"""What failures and refusals of a provider mean: for the user, and for asking again."""

from __future__ import annotations

import re
import tomllib
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

import interp
from gram import Pattern
from interp import File, Message, ModelError, OpenAIModel, hello_world_tool_library, load_run, run
from interp.machine import Request
from interp.models.failures import failed, hint_about
from interp.models.providers import Dialect
from lenses_ext import Model, create_agent_pattern
from tests.interp.model_server import Answer, ModelServer, completion, delta, tool_calls
from tests.paths import DATA

UNUSABLE = [
    (Answer({"error": {"message": "m", "code": "context_length_exceeded"}}, 400), "shorten it"),
    (Answer({"error": {"message": "too long"}}, 400), "400: too long"),
    (Answer({"error": {"message": "bad model"}}, 404), "404: bad model.*the program's `model`"),
    (Answer({"error": {"message": "m"}}, 413), "shorten it"),
    (Answer({"error": {"message": "m", "code": "insufficient_quota"}}, 429), "m.*the billing"),
    (Answer({"error": {"message": "m"}}, 422), "does not accept this request"),
    (Answer({"error": "just words"}, 400), "just words"),
    (Answer({"detail": "no such field"}, 422), "no such field"),
    (Answer(raw=b"<html>teapot</html>", status=418), "418"),
    (Answer(raw=b"<html>oops</html>"), "the reply is not JSON"),
    (Answer(raw=b"", status=200), "the reply is empty: it has no body"),
    (Answer(raw=b" \r\n", status=200), "the reply is empty: it has no body"),
    (Answer(raw=b'{"choices": [NaN]}'), "NaN is not JSON"),
    (Answer([1]), "is list, not a message"),
    (Answer({"error": {"message": "overloaded", "code": "busy"}}), "overloaded"),
    (Answer(completion({"content": "x"}, choice={"error": {"message": "mid"}})), "mid"),
    (Answer({"id": "c1"}), "no message"),
    (Answer({"choices": [{"finish_reason": "stop"}]}), "no message"),
    (Answer({"choices": None}), "no choices"),
    (Answer({"choices": [None]}), "no choices"),
    (Answer(tool_calls(("c", None, {}))), "does not name a tool"),  # type: ignore[arg-type]  # wrong on purpose
    (
        Answer(completion({"role": "assistant"}, choice={"finish_reason": "content_filter"})),
        "content filter",
    ),
]


@pytest.mark.parametrize(("answer", "message"), UNUSABLE)
def test_what_asking_again_cannot_help_is_reported_at_once(
    hello_world: Pattern, model_server: ModelServer, answer: Answer, message: str
) -> None:
    model_server.will_say(answer, "never")

    with pytest.raises(ModelError) as caught:
        run(hello_world, "hi", hello_world_tool_library)

    assert re.search(message, str(caught.value), re.DOTALL)
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


def waiting(header: str) -> float | None:
    """How long a provider asks to wait in a header."""
    error = failed("m", status=429, headers={"retry-after": header})
    assert isinstance(error, ModelError)
    return error.retry_after


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("2", 2),
        ("0.5", 0.5),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("١", 1),
        ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", None),
        ("Mon, 01 Jan 2024 00:00:00 +99999999999999999", None),
    ],
)
def test_retry_after_is_read_in_seconds(header: str, seconds: float | None) -> None:
    assert waiting(header) == seconds


def test_a_date_to_retry_after_is_read_by_the_clock_of_the_provider_or_by_ours() -> None:
    day = "Mon, 01 Jan 2024"
    headers = {"date": f"{day} 00:00:00 GMT", "retry-after": f"{day} 00:00:30 GMT"}
    error = failed("m", status=429, headers=headers)
    now = datetime.now(UTC)
    later, past = (format_datetime(now + timedelta(seconds=s), usegmt=True) for s in (30, -30))

    assert isinstance(error, ModelError)
    assert error.retry_after == 30
    assert 25 < (waiting(later) or 0) <= 30
    assert waiting(past) == 0


# --- what providers really say

OVERFLOWS = [
    (400, {"message": "This model's maximum context length is 8192 tokens. However, …"}),
    (400, {"message": "prompt is too long: 200001 tokens > 200000 maximum"}),  # Anthropic
    (400, {"message": "The input token count (1048577) exceeds the maximum"}),  # Google
    (400, {"code": 400, "type": "exceed_context_size_error", "message": "the request exceeds the "
           "available context size, try increasing it"}),  # llama.cpp
    (500, {"message": "Requested tokens (2050) exceed context window of 2048"}),  # llama-cpp-python
    (413, {"message": "Request too large: reduce the input, it exceeds the model's context"}),
    (422, {"message": "Input is too long for requested model"}),
    (422, {"message": "`inputs` tokens + `max_new_tokens` must be <= 8193"}),  # Together
    (400, {"message": "This model's maximum prompt length is 131072 but the request …"}),  # xAI
    (400, {"message": "The decoder prompt is longer than the maximum model length of 4"}),  # vLLM
    (400, {"message": "input length and `max_tokens` exceed context limit: 3 + 4 > 5"}),
    (400, {"message": "Your request exceeded model token limit: 8192"}),  # Moonshot
]  # fmt: skip


@pytest.mark.parametrize(("status", "error"), OVERFLOWS)
@pytest.mark.parametrize("streaming", [False, True])
def test_a_context_that_is_too_long_has_one_name(
    status: int, error: object, streaming: bool
) -> None:
    found = failed({"error": error}, status=None if streaming else status)
    assert isinstance(found, ModelError)
    assert (found.code, found.retriable) == ("context_length_exceeded", False)
    assert "shorten it" in str(found)


WRONG_KEYS = [
    (401, {"error": {"message": "bad key"}}),
    (403, {"error": {"message": "bad key"}}),
    (401, {"detail": "Unauthorized"}),
    (401, {"error": "invalid x-api-key"}),
    (401, [{"error": {"code": 401, "message": "bad", "status": "UNAUTHENTICATED"}}]),
    (400, [{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}]),
    (400, {"error": {"message": "m", "details": [], "code": "invalid_api_key"}}),
    (400, {"detail": [{"msg": "missing API key"}]}),
    (403, {"message": "Invalid API Key"}),
    (200, {"error": {"message": "Incorrect API key provided"}}),
    (200, {"code": 401, "msg": "token expired or incorrect"}),
    (400, {"error": "Bad API key"}),
    (400, {"message": "Your API key is disabled"}),
    (400, {"object": "error", "message": "Malformed API key"}),
]


@pytest.mark.parametrize(("status", "body"), WRONG_KEYS)
def test_a_wrong_key_is_a_configuration_error_in_any_shape(
    hello_world: Pattern, model_server: ModelServer, status: int, body: object
) -> None:
    model_server.will_say(Answer(body, status), "never")
    with pytest.raises(interp.ConfigurationError, match="refused the key") as caught:
        run(hello_world, "hi", hello_world_tool_library)
    assert len(model_server.requests) == 1
    assert caught.value.state is not None


def test_what_a_provider_does_not_allow_is_not_a_wrong_key() -> None:
    found = failed({"message": "Your input was flagged by moderation", "code": 403}, status=403)
    assert isinstance(found, ModelError)
    assert "answered 403: Your input was flagged" in str(found)


@pytest.mark.parametrize(
    "error",
    [
        {"message": "litellm.BadRequestError: OpenAIException - …", "code": "500"},
        {"message": "JSON schema conversion failed: …", "type": "server_error", "code": 500},
        {"message": "Failed to parse tool call arguments as JSON: …", "type": "server_error"},
        {"message": "m", "type": "invalid_request_error"},
        {"message": "this chat template does not support tools", "type": "server_error"},
    ],
)
def test_a_500_that_is_a_bad_request_is_not_sent_again(
    hello_world: Pattern, model_server: ModelServer, error: object
) -> None:
    model_server.will_say(Answer({"error": error}, 500, {"retry-after": "0"}), "never")
    with pytest.raises(ModelError, match=r"does not accept this request|takes no tools"):
        run(hello_world, "hi", hello_world_tool_library)
    assert len(model_server.requests) == 1


@pytest.mark.parametrize(
    "raw", ['{"error": {"message": "too hot"}}', "too hot", {"message": "too hot"}]
)
def test_what_the_provider_behind_a_gateway_says_is_told(raw: object) -> None:
    metadata = {"raw": raw, "provider_name": "Fireworks"}
    found = failed({"message": "Provider returned error", "code": 429, "metadata": metadata})
    assert "Provider returned error (Fireworks: too hot)" in str(found)
    assert isinstance(found, ModelError)
    assert (found.status, found.retriable) == (429, True)


@pytest.mark.parametrize(
    ("text", "warned"),
    [
        ('<tool_call>{"name": "sayHello", "arguments": {}}</tool_call>', True),
        ('<function=sayHello>{"personName": "A"}</function>', True),
        ('[TOOL_CALLS] [{"name": "sayHello", "arguments": {}}]', True),
        ('```json\n{"name": "sayHello", "parameters": {"personName": "A"}}\n```', True),
        ('{"name": "another", "arguments": {}}', False),
        ("I can sayHello to you.", False),
    ],
)
def test_a_call_that_was_written_as_text_is_warned_about(
    hello_world: Pattern, model_server: ModelServer, caplog: pytest.LogCaptureFixture,
    text: str, warned: bool,
) -> None:  # fmt: skip
    model_server.will_say(text)
    assert run(hello_world, "hi", hello_world_tool_library).content == text
    assert ("wrote a call of sayHello as text" in caplog.text) == warned


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(
    ("written", "name", "arguments"),
    [
        ('<function=sayHello{"personName": "Al"</function>', "sayHello", None),
        (
            '{"name": "sayHello", "arguments": {"personName": "Al"}}',
            "sayHello",
            '{"personName":"Al"}',
        ),
        ('[{"name": "sayHello", "parameters": {"personName": 3}}]', "sayHello", None),
        ('{"name": "json", "arguments": {"personName": "Al"}}', "json", None),
    ],
)
def test_the_model_learns_of_a_call_that_its_provider_could_not_read(
    hello_world: Pattern, model_server: ModelServer, streaming: bool,
    written: str, name: str, arguments: str | None,
) -> None:  # fmt: skip
    error = {"message": "Failed to call a function.", "code": "tool_use_failed"}
    error["failed_generation"] = written
    events = [delta("a"), {"error": error}] if streaming else None
    answer = Answer({"error": error}, 200 if streaming else 400, events=events)
    model_server.will_say(answer, "Done.")
    begun = interp.begin(hello_world, "hi", hello_world_tool_library)
    if streaming:
        list(begun.stream())

    (used,) = begun.finish().tools_used

    assert (used.tool_name, used.error is None) == (name, arguments is not None)
    assert arguments is None or used.args_text == arguments
    assert (used.error or "Hello") in model_server.requests[1]["messages"][-1]["content"]


NO_TOOLS = "Function tools with reasoning_effort are not supported for m. Please use /v1/responses."
SAID = [
    (said, hint)
    for hint, refusals in tomllib.loads((DATA / "refusals.toml").read_text("utf-8")).items()
    for said in refusals
]


@pytest.mark.parametrize(("said", "hint"), SAID)
def test_a_known_refusal_says_what_to_write(said: str, hint: str) -> None:
    error = failed({"error": {"message": said}}, status=400, model=Model("My-Cloud", "m"))
    assert hint in str(error)
    assert said[:60] in str(error)
    assert "{" not in hint_about(said)


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ({"error": {"message": "Invalid value: 'xhigh'.", "param": "reasoning.effort"}},
         "--set reasoningEffort="),
        ({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]},
         "400: seed: Extra inputs are not permitted"),
        ({"message": {"detail": [{"loc": ["body", "stop"], "msg": "not permitted"}]}},
         "--set stop=null"),
    ],
)  # fmt: skip
def test_the_field_is_known_where_it_is_named_beside_the_words(
    body: dict[str, Any], hint: str
) -> None:
    assert hint in str(failed(body, status=400))


@pytest.mark.parametrize(
    "said", ["", "Bad request", "Invalid 'messages[1]': no tool call found", "not supported"]
)
def test_other_words_have_no_hint(said: str) -> None:
    assert hint_about(said) == ""


def test_the_readmes_example_runs_where_tools_need_the_responses_api(
    model_server: ModelServer, hello_world: Pattern
) -> None:
    model_server.refuses_tools_in_chat = True
    with pytest.raises(ModelError, match=r"--dialect responses .*OPENAI_DIALECT=responses"):
        run(hello_world, "Hello", hello_world_tool_library)
    model_server.will_say("Hello!", "Hello!")
    ways_out: list[Any] = [{"dialect": "responses"}, {"settings": {"reasoningEffort": "none"}}]
    for way_out in ways_out:
        answer = run(hello_world, "Hello", hello_world_tool_library, **way_out)
        assert answer.content == "Hello!"


PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
URL = f"data:image/png;base64,{b64encode(PNG).decode()}"


@interp.tool
def plot() -> list[str | File]:
    """Plots a chart"""
    return ["done", File(PNG, "chart.png")]


AGENT = create_agent_pattern(
    "seer", None, "OpenAI/gpt-5.6-luna", "Look.", [interp.tool_spec_from_function(plot)]
)
RESULT = '["done","chart.png (image/png, 28 bytes)"]'
CALLS = tool_calls(("c1", "plot", {}), ("c2", "plot", {}))


def test_one_message_of_the_user_follows_the_last_result_of_a_turn(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.will_say(CALLS, "A chart.")
    model = OpenAIModel(model_server.url, "key")
    record = tmp_path / "a.run.gram"

    response = run(AGENT, "Plot.", [plot], model=model, record=record)

    first, second, files = model_server.requests[1]["messages"][3:]
    assert [first["content"], second["content"]] == [RESULT, RESULT]
    named = {"type": "text", "text": "plot (call c1) returned chart.png (image/png, 28 bytes):"}
    assert files["role"] == "user"
    assert files["content"][:2] == [named, {"type": "image_url", "image_url": {"url": URL}}]
    assert len(files["content"]) == 4
    assert record.read_text().count(b64encode(PNG).decode()) == 1
    assert load_run(record).state.context == response.context
    assert response.tools_used[0].files == (File(PNG, "chart.png"),)


def test_a_run_that_goes_on_sends_the_files_again(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.will_say(tool_calls(("c1", "plot", {})), Answer({"error": {"message": "no"}}, 400))
    model = OpenAIModel(model_server.url, "key")
    record = tmp_path / "a.run.gram"
    with pytest.raises(ModelError):
        run(AGENT, "Plot.", [plot], model=model, record=record)
    model_server.will_say("A chart.")

    interp.resume_run(record, [plot], model=model)

    assert model_server.requests[2]["messages"] == model_server.requests[1]["messages"]
    assert load_run(record).state.context[-1].content == "A chart."


def test_a_model_that_refuses_them_is_told_in_words(model_server: ModelServer) -> None:
    refusal = Answer({"error": {"message": "image input is not supported"}}, 400)
    model_server.will_say(tool_calls(("c1", "plot", {})), refusal, "A chart.")
    model = OpenAIModel(model_server.url, "key")

    assert run(AGENT, "Plot.", [plot], model=model).content == "A chart."

    *_, result = model_server.requests[2]["messages"]
    told = f"{RESULT}\n[chart.png (image/png, 28 bytes) cannot be sent"
    assert result["content"].startswith(told)


@pytest.mark.parametrize(("dialect", "word"), [("responses", "output"), ("functions", "content")])
def test_a_result_has_its_files_or_says_why_not(dialect: Dialect, word: str) -> None:
    file = File(PNG, "a\nb.png")
    said = Message(interp.FunctionRole("plot"), "x", call_id="c1", attachments=[file])
    request = Request(
        Model("A", "b"), "", interp.ConversationContext([Message(interp.UserRole, "hi"), said])
    )
    body = OpenAIModel("http://localhost/v1", "key", dialect=dialect).body(request)

    result: Any = (body.get("input") or body["messages"])[-1][word]
    if dialect == "responses":
        shown = {"type": "input_image", "image_url": URL}
        assert result == [{"type": "input_text", "text": "x"}, shown]
    else:
        assert "the dialect functions takes no files" in result
