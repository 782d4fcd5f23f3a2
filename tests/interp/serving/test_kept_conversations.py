"""Conversations that a server keeps: named ones go on, and people answer what a run asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openai
import pytest

from interp import ScriptedModel, ToolLibrary, ask_all, tool
from interp.history.stores import open_store
from interp.workers import decide_run
from tests.interp.model_server import tool_calls
from tests.interp.serving.served import GREETER, asked_of

TRIAGE = """
[triage:Agent {description: "Sorts", instruction: "Sort.", model: "OpenAI/gpt-5.6-luna"} |
  (triage)-[:HANDOFF]->(billing)]
[billing:Agent {description: "Bills", instruction: "Bill.", model: "OpenAI/gpt-5.6-luna"}]
"""
PAYER = """
[payer:Agent {instruction: "Pay.", model: "OpenAI/gpt-5.6-luna"} |
  [pay:ToolSpecification {description: "Pays"} | (sum::Integer)==>(::Text)]]
"""
NAMED = {"X-Gram-Conversation": "one"}


@tool
def pay(sum: int) -> str:
    """Pays"""
    return f"paid {sum}"


def call(name: str, arguments: str = "{}") -> dict[str, Any]:
    return tool_calls(("c", name, arguments))


def said(asking: openai.OpenAI, model: str, *texts: str, **more: Any) -> str:
    roles = ["user", "assistant"] * len(texts)
    messages: list[Any] = [
        {"role": role, "content": text} for role, text in zip(roles, texts, strict=False)
    ]
    whole = asking.chat.completions.create(model=model, messages=messages, **more)
    return str(whole.choices[0].message.content)


def test_a_named_conversation_remembers_who_was_handed_over_to(tmp_path: Path) -> None:
    replies = {"triage": [call("billing"), "Again?"], "billing": ["A bill.", "Paid."]}
    model, store = ScriptedModel(replies), str(tmp_path / "runs.db")
    with asked_of(TRIAGE, record=store, model=model) as asking:
        first = said(asking, "triage", "My bill", extra_headers=NAMED)
        second = said(asking, "triage", "My bill", first, "And?", extra_headers=NAMED)
        forgotten = said(asking, "triage", "My bill", first, "And?")

    assert (first, second, forgotten) == ("A bill.", "Paid.", "Again?")
    with open_store(store) as opened:
        contents = [each.content for each in opened.conversation("one").context]
        assert contents[0] == "My bill"
        assert contents[-2:] == ["And?", "Paid."]
        assert len(list(opened.rows())) == 3


def test_both_apis_go_on_with_one_conversation(tmp_path: Path) -> None:
    model, store = ScriptedModel(["Hello.", "Fine."]), str(tmp_path / "runs.db")
    with asked_of(GREETER, record=store, model=model) as asking:
        said(asking, "greeter", "Hi", extra_headers=NAMED)
        response = asking.responses.create(model="greeter", input="And you?", conversation="one")

    assert response.output_text == "Fine."
    assert response.conversation is not None
    assert response.conversation.id == "one"
    assert [each.content for each in model.requests[1].messages] == ["Hi", "Hello.", "And you?"]


@pytest.mark.parametrize("name", ["two\nlines", "x" * 201])
def test_a_name_that_no_log_could_show_is_refused(tmp_path: Path, name: str) -> None:
    refused = pytest.raises(openai.BadRequestError, match="can be shown")
    how: Any = {"record": tmp_path / "runs.db", "model": ScriptedModel([])}
    with asked_of(GREETER, **how) as asking, refused:
        asking.responses.create(model="greeter", input="Hi", conversation=name)


def test_what_waits_for_a_person_is_told_and_then_the_result_is_given(tmp_path: Path) -> None:
    model, store = ScriptedModel([call("pay", '{"sum": 3}'), "It is paid."]), str(tmp_path / "r.db")
    how: Any = {"model": model, "policy": ask_all}
    with asked_of(PAYER, ToolLibrary.of(pay), record=store, **how) as asking:
        waits = said(asking, "payer", "Pay 3", extra_headers=NAMED)
        still = said(asking, "payer", "Pay 3", waits, "Well?", extra_headers=NAMED)
        with open_store(store) as opened:
            (row,) = opened.rows()
            decide_run(opened, row.id, True)
        result = said(asking, "payer", "Pay 3", waits, "Well?", extra_headers=NAMED)

    assert row.id in waits
    assert 'pay({"sum": 3})' in waits.replace('{"sum":3}', '{"sum": 3}')
    assert waits == still
    assert result == "It is paid."


def test_a_run_that_waits_without_a_conversation_names_what_goes_on(tmp_path: Path) -> None:
    model = ScriptedModel([call("pay", '{"sum": 3}')])
    how: Any = {"model": model, "policy": ask_all, "record": tmp_path / "r.db"}
    with asked_of(PAYER, ToolLibrary.of(pay), **how) as asking:
        assert "`gram resume` goes on" in said(asking, "payer", "Pay 3")
