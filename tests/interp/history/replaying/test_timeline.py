"""The timeline: what happened in a run, as data that all views read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from threading import Barrier
from time import sleep
from typing import Any

import pytest
from hypothesis import strategies as st

import interp
from gram import Pattern, dumps, loads_one
from interp import (
    ModelError,
    ScriptedModel,
    ToolLibrary,
    Usage,
    ask_all,
    load_run,
    run,
    timeline,
    tool,
)
from interp.history import RecordedRun
from interp.history.records import RecordedStep, Replayer
from interp.history.replaying import Entry, Timeline
from interp.machine import CallFailed, CallModel, CallTool, Effect, start, waits_for
from interp.models import price_of
from interp.views import run_page, summary
from lenses_ext import Model, parse_program
from tests.by_day import given_few
from tests.interp.counting import counting
from tests.interp.execution.test_recording import AGENT, CALLS
from tests.interp.machine.test_any_order import answer, read, workflows
from tests.interp.model_server import ModelServer, tool_calls


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
    assert (found.answer, found.standing) == (None, "waiting")  # as a list of runs says it


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


# --- the tree of what happened: agents inside agents, steps of workflows, whatever ends first


def recorded(program: Pattern, random: Random, stops_after: int) -> RecordedRun:
    """A run whose answers come in any order, some of them failures, as far as it came."""
    first, effects, _ = start(program, "x")
    replayer, waiting, steps = Replayer(first), list(effects), list[RecordedStep]()
    while waiting and len(steps) < stops_after:
        effect = waiting.pop(random.randrange(len(waiting)))
        if waits_for(replayer.state, effect):
            steps.append(replayer.take(_event(effect, random)))
            waiting += steps[-1].effects
    return RecordedRun(first, tuple(steps), "", None, ())


def _event(effect: Effect, random: Random) -> Any:
    if isinstance(effect, CallTool) and random.randrange(4) == 0:
        return CallFailed(effect.at, "out of order")
    return answer(effect)


def walk(entries: tuple[Entry, ...], around: tuple[Entry, ...] = ()) -> Iterator[Any]:
    """Each entry of a tree with those around it."""
    for each in entries:
        yield each, around
        yield from walk(each.children, (*around, each))


@given_few(workflows().map(read), st.randoms(use_true_random=False), st.integers(1, 60))
def test_no_entry_is_lost_or_there_twice_and_what_has_ended_stays_as_it_was_shown(
    program: Pattern, random: Random, stops_after: int
) -> None:
    drawn = recorded(program, random, stops_after)
    found = timeline(drawn, has_prices=False)
    tree = [each for each, _ in walk(found.entries)]
    ended = [each for each in found.in_order if not each.is_open]
    leaves = Counter(each.at for each in ended if not each.is_frame and each.how != "dropped")

    assert Counter(map(id, tree)) == Counter(map(id, found.in_order))
    assert leaves == Counter(each.event.at for each in drawn.steps)
    frames = [each.at for each in tree if each.is_frame]
    assert len(frames) == len(set(frames))
    for each, around in walk(found.entries):
        places = [at for at in frames if at == each.at[: len(at)] and len(at) < len(each.at)]
        assert [other.at for other in around] == sorted(places, key=len)
        assert each.level == len(around)
        if each.is_frame:
            replies = [one for one, _ in walk(each.children) if one.kind == "model"]
            assert each.requests == sum(
                not one.is_open and one.usage is not None for one in replies
            )
    assert found.requests == sum(isinstance(each.effect, CallModel) for each in drawn.steps)

    half = RecordedRun(drawn.first, drawn.entries[: len(drawn.entries) // 2], "", None, ())
    before = [each for each in timeline(half, has_prices=False).in_order if not each.is_open]
    assert ended[: len(before)] == before


TEAM = """
[desk:Agent {instruction: "Ask.", model: "A/b"} | researcher]
[researcher:Agent {instruction: "Research.", model: "A/c"} | search]
[search:Tool {description: "Search"} | (query::Text)==>(::Text)]
[news:Workflow | (researcher)-->(refine)]
[refine:Loop {max: 3, until: {critic: "good"}} |
  writer, critic, (writer)-->(critic), (writer)-->()]
