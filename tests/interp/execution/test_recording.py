"""Runs in files: nothing recorded is asked or run again, whatever ended the run."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from gram import Pattern, dumps, loads_one
from interp import (
    AgentError,
    ApprovalNeeded,
    Effect,
    Event,
    GramDecodeError,
    LimitError,
    Limits,
    ReplayError,
    ScriptedModel,
    Status,
    ToolLibrary,
    ValidationError,
    arun,
    ask_all,
    begin,
    fold,
    load_run,
    resume_run,
    run,
    tool,
)
from tests.paths import ROOT

AGENT = loads_one("""
[counter:Agent {instruction: "Count.", model: "A/b"} |
  [add:Tool {description: "Adds one."} | (x::Integer)==>(::Integer)]]
""")
CALLS = {
    "choices": [
        {
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"id": str(n), "function": {"name": "add", "arguments": f'{{"x": {n}}}'}}
                    for n in range(2)
                ],
            }
        }
    ]
}


def counting(done: list[int]) -> ToolLibrary:
    """A library whose tool notes what it was called with."""

    @tool
    def add(x: int) -> int:
        """Adds one."""
        done.append(x)
        return x + 1

    return ToolLibrary.of(add)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.gram"


def test_a_run_file_holds_the_run_as_it_was(file: Path) -> None:
    states = []
    response = run(
        AGENT,
        "go",
        counting([]),
        model=ScriptedModel([CALLS, "done"]),
        record=file,
        watch=lambda effect, event, state: states.append(state),
    )

    kept = load_run(file)

    assert [each.state for each in kept.steps] == states
    assert kept.state == fold(kept.first, kept.events)
    assert [each.effect.at for each in kept.steps if each.effect] == [(0,), (0, 0), (0, 1), (1,)]
    assert all(each.seconds is not None for each in kept.steps)
    assert [each.value.identity for each in kept.library] == ["add"]
    assert loads_one(kept.program) == AGENT
    assert response.content == "done"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text().count("\n") == 1 + len(kept.steps)


def test_async_runs_are_recorded_alike(file: Path, tmp_path: Path) -> None:
    def record(path: Path) -> list[Event]:
        return sorted(load_run(path).events, key=lambda event: event.at)

    run(AGENT, "go", counting([]), model=ScriptedModel([CALLS, "done"]), record=file)
    other = tmp_path / "other.gram"
    asyncio.run(arun(AGENT, "go", counting([]), model=ScriptedModel([CALLS, "done"]), record=other))

    assert record(file) == record(other)


def test_a_run_that_was_stopped_goes_on_from_its_file(file: Path) -> None:
    done: list[int] = []
    with pytest.raises(LimitError):
        run(
            AGENT,
            "go",
            counting(done),
            model=ScriptedModel([CALLS, CALLS]),
            limits=Limits(iterations=1),
            record=file,
        )

    model = ScriptedModel(["done"])
    response = resume_run(file, counting(done), model=model, limits=Limits())

    assert response.content == "done"
    assert done == [0, 1, 0, 1]
    assert len(model.requests) == 1
    assert load_run(file).state.status is Status.DONE


def test_a_run_that_waits_for_approval_is_answered_on_another_day(file: Path) -> None:
    done: list[int] = []
    model = ScriptedModel([CALLS])
    with pytest.raises(ApprovalNeeded):
        run(AGENT, "go", counting(done), model=model, policy=ask_all, record=file)
    assert done == []

    model = ScriptedModel(["done"])
    response = resume_run(file, counting(done), model=model, approve=lambda ask: "no")

    assert [each.error for each in response.tools_used if each.error] != []
    assert (done, len(model.requests)) == ([], 1)
    assert resume_run(file, counting(done)) == response


@pytest.mark.parametrize("left", [1, 5, 40])
def test_the_rest_of_a_line_that_a_killed_process_left_is_cut_off(file: Path, left: int) -> None:
    run(AGENT, "go", counting([]), model=ScriptedModel([CALLS, "done"]), record=file)
    whole = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(whole[:-1]) + whole[-1][:left])
    assert len(load_run(file).steps) == len(whole) - 2

    response = resume_run(file, counting([]), model=ScriptedModel(["again"]))

    assert response.content == "again"
    assert load_run(file).state.status is Status.DONE


KILLED = """
import os, sys
from interp import ScriptedModel, ToolLibrary, run, tool
from tests.interp.execution.test_recording import AGENT, CALLS

