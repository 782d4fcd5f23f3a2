"""Refusals of providers: the hint names what the user writes, and what is learned of them."""

from __future__ import annotations

import tomllib
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from gram import Pattern
from interp import (
    File,
    Message,
    ModelError,
    OpenAIModel,
    UserRole,
    hello_world_tool_library,
    load_run,
    resume_run,
    run,
    timeline,
    tool,
    tool_spec_from_function,
)
from interp.history.replaying import Replay
from interp.models.failures import failed
from interp.models.providers import Dialect
from interp.models.refusals import hint_about
from interp.views import lines, run_page
from lenses_ext import Model, create_agent_pattern
from tests.interp.model_server import Answer, ModelServer, tool_calls
from tests.paths import DATA

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


def test_the_variable_is_that_of_the_provider() -> None:
    assert "MY_CLOUD_DIALECT=responses" in hint_about(NO_TOOLS, Model("My-Cloud", "m"))


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

    model_server.will_say("Hello!")
    answer = run(hello_world, "Hello", hello_world_tool_library, dialect="responses")
    assert answer.content == "Hello!"


def test_no_effort_is_a_way_out_in_chat_completions(
    model_server: ModelServer, hello_world: Pattern
) -> None:
    model_server.refuses_tools_in_chat = True
    model_server.will_say("Hello!")

    answer = run(
        hello_world, "Hello", hello_world_tool_library, settings={"reasoningEffort": "none"}
    )

    assert answer.content == "Hello!"


PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
URL = f"data:image/png;base64,{b64encode(PNG).decode()}"


@tool
def plot() -> list[str | File]:
    """Plots a chart"""
    return ["done", File(PNG, "chart.png")]


AGENT = create_agent_pattern(
    "seer", None, "OpenAI/gpt-5.6-luna", "Look.", [tool_spec_from_function(plot)]
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


def test_a_trace_names_the_files_that_came_and_a_page_shows_them(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.will_say(tool_calls(("c1", "plot", {})), "A chart.")
    model = OpenAIModel(model_server.url, "key")
    record = tmp_path / "a.run.gram"
    run(AGENT, ["Plot.", File(b"Blue.", "note.txt")], [plot], model=model, record=record)

    found = timeline(load_run(record))

    assert lines(found)[1] == "attached: note.txt (text/plain, 5 bytes)"
    told = found.to_json()
    assert told["attachments"][0]["name"] == "note.txt"
    assert told["entries"][1]["files"] == [
        {
            "name": "chart.png",
            "media_type": "image/png",
            "address": None,
            "bytes": len(PNG),
            "sha256": File(PNG).sha256,
        }
    ]
    assert run_page(load_run(record)).count(URL) == 1


def test_a_run_that_goes_on_sends_the_files_again(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.will_say(tool_calls(("c1", "plot", {})), Answer({"error": {"message": "no"}}, 400))
    model = OpenAIModel(model_server.url, "key")
    record = tmp_path / "a.run.gram"
    with pytest.raises(ModelError):
        run(AGENT, "Plot.", [plot], model=model, record=record)
    model_server.will_say("A chart.")

    resume_run(record, [plot], model=model)

    assert model_server.requests[2]["messages"] == model_server.requests[1]["messages"]
    assert Replay(load_run(record)).state.context[-1].content == "A chart."


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
    from interp import ConversationContext, FunctionRole
    from interp.machine import Request
    from lenses_ext import Model

    said = Message(FunctionRole("plot"), "x", call_id="c1", attachments=[File(PNG, "a.png")])
    request = Request(Model("A", "b"), "", ConversationContext([Message(UserRole, "hi"), said]))
    body = OpenAIModel("http://localhost/v1", "key", dialect=dialect).body(request)

    result: Any = (body.get("input") or body["messages"])[-1][word]
    if dialect == "responses":
        shown = {"type": "input_image", "image_url": URL}
        assert result == [{"type": "input_text", "text": "x"}, shown]
    else:
        assert "the dialect functions takes no files" in result
