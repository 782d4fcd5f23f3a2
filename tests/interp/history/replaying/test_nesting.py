"""The tree of what happened: agents inside agents, steps of workflows, whatever ends first."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from gram import Pattern
from interp import ModelError, ScriptedModel, ToolLibrary, run, timeline, tool
from interp.history import RecordedRun
from interp.history.records import RecordedStep, Replayer
from interp.history.replaying import Entry, Timeline
from interp.machine import CallFailed, CallModel, CallTool, Effect, start, waits_for
from lenses_ext import parse_program
from tests.interp.machine.test_any_order import answer, read, workflows
from tests.interp.model_server import tool_calls


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


@given(workflows().map(read), st.randoms(use_true_random=False), st.integers(1, 60))
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
