"""Files that tools return, on their way to a model, into a record and back."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from interp import (
    File,
    Message,
    ModelError,
    OpenAIModel,
    UserRole,
    load_run,
    resume_run,
    run,
    timeline,
    tool,
    tool_spec_from_function,
)
from interp.history.replaying import Replay
from interp.models.providers import Dialect
from interp.views import lines, run_page
from lenses_ext import create_agent_pattern
from tests.interp.model_server import Answer, ModelServer, tool_calls

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
URL = f"data:image/png;base64,{b64encode(PNG).decode()}"


@tool
def plot() -> list[str | File]:
    """Plots a chart"""
    return ["done", File(PNG, "chart.png")]


AGENT = create_agent_pattern(
    "seer", None, "OpenAI/gpt-5.6-luna", "Look.", [tool_spec_from_function(plot)]
)
SAID = '["done","chart.png (image/png, 28 bytes)"]'
CALLS = tool_calls(("c1", "plot", {}), ("c2", "plot", {}))


def test_one_message_of_the_user_follows_the_last_result_of_a_turn(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.will_say(CALLS, "A chart.")
    model = OpenAIModel(model_server.url, "key")
    record = tmp_path / "a.run.gram"

    response = run(AGENT, "Plot.", [plot], model=model, record=record)

    first, second, files = model_server.requests[1]["messages"][3:]
    assert [first["content"], second["content"]] == [SAID, SAID]
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
    assert result["content"].startswith(f"{SAID}\n[chart.png (image/png, 28 bytes) cannot be sent")


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
