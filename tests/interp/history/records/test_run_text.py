"""Runs as text: what is read of one goes on as the run itself, and what does not fit is refused."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

import interp
from gram import GramError, Pattern, format_text, loads_one, parse
from interp import ApprovalPolicy, AssistantRole, Limits, Message, ToolCall, machine
from interp.errors import ReplayError
from interp.evaluation.strategies import runs
from interp.history import RecordedRun
from interp.history.records import Replayer, read_run, read_turns, run_text, turn_named
from interp.machine import ModelReplied, Resumed, State, ToolReturned, start, step
from interp.programs import the_agent
from lenses_ext import Model, agent_instruction, over
from tests.by_day import given_few
from tests.interp.history.replaying.test_timeline import recorded
from tests.interp.machine.test_any_order import read, workflows
from tests.paths import tables

AGENT = loads_one("""
[helper:Agent {instruction: "Help.", model: "A/b"} |
  [add:Tool {description: "Adds"} | (x::Integer)==>(::Integer)],
  [send:Tool {description: "Sends"} | (to::Text {default: "a\\nb"})==>(::Any)]
]
""")


def comes_back(state: State) -> None:
    """Check that a run is the same after it was written and read."""
    text = run_text(state)
    found = read_run(text)
    assert found.state == state
    assert found.first == state.beginning
    assert found.state.run_id == state.run_id
    assert found.events == tuple(state.events)
    assert found.state.beginning == found.first
    assert run_text(found.state, found.library, found.started) == text
    found.check()


@given_few(runs(AGENT, policy=ApprovalPolicy([interp.ApprovalRule("ask", "send", {"to": "*"})])))
def test_every_run_comes_back_equal_from_its_text(drawn: RecordedRun) -> None:
    comes_back(drawn.state)
    if drawn.state.status is not machine.Status.DONE:
        comes_back(step(drawn.state, Resumed(Limits(), policy=ApprovalPolicy())).state)


@given_few(workflows().map(read), st.randoms(use_true_random=False), st.integers(0, 60))
def test_every_run_of_a_workflow_comes_back_equal_from_its_text(
    program: Pattern, random: Random, stops_after: int
) -> None:
    comes_back(recorded(program, random, stops_after).state)


SIGNED = loads_one("""
[sum:Agent {instruction: "Add.", model: "A/b"} |
  (x::Integer)==>(y::Integer {default: 2})==>(::Text)]
