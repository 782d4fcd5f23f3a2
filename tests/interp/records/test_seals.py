"""What shows that a recorded run is as it was recorded, and leads to the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given

from gram import format_text, loads_one
from interp import (
    AssistantRole,
    CallModel,
    Message,
    ReplayError,
    ScriptedModel,
    ToolLibrary,
    UserRole,
    fork_run,
    import_run,
    load_run,
    open_store,
    recorded,
    resume_run,
    run,
    start,
    tool,
)
from interp.records.event_pattern import event_node
from interp.records.fingerprints import Fingerprints
from interp.records.nodes import Node
from tests.interp.strategies import events

AGENT = loads_one("""
[counter:Agent {instruction: "Count.", model: "A/b"} |
  [add:Tool {description: "Adds one."} | (x::Integer)==>(::Integer)]]
""")
CALL = {
    "role": "assistant",
    "tool_calls": [{"id": "1", "function": {"name": "add", "arguments": '{"x": 1}'}}],
}


@tool
def add(x: int) -> int:
    """Adds one."""
    return x + 1


LIBRARY = ToolLibrary.of([add])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A run of one call, recorded to its end."""
    path = tmp_path / "run.gram"
    run(AGENT, "go", LIBRARY, model=ScriptedModel([CALL, "two"]), record=path)
    return path


@pytest.fixture
def stopped(file: Path) -> Path:
    """The same, of which nothing is recorded behind the result of the call."""
    lines = file.read_text().splitlines(keepends=True)
    last = next(index for index, each in enumerate(lines) if "ToolReturned" in each)
    file.write_text("".join(lines[: last + 1]))
    return file


def edited(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def resumed(file: Path) -> str:
    return resume_run(file, LIBRARY, model=ScriptedModel(["two"])).content


def replayed(file: Path) -> str:
    return run(AGENT, "go", LIBRARY, world=recorded(file)).content


EDITS = [
    ("result: json`2`", "result: json`3`", r":5:1: the result at position \(0, 0\) is not as"),
    ('json`{"x": 1}`', 'json`{"x": 2}`', r":3:1: the reply at position \(0\) is not as"),
    ('"type":"integer"', '"type":"number"', ":1:1: the first entry is not as it was recorded"),
    ('content: "go"', 'content: "stop"', ":1:1: the first entry is not as it was recorded"),
    ("iterations: 10", "iterations: 99", ":1:1: the first entry is not as it was recorded"),
]


@pytest.mark.parametrize(("old", "new", "told"), EDITS)
def test_an_edited_entry_is_refused_with_its_line(
    stopped: Path, old: str, new: str, told: str
) -> None:
    edited(stopped, old, new)

    for take in (resumed, replayed):
        with pytest.raises(ReplayError, match=told):
            take(stopped)


def test_an_edited_answer_is_refused_with_its_line(file: Path) -> None:
    edited(file, 'content: "two"', 'content: "three"')

    for take in (resumed, replayed):
        with pytest.raises(ReplayError, match=r":7:1: the reply at position \(1\) is not as"):
            take(file)


def test_an_entry_that_was_removed_is_told_at_the_next(file: Path) -> None:
    both = [{"id": each, "function": {"name": "add", "arguments": '{"x": 1}'}} for each in "ab"]
    calls = {"role": "assistant", "tool_calls": both}
    file.unlink()
    run(AGENT, "go", LIBRARY, model=ScriptedModel([calls, "two"]), record=file)
    lines = file.read_text().splitlines(keepends=True)
    first, second = (index for index, each in enumerate(lines) if "ToolReturned" in each)
    file.write_text("".join([*lines[:first], *lines[first + 1 : second + 1]]))

    with pytest.raises(ReplayError, match="or an entry before it was removed"):
        resumed(file)


def test_layout_and_comments_do_not_count(stopped: Path) -> None:
    lines = stopped.read_text().splitlines()
    lines[2:2] = ["// looked at"]
    stopped.write_text("\n".join(lines) + "\n")
    load_run(stopped).check()
    stopped.write_text(format_text(stopped.read_text()) + "\n")

    load_run(stopped).check()
    assert resumed(stopped) == "two"
    load_run(stopped).check()


def test_without_their_seals_entries_are_as_somebody_wants_them(stopped: Path) -> None:
    edited(stopped, "result: json`2`", "result: json`3`")
    stopped.write_text(re.sub(r', verify: "\w+"', "", stopped.read_text()))

    assert resumed(stopped) == "two"
    load_run(stopped).check()


def test_a_fork_has_what_is_as_it_was_recorded(stopped: Path) -> None:
    edited(stopped, "result: json`2`", "result: json`3`")
    with open_store(stopped.with_name("runs.db")) as store:
        kept = import_run(store, stopped)
        with pytest.raises(ReplayError, match="is not as it was recorded"):
            resume_run(kept, LIBRARY, store=store)
        fork = fork_run(store, kept)

        assert [type(each).__name__ for each in store.recorded(fork).events] == ["ModelReplied"]
        store.recorded(fork).check()


@given(events().map(event_node))
def test_a_seal_is_written_where_any_property_is(node: Node) -> None:
    line = node.line_with("verify", lambda line: "ab" if line == node.line() else "")

    assert line == node._replace(properties={**node.properties, "verify": "ab"}).line()


def test_a_message_that_two_agents_have_said_is_known_in_each_conversation() -> None:
    _, (asked,) = start(AGENT, "go")
    assert isinstance(asked, CallModel)
    same, fingerprints = Message(AssistantRole, "yes"), Fingerprints()
    talks = [evolve(asked.request, messages=(Message(UserRole, said), same)) for said in ("a", "b")]

    found = [fingerprints.of(each) for each in talks]

    assert found == [Fingerprints().of(each) for each in talks]
    assert len(set(found)) == 2
