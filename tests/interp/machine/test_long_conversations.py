"""Long conversations: a summary is sent in place of what it covers, and nothing is lost."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

import interp
from gram import Pattern, loads_one, parse
from interp import AssistantRole, ConversationContext, Message, ScriptedModel, UserRole, run
from interp.history import from_pattern, to_pattern
from interp.machine import CallModel, ModelReplied, Request, fold, pending, start, step
from interp.machine.requests import INSTRUCTION
from interp.models import check_program
from interp.tools import ToolLibrary
from tests.by_day import given_few
from tests.interp.model_server import completion, tool_calls

AGENT = """
[a:Agent {{instruction: "Help.", model: "Some/m", settings: {{{settings}}}}} |
  [look:ToolSpecification {{description: "Looks"}} | (what::String)==>(::String)]]
"""
SHORT = "compactAt: 0.5, contextWindow: 200"
LONG = ConversationContext(
    [
        Message(UserRole, "The name is Ada. " + "x" * 400),
        Message(AssistantRole, "Noted. " + "y" * 400),
        Message(UserRole, "And the year is 1815."),
        Message(AssistantRole, "Noted, too."),
    ]
)
CALL = tool_calls(("c1", "look", {"what": "it"}))


def agent(settings: str = SHORT) -> Pattern:
    return loads_one(AGENT.format(settings=settings))


@interp.tool
def look(what: str) -> str:
    """Looks"""
    return "z" * 2_000


TOOLS = ToolLibrary.of(look)


def said(request: Request) -> list[str]:
    return [message.content for message in request.messages]


def test_a_summary_is_sent_in_place_of_what_it_covers_and_every_message_is_kept() -> None:
    model = ScriptedModel(["Ada, 1815.", "Ada."])

    response = run(agent(), "Who?", TOOLS, LONG, model=model)

    summary, asked = model.requests
    assert summary.instruction == INSTRUCTION
    assert not summary.tools
    assert "The name is Ada." in said(summary)[0]
    assert "Who?" not in said(summary)[0]
    assert asked.instruction == "Help."
    assert said(asked) == ["What was said before, in short:\n\nAda, 1815.\n\nWho?"]
    assert response.content == "Ada."
    kept = [message.content for message in response.context]
    assert kept == [*(message.content for message in LONG), "Who?", "Ada."]
    assert [message.summary for message in response.context] == [
        None, None, None, "Ada, 1815.", None, None,
    ]  # fmt: skip


def test_the_next_turn_goes_on_from_the_summary() -> None:
    first = run(agent(), "Who?", TOOLS, LONG, model=ScriptedModel(["Ada, 1815.", "Ada."]))
    model = ScriptedModel(["1815."])
    run(agent(), "When?", TOOLS, first.context, model=model)
    (asked,) = model.requests
    assert said(asked) == [
        "What was said before, in short:\n\nAda, 1815.\n\nWho?", "Ada.", "When?",
    ]  # fmt: skip


def test_results_of_tools_are_summarised_once_all_calls_are_answered() -> None:
    model = ScriptedModel([CALL, "It is a z.", "Done."])
    response = run(agent(), "Look.", TOOLS, model=model)
    asked = model.requests[-1]
    assert said(asked) == ["What was said before, in short:\n\nIt is a z.\n\nGo on from there."]
    assert [each.value.identity for each in asked.tools] == ["look"]
    assert response.content == "Done."


def test_summaries_are_no_rounds_but_their_tokens_count() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 1}
    replies: list[Any] = ["Ada.", CALL, "A z.", "Done."]
    messages: list[dict[str, Any]] = [
        {"content": each} if isinstance(each, str) else each for each in replies
    ]
    model = ScriptedModel([completion(each, usage=usage) for each in messages])

    response = run(agent(), "Look.", TOOLS, LONG, model=model, limits=interp.Limits(iterations=1))

    assert response.content == "Done."
    assert response.usage.total_tokens == 32


def test_the_length_is_that_of_the_last_reply_and_what_came_since() -> None:
    usage = {"prompt_tokens": 150, "completion_tokens": 1}
    model = ScriptedModel(
        [completion(tool_calls(("c1", "look", {"what": "it"})), usage=usage), "Short.", "Done."]
    )
    run(agent(), "Look.", TOOLS, model=model)
    assert model.requests[1].instruction == INSTRUCTION


FAILED: dict[str, Any] = {
    "no shorter": completion({"content": "w" * 3_000}),
    "a refusal": completion({"role": "assistant", "refusal": "No."}),
    "a call": completion(CALL),
    "empty": completion({"content": ""}),
    "cut off at once": completion({"content": ""}, choice={"finish_reason": "length"}),
    "cut off": completion({"content": "A"}, choice={"finish_reason": "length"}),
}


@pytest.mark.parametrize("first", FAILED.values(), ids=FAILED)
def test_a_summary_that_fails_is_asked_for_once_more(first: Any) -> None:
    model = ScriptedModel([first, "Ada, 1815.", "Ada."])
    assert run(agent(), "Who?", TOOLS, LONG, model=model).content == "Ada."


def test_a_summary_that_fails_twice_ends_the_run_and_says_what_to_do(tmp_path: Path) -> None:
    record = tmp_path / "a.run.gram"
    with pytest.raises(
        interp.LimitError,
        match=r"as two summaries failed: the summary is no shorter .*; raise contextWindow",
    ):
        run(agent(), "Who?", TOOLS, LONG, model=ScriptedModel(["w" * 3_000] * 2), record=record)

    settings = {"contextWindow": 100_000}
    answer = interp.resume_run(record, TOOLS, model=ScriptedModel(["Ada."]), settings=settings)
    assert answer.content == "Ada."


def test_a_summary_is_not_shown_as_the_answer() -> None:
    model = ScriptedModel(["Ada, 1815.", "Ada."])
    seen = list(interp.stream(agent(), "Who?", TOOLS, LONG, model=model))
    assert "".join(each.text for each in seen if isinstance(each, interp.TextDelta)) == "Ada."


def test_a_summary_is_recorded_traced_and_read_back(tmp_path: Path) -> None:
    record = tmp_path / "a.run.gram"
    response = run(agent(), "Who?", TOOLS, LONG, record=record,
                   model=ScriptedModel(["Ada, 1815.", "Ada."]))  # fmt: skip

    kept = interp.load_run(record)

    assert kept.state == fold(kept.first, kept.state.events)
    assert kept.state.context == response.context
    assert [entry.is_summary for entry in interp.timeline(kept).entries] == [True, False]
    assert from_pattern(to_pattern(response.context)) == response.context


def test_a_state_in_the_middle_of_a_summary_can_be_kept_and_gone_on_with() -> None:
    state, (asked,), _ = start(agent(), "Who?", LONG)
    assert isinstance(asked, CallModel)
    assert asked.is_for_summary
    again = pickle.loads(pickle.dumps(state))
    assert pending(again) == (asked,)
    reply = ModelReplied(asked.at, Message(AssistantRole, "Ada, 1815."))
    assert step(again, reply).state == step(state, reply).state


def test_the_window_is_written_into_the_program_that_is_run(tmp_path: Path) -> None:
    pytest.importorskip("genai_prices")
    known = loads_one(
        '[a:Agent {instruction: "x", model: "OpenAI/gpt-5", settings: {compactAt: 0.8}}]'
    )

    response = run(known, "hi", model=ScriptedModel(["Hi"]), record=tmp_path / "a.run.gram")

    assert response.content == "Hi"
    settings: Any = interp.load_run(tmp_path / "a.run.gram").first.agent.value.properties[
        "settings"
    ]
    assert settings["contextWindow"] >= 100_000


def test_an_unknown_window_is_one_message() -> None:
    with pytest.raises(
        interp.ConfigurationError, match="the context window, and that of Some/m is not"
    ):
        run(agent("compactAt: 0.5"), "hi", TOOLS, model=ScriptedModel(["Hi"]))


@given_few(
    st.lists(st.text(min_size=1, max_size=300), min_size=1, max_size=6), st.integers(50, 400)
)
def test_every_message_is_kept_whatever_is_said(texts: list[str], window: int) -> None:
    context = ConversationContext()
    for text in texts:
        if not text.strip() or "\0" in text or any("\ud800" <= c <= "\udfff" for c in text):
            continue
        model = ScriptedModel(["ok"] * 3)
        program = agent(f"compactAt: 0.5, contextWindow: {window}")
        context = run(program, text, TOOLS, context, model=model).context
        assert context[-2].content == text
        assert all(not message.summary or message.summary == "ok" for message in context)


WRITTEN = """
[a:Agent {
  instruction: "Help.",
  model: "Some/m",
  settings: {compactAt: 0.5, contextWindow: 200, compactBy: "shortener"}
} | shortener]
[shortener:Agent {
  description: "Shortens",
  instruction: "Make it short.",
  model: "Other/n",
  settings: {maxTokens: 9}
}]
"""


def test_the_agent_that_is_named_for_it_writes_the_summary() -> None:
    model = ScriptedModel(["Ada, 1815.", "Ada."])
    response = run(parse(WRITTEN), "Who?", None, LONG, model=model, agent="a")
    summary, asked = model.requests
    assert (summary.instruction, str(summary.model)) == ("Make it short.", "Other/n")
    assert summary.settings.as_json() == {"maxTokens": 9}
    assert (asked.instruction, asked.tools) == ("Help.", ())
    assert response.content == "Ada."


def test_an_agent_that_is_not_there_writes_no_summary() -> None:
    found = check_program(parse(AGENT.format(settings='compactAt: 0.5, compactBy: "nobody"')))
    (wrong,) = [each for each in found if each.severity == "error"]
    assert wrong.code == "summary-writer"
    assert 'compactBy names "nobody"' in wrong.message