""")
ONE = loads_one('[one:Agent {instruction: "Add.", model: "A/b"} | (x::Integer)==>(::Text)]')
TEAM = parse("""
[desk:Agent {instruction: "Ask.", model: "A/b"} | (desk)-[:HANDOFF]->(sales)]
(sales:Agent {instruction: "Sell.", model: "A/b"})
[flow:Workflow | (text::String)==>(many::Array)==>(::Any), sales, ()-->(sales)]
[maybe:Workflow | (text::String {optional: true})==>(::Any), (sales)]
""")
TALK = interp.ConversationContext([Message(interp.UserRole, "hi"), Message(AssistantRole, "hello")])


@pytest.mark.parametrize(
    ("program", "given", "more"),
    [
        (AGENT, "hello", {}),
        (AGENT, {"input": '{"not": "read"}'}, {}),
        (AGENT, "hello", {"context": TALK, "check_results": False}),
        (AGENT, "hello", {"policy": ApprovalPolicy(otherwise="ask")}),
        (
            AGENT,
            "hello",
            {"model": Model("C", "d/e"), "settings": {"seed": None}},
        ),
        (AGENT, "hello", {"limits": Limits(tokens=7, run_seconds=None)}),
        (SIGNED, {"x": 1}, {}),
        (ONE, {"x": 1}, {"context": TALK}),
        (over(agent_instruction, lambda _: "Help well.\n", AGENT), "hello", {}),
        (the_agent(TEAM, "desk", by="test"), "hello", {}),
        (the_agent(TEAM, "flow", by="test"), {"text": "a", "many": [1, {"b": None}]}, {}),
        (the_agent(TEAM, "maybe", by="test"), {}, {}),
    ],
)
def test_the_beginning_of_a_run_comes_back(
    program: Pattern, given: Any, more: dict[str, Any]
) -> None:
    comes_back(start(program, given, run_id="r", **more).state)


def test_the_tools_of_a_run_are_in_its_text() -> None:
    @interp.tool(once=True)
    def add(x: int) -> int:
        """Adds"""
        return x

    state = start(AGENT, "hello").state
    assert isinstance(add, interp.Tool)
    (kept,) = read_run(run_text(state, [add])).library

    assert kept.value.identity == "add"
    assert kept.value.properties["description"] == "Adds"
    assert kept.value.properties["once"] is True


# --- what is no run


@pytest.mark.parametrize(("old", "new", "told"), tables("runs.toml")["first_entries"])
def test_what_is_no_first_entry_is_refused_with_its_place(old: str, new: str, told: str) -> None:
    text = run_text(start(AGENT, "hello", run_id="r").state)
    assert old in text
    with pytest.raises(interp.ValidationError) as caught:
        read_run(text.replace(old, new), "run.gram")
    assert told in str(caught.value)
    assert str(caught.value).startswith("run.gram:1:")


CALL = ModelReplied((0,), Message(AssistantRole, "", [ToolCall("c", "add", '{"x": 1}')]))
DONE = ModelReplied((1,), Message(AssistantRole, "done"))


def whole() -> list[str]:
    """The lines of a run of one call."""
    state = start(AGENT, "hello", run_id="r").state
    for event in (CALL, ToolReturned((0, 0), "2"), DONE):
        state = step(state, event).state
    return run_text(state).splitlines(keepends=True)


@pytest.mark.parametrize(
    ("line", "old", "new", "place"),
    [
        (0, "Help.", "Harm.", "run.gram:2:1"),
        (0, 'input: "hello"', 'input: "bye"', "run.gram:2:1"),
        (1, 'json`{"x": 1}`', 'json`{"x": 3}`', "run.gram:4:1"),
        (2, "result: json`2`", "result: json`3`", "run.gram:4:1"),
    ],
)
def test_a_reply_to_another_request_is_refused(line: int, old: str, new: str, place: str) -> None:
    lines = whole()
    assert old in lines[line]
    lines[line] = lines[line].replace(old, new)
    found = read_run("".join(lines), "run.gram")
    with pytest.raises(ReplayError, match="answers another request") as caught:
        found.check()
    assert str(caught.value).startswith(place)
    assert len(found.fitting) == int(place.split(":")[1]) - 2


def test_an_event_that_does_not_fit_is_refused_with_its_line() -> None:
    lines = whole()
    with pytest.raises(ReplayError, match="the run does not come to this") as told:
        read_run("".join([lines[0], *lines[2:]]), "run.gram")
    assert str(told.value).startswith("run.gram:2:1: ")
    assert "; expected a reply of A/b at position (0)\n" in str(told.value)


def test_a_turn_with_the_id_of_the_one_before_is_another_one() -> None:
    text = run_text(start(AGENT, "one", run_id="a").state)
    text += '(:Run {after: "a", input: "two", run: "a"})\n'
    found = read_turns(text)
    assert [each.first.context[-1].content for each in found.talk] == ["one", "two"]
    assert found.runs == found.talk


def test_without_a_name_the_last_turn_is_meant() -> None:
    text = run_text(start(AGENT, "one").state) + '(:Run {after: "", input: "two"})\n'
    runs = read_turns(text).runs  # both without an id
    assert turn_named(runs, "", "talk.gram") is runs[1]


def test_layout_and_comments_do_not_count() -> None:
    lines = whole()
    lines[1:1] = ["// looked at\n", "\n"]
    found = read_run(format_text("".join(lines)))
    assert found.state == read_run("".join(whole())).state
    found.check()


@given(st.data())
def test_any_other_text_is_refused_with_an_error_of_ours(data: st.DataObject) -> None:
    text = "".join(whole())
    start_, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    changed = text[:start_] + data.draw(st.text(max_size=5)) + text[end:]
    with suppress(GramError):
        read_run(changed)


# --- a replayer gives for each event what the machine gave


@given_few(workflows().map(read), st.randoms(use_true_random=False), st.integers(0, 100))
def test_a_replayer_is_the_machine(program: Pattern, random: Random, stops_after: int) -> None:
    drawn = recorded(program, random, stops_after)
    replayer, before = Replayer(drawn.first), drawn.first
    for event in drawn.events:
        answered = next((each for each in machine.pending(before) if each.at == event.at), None)
        taken = replayer.take(event)
        assert (taken.before, taken.effect) == (before, answered)
        assert (taken.state, taken.effects, taken.happened) == tuple(step(before, event))
        before = replayer.state


def test_what_a_call_answers_that_was_asked_about_since_is_the_question() -> None:
    pay = '[pay:Tool {description: "Pays."} | (to::String)==>(::Any)]'
    first = start(loads_one(f"[w:Workflow | {pay}]"), "me").state
    replayer = Replayer(first)
    at = ("pay",)
    events = (machine.CallBegun(at), Resumed(), machine.Decided(at, True), ToolReturned(at, "1"))
    begun, resumed, decided, returned = map(replayer.take, events)
    assert (begun.effect, resumed.effect) == (None, None)
    assert decided.effect == resumed.effects[0]
    assert returned.effect == decided.effects[0]