@tool
def add(x: int) -> int:
    "Adds one."
    if x == 1:
        os.kill(os.getpid(), 9)
    return x + 1

run(AGENT, "go", ToolLibrary.of(add), model=ScriptedModel([CALLS]), record=sys.argv[1])
"""


def test_a_killed_process_leaves_what_had_happened(file: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(file)], cwd=ROOT, check=False)
    assert done.returncode == -9
    assert [each.event.at for each in load_run(file).steps] == [(0,), (0, 0)]

    again: list[int] = []
    assert resume_run(file, counting(again), model=ScriptedModel(["done"])).content == "done"
    assert again == [1]


# --- what cannot be recorded


def test_an_existing_file_is_refused_before_the_model_is_asked(file: Path) -> None:
    file.write_text("(mine)")
    model = ScriptedModel(["hi"])

    with pytest.raises(OSError, match="exists already"):
        run(AGENT, "go", counting([]), model=model, record=file)

    assert (file.read_text(), model.requests) == ("(mine)", [])


def test_a_run_that_cannot_begin_leaves_no_file(file: Path) -> None:
    with pytest.raises(AgentError):
        run(AGENT, "go", model=ScriptedModel([]), record=file)

    assert not file.exists()


def test_two_runs_are_never_recorded_in_one_file(file: Path) -> None:
    errors: list[BaseException] = []

    def resume_meanwhile(effect: Effect, event: Event) -> None:
        if not errors:
            try:
                resume_run(file, counting([]), model=ScriptedModel(["mine"]))
            except OSError as error:
                errors.append(error)

    model = ScriptedModel([CALLS, "done"])
    run(AGENT, "go", counting([]), model=model, record=file, observe=resume_meanwhile)

    assert "another process records a run in it" in str(errors[0])
    assert load_run(file).state.context[-1].content == "done"


def test_a_full_disk_stops_the_run_and_keeps_what_was_recorded(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = pytest.importorskip("resource", reason="limits of file sizes are Unix's")
    held = begin(AGENT, "go", counting([]), model=ScriptedModel([CALLS, "done"]), record=file)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 50, hard))
    try:
        with pytest.raises(AgentError, match="the run is no longer recorded"):
            held.finish()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert load_run(file).steps == ()
    assert held.state.calls


# --- what is no run file


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", ValidationError, "no run is recorded in it"),
        ("(a)\n", ValidationError, "not the record of a run"),
        ("[:Run\n", GramDecodeError, "run.gram:2:1"),
        ("(:Run {format: 2})\n", ValidationError, "format 2 is not 1"),
        ("(:Run {format: 1})\n", ValidationError, "must have two elements"),
    ],
)
def test_what_is_no_run_file_is_refused(
    file: Path, text: str, error: type[Exception], message: str
) -> None:
    file.write_text(text)

    with pytest.raises(error, match=message):
        load_run(file)


def test_an_event_that_does_not_fit_is_refused_with_its_line(file: Path) -> None:
    run(AGENT, "go", counting([]), model=ScriptedModel([CALLS, "done"]), record=file)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([lines[0], *lines[2:]]))

    with pytest.raises(ReplayError, match=r"run\.gram:2:1: .*the run does not come to this"):
        load_run(file)


def test_no_key_reaches_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = 'sk-"quoted`\\key'
    monkeypatch.setenv("SOME_API_KEY", key)

    @tool
    def add(x: int) -> str:
        """Adds one."""
        return f"{x} {key}"

    model = ScriptedModel([CALLS, f"it is {key}"])
    told = run(
        pattern_with_text_result(), f"my key {key}", ToolLibrary.of(add), model=model, record=file
    )

    text = file.read_text()
    assert key in told.content
    assert "quoted" not in text
    assert text.count("[redacted]") >= 4
    assert load_run(file).state.context[-1].content == "it is [redacted]"


def pattern_with_text_result() -> Pattern:
    """The agent with a tool that returns text."""
    return loads_one(dumps(AGENT).replace("(:Integer)", "(:String)"))


def test_a_run_file_keeps_its_mode_and_is_written_at_its_end_alone(file: Path) -> None:
    run(AGENT, "go", counting([]), model=ScriptedModel([CALLS, "done"]), record=file)
    file.chmod(0o640)
    before = file.read_bytes()

    resume_run(file, counting([]))

    assert file.read_bytes() == before
    assert file.stat().st_mode & 0o777 == 0o640
