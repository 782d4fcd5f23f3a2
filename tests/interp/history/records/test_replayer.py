"""A replayer gives for each event what the machine gave."""

from __future__ import annotations

from pathlib import Path
from random import Random

from hypothesis import given, strategies as st

from gram import Pattern, loads_one
from interp import Limits, ScriptedModel, load_run, run
from interp.history import RecordedRun
from interp.history.records import Replayer
from interp.machine import CallBegun, Decided, Resumed, ToolReturned, pending, start, step
from tests.interp.counting import AGENT, CALLS, counting
from tests.interp.history.replaying.test_nesting import recorded
from tests.interp.machine.test_any_order import read, workflows


def long_run(folder: Path, calls: int) -> RecordedRun:
    """A run of many calls, from its file."""
    limits = Limits(iterations=1000, tool_calls=1000, calls_per_tool=1000)
    file = folder / "long.run.gram"
    model = ScriptedModel([CALLS] * calls + ["done"])
    run(AGENT, "go", counting([]), model=model, limits=limits, record=file)
    return load_run(file)


@given(workflows().map(read), st.randoms(use_true_random=False), st.integers(0, 100))
def test_a_replayer_gives_what_the_machine_gave(
    program: Pattern, random: Random, stops_after: int
) -> None:
    drawn = recorded(program, random, stops_after)
    replayer, before = Replayer(drawn.first), drawn.first
    for event in drawn.events:
        answered = next((each for each in pending(before) if each.at == event.at), None)
        taken = replayer.take(event)
        assert (taken.before, taken.effect) == (before, answered)
        assert taken.taken == step(before, event)
        before = replayer.state


def test_what_a_call_answers_that_was_asked_about_since_is_the_question() -> None:
    pay = '[pay:Tool {description: "Pays."} | (to::String)==>(::Any)]'
    first = start(loads_one(f"[w:Workflow | {pay}]"), "me").state
    replayer = Replayer(first)
    at = ("pay",)
    events = (CallBegun(at), Resumed(), Decided(at, True), ToolReturned(at, "1"))
    begun, resumed, decided, returned = map(replayer.take, events)
    assert (begun.effect, resumed.effect) == (None, None)
    assert decided.effect == resumed.effects[0]
    assert returned.effect == decided.effects[0]