(writer:Agent {instruction: "Write.", model: "A/d"})
(critic:Agent {instruction: "Judge.", model: "A/d"})
[seek:Workflow | (search)-->(writer)]
"""


@tool
def search(query: str) -> str:
    """Search"""
    return query


def shape(entry: Entry) -> Any:
    """What happened, as nested names."""
    name = entry.name if entry.kind != "model" else "asks"
    return (name, [shape(each) for each in entry.children]) if entry.is_frame else name


def shown(file: Path, agent: str, *replies: Any, said: str = "sea") -> Timeline:
    """What happened in a run of the team."""
    library, model = ToolLibrary.of([search]), ScriptedModel(replies)
    run(parse_program(TEAM), said, library, agent=agent, model=model, match="name", record=file)
    return timeline(file, has_prices=False)


def test_a_called_agent_has_what_it_did_inside(tmp_path: Path) -> None:
    asked = tool_calls(("1", "researcher", {"input": "sea"}))
    searched = tool_calls(("1", "search", {"query": "sea"}))
    found = shown(tmp_path / "run.gram", "desk", asked, searched, "found", "done")
    entries = found.entries

    assert [shape(each) for each in entries] == [
        "asks",
        ("researcher", ["asks", "search", "asks"]),
        "asks",
    ]
    inner = entries[1]
    assert (inner.who, inner.how, inner.result) == ("desk", "done", '"found"')
    assert json.loads(inner.arguments) == {"input": "sea"}
    assert (inner.requests, inner.tool_calls) == (2, 1)
    rounded = 0.001 * len(inner.children)  # what begins is noted in whole milliseconds
    assert inner.seconds + rounded >= sum(each.seconds for each in inner.children) > 0
    assert inner.seconds == round(inner.seconds, 6)
    as_json = inner.to_json()
    assert [each["at"] for each in as_json["children"]] == [[0, 0, 0], [0, 0, 0, 0], [0, 0, 1]]
    assert {each.how for each in found.in_order} == {"done"}
    assert found.to_json()["entries"][1]["children"][1]["result"] == "sea"
    rows = found.to_rows()  # flat, each with its level
    assert [(row["who"], row["kind"], row["name"], row["level"]) for row in rows] == [
        ("desk", "model", "A/b", 0),
        ("researcher", "model", "A/c", 1),
        ("researcher", "tool", "search", 1),
        ("researcher", "model", "A/c", 1),
        ("desk", "agent", "researcher", 0),
        ("desk", "model", "A/b", 0),
    ]
    assert [row["at"] for row in rows] == [list(each.at) for each in found.in_order]
    assert not any("children" in row for row in rows)
    assert json.loads(json.dumps(rows)) == rows


def test_rounds_of_a_loop_are_inside_it(tmp_path: Path) -> None:
    replies = ["facts", "draft", "bad", "better", "good"]
    entries = shown(tmp_path / "run.gram", "news", *replies).entries

    assert [shape(each) for each in entries] == [
        ("researcher", ["asks"]),
        ("refine", [("refine", [("writer", ["asks"]), ("critic", ["asks"])])] * 2),
    ]
    loop = entries[1]
    assert (loop.kind, loop.who, loop.result, loop.requests) == ("workflow", "news", '"better"', 4)
    rounds = [(each.kind, each.at, each.how, each.arguments, each.result) for each in loop.children]
    assert rounds == [
        ("round", ("refine", 0), "done", '"facts"', '"bad"'),
        ("round", ("refine", 1), "done", '"bad"', '"better"'),
    ]
    assert loop.children[0].children[1].arguments == '"draft"'


def test_a_round_that_has_not_ended_has_an_entry(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        shown(tmp_path / "r", "refine", "x")
    (entry,) = timeline(tmp_path / "r", has_prices=False).entries
    assert (entry.kind, entry.at, entry.how) == ("round", (0,), "running")


def test_tools_are_steps_of_a_workflow(tmp_path: Path) -> None:
    found, wrote = shown(tmp_path / "run.gram", "seek", "done").entries
    assert (found.kind, found.who, found.at, found.result) == ("tool", "seek", ("search",), '"sea"')
    assert (shape(wrote), wrote.who) == (("writer", ["asks"]), "seek")
    assert wrote.children[0].who == "writer"
    assert found.seconds is not None


def test_what_goes_on_at_once_counts_once_in_the_seconds_of_a_run(file: Path) -> None:
    together = Barrier(2)

    @tool
    def add(x: int) -> int:
        """Adds one."""
        together.wait(10)
        sleep(0.05)
        return x + 1

    run(AGENT, "go", [add], model=ScriptedModel([CALLS, "done"]), record=file)

    found = timeline(file, has_prices=False)
    assert 0 < found.seconds < sum(each.seconds for each in found.in_order)
    assert found.seconds == round(found.seconds, 6)  # 0.000213 rather than 0.00021300000000000008


def test_what_is_not_waited_for_any_more_is_told() -> None:
    program = read("""
    [both:Workflow | look, [a:Agent {instruction: "Write.", model: "A/d"}]]
    [look:Tool {description: "Looks"} | ()==>(::Any)]
    """)
    first, (call, _), _ = start(program, "x")
    last = Replayer(first).take(CallFailed(call.at, "out of order"))
    looked, wrote = timeline(RecordedRun(first, (last,), "", None, ())).entries
    assert (looked.how, looked.error) == ("failed", "out of order")
    assert (wrote.how, wrote.children[0].how) == ("dropped", "dropped")
    assert wrote.error == "not waited for: another step failed"
    assert not wrote.is_open
