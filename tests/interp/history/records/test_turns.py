"""Files that hold the turns of one conversation, one after another."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from interp import ModelError, ScriptedModel, ValidationError, ask_all, load_run, resume_run, run
from interp.history.records import load_turns
from interp.history.stores import load_runs, open_conversation
from tests.interp.counting import AGENT, CALLS, counting

LIBRARY = counting([])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "talk.gram"


def say(path: Path, text: str, *replies: Any, **options: Any) -> str:
    kept: Any = {"record": path, "conversation": True, **options}
    return run(AGENT, text, LIBRARY, model=ScriptedModel(replies), **kept).content


def test_each_turn_goes_on_from_the_one_before(path: Path) -> None:
    say(path, "one", CALLS, "a")
    say(path, "two", "b")
    say(path, "three", "c", policy=ask_all)
    first, second, third = load_runs(path)
    assert [each.content for each in third.state.context][-5:] == ["a", "two", "b", "three", "c"]
    assert second.first.context[:-1] == first.state.context
    assert third.first.run.policy == ask_all
    assert load_run(f"{path}#2") == load_run(f"{path}#{second.first.run_id}") == second
    for each in (first, second, third):
        each.check()


def test_what_a_turn_has_no_more_is_not_taken_over(path: Path) -> None:
    say(path, "one", "1", policy=ask_all, settings={"temperature": 1})
    say(path, "two", "2", settings={"temperature": 1.0})
    say(path, "three", "3")
    first, second, third = load_runs(path)
    assert (first.first.run.policy, second.first.run.policy) == (ask_all, third.first.run.policy)
    assert repr(second.first.run.settings["temperature"]) == "1.0"
    assert not third.first.run.settings


def test_a_turn_costs_what_it_says(path: Path) -> None:
    sizes = []
    for number in range(16):
        say(path, f"question {number:03}", f"answer {number:03}")
        sizes.append(path.stat().st_size)
    steps = [after - before for before, after in pairwise(sizes)][1:]
    assert max(steps) < 1.05 * min(steps)
    assert max(steps) < sizes[0]


def test_a_turn_whose_tools_ran_is_taken_up(path: Path) -> None:
    with pytest.raises(ModelError):
        say(path, "one", CALLS, ModelError("down"))
    say(path, "two", "2")
    roles = [each.role.name for each in load_run(path).state.context]
    assert roles == ["user", "assistant", "add", "user", "assistant"]


def test_a_turn_that_did_nothing_leaves_nothing(path: Path) -> None:
    say(path, "one", "1")
    with pytest.raises(ModelError):
        say(path, "two", ModelError("down"))
    say(path, "three", "3")
    assert [each.content for each in load_run(path).state.context] == ["one", "1", "three", "3"]
    assert len(load_runs(path)) == 3


def test_the_last_turn_can_be_resumed_and_an_earlier_one_not(path: Path) -> None:
    with pytest.raises(ModelError):
        say(path, "one", ModelError("down"))
    assert resume_run(path, LIBRARY, model=ScriptedModel(["1"])).content == "1"
    with pytest.raises(ModelError):
        say(path, "two", ModelError("down"))
    say(path, "three", "3")
    with pytest.raises(ValidationError, match="gone on since this turn: 2"):
        resume_run(f"{path}#2", LIBRARY)
    with pytest.raises(ValidationError, match=r"no turn 4\n  hint: the file has 3 turns"):
        load_run(f"{path}#4")


def test_a_file_with_a_run_is_taken_by_no_other(path: Path) -> None:
    say(path, "one", "1")
    with pytest.raises(FileExistsError, match="exists already"):
        say(path, "two", "2", conversation=None)


def test_a_turn_that_was_taken_back_stays_in_the_file(path: Path) -> None:
    say(path, "one", "1")
    say(path, "two", "2")
    talk = open_conversation(path, True, None)
    talk.cut(talk.context[:2])
    assert [each.content for each in talk.context] == ["one", "1"]
    say(path, "three", "3")
    assert [each.content for each in load_run(path).state.context] == ["one", "1", "three", "3"]
    assert len(load_runs(path)) == 3
    assert len(load_turns(path).talk) == 2


def test_a_conversation_that_another_process_went_on_with_is_refused(path: Path) -> None:
    say(path, "one", "1")
    talk = open_conversation(path, True, None)
    say(path, "two", "2")
    for _ in range(2):
        with pytest.raises(OSError, match="another process has gone on"):
            talk.log()


def test_what_a_killed_process_left_is_cut_off_by_the_next_turn(path: Path) -> None:
    say(path, "one", "1")
    with path.open("a") as file:
        file.write("[:Run {after: ")
    say(path, "two", "2")
    assert [each.content for each in load_run(path).state.context] == ["one", "1", "two", "2"]
