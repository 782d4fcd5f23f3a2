"""The timeline: what happened in a run, as data that all views read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import interp
from gram import dumps, loads_one
from interp import ScriptedModel, Usage, ask_all, load_run, run, timeline
from interp.history.replaying import Timeline
from interp.models import price_of
from interp.views import run_page, summary
from lenses_ext import Model, parse_program
from tests.interp.counting import counting
from tests.interp.execution.test_recording import AGENT, CALLS
from tests.interp.model_server import ModelServer


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.gram"


def of(file: Path, *replies: Any, **options: Any) -> Timeline:
    """What happened in a run of an agent that counts."""
    run(AGENT, "go", counting([]), model=ScriptedModel(replies), record=file, **options)
    return timeline(load_run(file), has_prices=False)


def stopped(file: Path, *replies: Any, **options: Any) -> Timeline:
    """What happened in one that waits for approval."""
    with pytest.raises(interp.ApprovalNeeded):
        of(file, *replies, policy=ask_all, **options)
    return timeline(load_run(file), has_prices=False)


def test_a_timeline_has_each_request_and_each_call(file: Path) -> None:
    found = of(file, CALLS, "done")
    assert (found.input, found.answer, found.waits_for) == ("go", "done", ())
    assert [each.kind for each in found.entries] == ["model", "tool", "tool", "model"]
    assert {each.how for each in found.entries} == {"done"}
    assert found.entries[0].calls == (found.entries[1].name,) * 2
    assert (found.requests, found.calls) == (2, 2)


def test_what_a_run_waits_for_stands_at_its_end(file: Path) -> None:
    found = stopped(file, CALLS)
    assert [each.at for each in found.waits_for] == [(0, 0), (0, 1)]
    assert {each.how for each in found.waits_for} == {"asked"}
    assert found.answer is None


def test_calls_say_whether_somebody_allowed_them(file: Path) -> None:
    def approve(ask: Any) -> Any:
        return ask.at == (0, 0) or "not twice"

    found = of(file, CALLS, "done", policy=ask_all, approve=approve)

    calls = (each for each in found.entries if each.kind == "tool")
    allowed, denied = sorted(calls, key=lambda each: each.at)

    assert (allowed.how, allowed.approval) == ("done", True)
    assert (denied.how, denied.approval) == ("refused", False)
    assert "not twice" in (denied.error or "")


def test_what_the_caller_changes_on_resuming_is_an_entry(file: Path) -> None:
    stopped(file, CALLS)
    changed: Any = {"approve": lambda _: True, "limits": interp.Limits(tokens=7)}
    interp.resume_run(file, counting([]), model=ScriptedModel(["done"]), **changed)
    (change,) = (each for each in timeline(load_run(file)).entries if each.kind == "change")
    assert change.to_json()["arguments"] == {"limits": {"tokens": 7}}


def test_json_leaves_out_what_is_unknown(file: Path) -> None:
    (entry,) = json.loads(json.dumps(of(file, "done").to_json()))["entries"]
    assert entry["at"] == [0]
    assert entry["result"] == "done"
    assert "error" not in entry
    assert "children" not in entry


def test_the_cost_of_a_run_is_that_of_its_replies(file: Path) -> None:
    reply = {
        "choices": [{"message": {"content": "done"}}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 500},
    }
    model = ScriptedModel([reply])
    priced = loads_one(dumps(AGENT).replace("A/b", "OpenAI/gpt-5"))
    run(priced, "go", counting([]), model=model, record=file)
    found = timeline(load_run(file))
    assert found.usage == Usage(1000, 500)
    assert found.cost == price_of(Model("OpenAI", "gpt-5"), Usage(1000, 500))


def test_a_cost_is_unknown_where_another_server_than_the_providers_answered(
    file: Path, model_server: ModelServer
) -> None:
    program = parse_program('[a:Agent {instruction: "Say.", model: "OpenAI/gpt-5-mini"}]')
    model_server.will_say("hi")
    elsewhere = model_server.url.replace("//", "//me:secret99x@") + "?k=abcdef99"
    model_server.takes_any_path = True
    run(program, "go", base_url=elsewhere, record=file)

    found, text = timeline(load_run(file)), file.read_text(encoding="utf-8")
    (reply,) = found.entries

    assert (reply.server, reply.cost, found.cost) == (model_server.url, None, None)
    assert summary(found).count("cost unknown") == 1
    assert "unknown" in run_page(load_run(file))
    assert "secret99x" not in text
    assert "abcdef99" not in text
    load_run(file).check()


AT_ONCE = parse_program("""
[outer:Workflow {description: "Maps twice."} | (items::Array)==>(::Array), inner, last,
  (inner)-->(last)]
[inner:Workflow {description: "Maps."} | (items::Array)==>(::Array), each, ()-[:EACH]->(each)]
[last:Workflow {description: "Maps."} | (items::Array)==>(::Array), each, ()-[:EACH]->(each)]
(each:Agent {instruction: "Say it.", model: "A/b"})
""")


def test_what_begins_and_ends_at_once_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "run.gram"
    run(AT_ONCE, {"items": []}, agent="outer", model=ScriptedModel([]), record=file)
    entries = timeline(load_run(file)).entries
    found = [(each.at, each.kind, each.how, each.arguments, each.result) for each in entries]
    assert found == [
        (("inner",), "workflow", "done", "[]", "[]"),
        (("last",), "workflow", "done", "[]", "[]"),
    ]
    inside = [(each.at, each.kind) for entry in entries for each in entry.children]
    assert inside == [(("inner", "each"), "each"), (("last", "each"), "each")]


def test_a_step_that_is_refused_when_the_run_begins_fails_in_its_workflow(tmp_path: Path) -> None:
    program = parse_program(
        '[outer:Workflow {description: "Pays."} | inner]'
        '[inner:Workflow {description: "Pays."} | pay]'
        '[pay:Tool {description: "Pays."} | (x::String)==>(::String)]'
    )

    @interp.tool
    def pay(x: str) -> str:
        """Pays."""
        return x

    file = tmp_path / "run.gram"
    tools = interp.ToolLibrary.of(pay)
    with pytest.raises(interp.WorkflowError):
        run(program, "go", tools, agent="outer", policy=interp.deny_all, record=file)

    (entry,) = timeline(load_run(file)).entries
    (step,) = entry.children
    assert (entry.at, entry.kind, entry.how) == (("inner",), "workflow", "failed")
    assert 'step "pay" failed' in (entry.error or "")
    assert (step.at, step.kind, step.how, step.name) == (("inner", "pay"), "tool", "refused", "pay")
    assert "not run" in (step.error or "")
