"""Steps are folded when somebody looks at them, and say what they said when they were read."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path
from random import Random

from attrs import evolve
from hypothesis import given, settings, strategies as st

from gram import Pattern, loads_one
from interp import Limits, RecordedRun, ScriptedModel, State, ToolLibrary, load_run, run, tool
from interp.records import Step
from interp.records.steps import Course
from tests.interp.machine.test_any_order import read, workflows
from tests.interp.replaying.test_nesting import recorded

COUNTER = loads_one("""
[counter:Agent {instruction: "Count.", model: "A/b"} |
  [add:Tool {description: "Adds one."} | (x::Integer)==>(::Integer)]]
""")


@tool
def add(x: int) -> int:
    """Adds one."""
    return x + 1


def long_run(folder: Path, calls: int) -> RecordedRun:
    function = {"name": "add", "arguments": '{"x": 1}'}
    reply = {"content": "", "tool_calls": [{"id": "c", "function": function}]}
    limits = Limits(iterations=1000, tool_calls=1000, calls_per_tool=1000)
    file = folder / "long.run.gram"
    model = ScriptedModel([reply] * calls + ["done"])
    run(COUNTER, "go", ToolLibrary.of(add), model=model, limits=limits, record=file)
    return load_run(file)


@given(workflows().map(read), st.randoms(use_true_random=False), st.integers(0, 100))
@settings(max_examples=30)
def test_steps_looked_at_in_any_order_are_those_that_were_folded(
    program: Pattern, random: Random, stops_after: int
) -> None:
    drawn = recorded(program, random, stops_after)
    course = Course(drawn.first)
    taken = [course.take(each.event) for each in drawn.steps]

    order = list(range(len(taken)))
    random.shuffle(order)

    assert all(taken[index] == drawn.steps[index] for index in order)
    assert [each.state for each in taken] == [each.state for each in drawn.steps]


def test_a_step_is_copied_and_compared_as_any_other(tmp_path: Path) -> None:
    first, *_, last = long_run(tmp_path, 40).steps

    assert pickle.loads(pickle.dumps(last)) == last
    assert evolve(first, seconds=1.0).state == first.state
    assert first != last
    assert len({first, last, evolve(first)}) == 2


def test_few_of_the_states_of_a_long_run_are_kept(tmp_path: Path) -> None:
    found = long_run(tmp_path, 200)
    gc.collect()
    kept = sum(isinstance(each, State) for each in gc.get_objects())
    assert all(isinstance(each, Step) for each in found.steps)

    assert len(found.steps) == 401
    assert kept < 100
    assert found.state.context[-1].content == "done"
