"""The world of a recorded run: it answers as the run was answered, and refuses everything else."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from click.testing import CliRunner

import interp
from gram import dumps, loads_one
from interp import ApprovalNeeded, ScriptedModel, allow_all, ask_all, load_run, recorded, run
from interp.cli.commands.table import gram
from interp.errors import ReplayError
from interp.history.replaying import follow, replay
from lenses_ext import parse_program
from tests.calls import calls_of
from tests.interp.counting import counting
from tests.interp.execution.test_recording import AGENT, CALLS


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.gram"


def test_a_recorded_run_is_the_world_of_another_run(file: Path) -> None:
    done: list[int] = []
    model = ScriptedModel([CALLS, "done"])
    response = run(AGENT, "go", counting(done), model=model, record=file)
    assert run(AGENT, "go", handler=recorded(file)) == response
    assert asyncio.run(interp.arun(AGENT, "go", handler=recorded(file))) == response
    watched = interp.begin(AGENT, "go", handler=recorded(file)).stream()
    assert [each.text for each in watched if isinstance(each, interp.TextDelta)] == ["done"]
    assert sorted(done) == [0, 1]


def test_another_program_is_replayed_up_to_the_first_request_that_differs(file: Path) -> None:
    run(AGENT, "go", counting([]), model=ScriptedModel([CALLS, "done"]), record=file)
    changed = loads_one(dumps(AGENT).replace("Count.", "Count well."))
    with pytest.raises(ReplayError) as caught:
        run(changed, "go", handler=recorded(file))
    lines = str(caught.value).splitlines()
    told = "the request at position (0) is not the one that was recorded:"
    assert lines[0] == f"{file}:3:1: {told}"
    assert "-instruction: Count." in lines
    assert "+instruction: Count well." in lines


@pytest.mark.parametrize("policy", [allow_all, interp.deny_all])
def test_answers_of_a_policy_are_given_again(file: Path, policy: interp.ApprovalPolicy) -> None:
    with pytest.raises(ApprovalNeeded):
        run(AGENT, "go", counting([]), model=ScriptedModel([CALLS]), policy=ask_all, record=file)
    response = interp.resume_run(file, counting([]), model=ScriptedModel(["done"]), policy=policy)
    assert run(AGENT, "go", policy=ask_all, handler=recorded(file)) == response


def test_what_was_not_recorded_is_told_with_the_nearest_request(file: Path) -> None:
    with pytest.raises(ApprovalNeeded):
        run(AGENT, "go", counting([]), model=ScriptedModel([CALLS]), policy=ask_all, record=file)
    with pytest.raises(ReplayError, match=r"run\.gram: nothing was recorded at position \(0, 0\)"):
        run(AGENT, "go", handler=recorded(file))
    interp.resume_run(file, counting([]), model=ScriptedModel(["done"]), policy=allow_all)

    flow = parse_program('[flow:Workflow | a]\n[a:Agent {instruction: "Other.", model: "A/b"}]')
    with pytest.raises(ReplayError) as caught:
        run(flow, "go", handler=recorded(file))
    told, *difference = str(caught.value).splitlines()
    assert told.startswith(f"{file}:3:1: nothing was recorded at ")
    assert told.endswith(" for the request; the nearest:")
    assert {"-instruction: Count.", "+instruction: Other."} <= {*difference}


# --- showing a run, whole or while it goes on


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Runs of so many calls, and of their program."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "program.gram").write_text(dumps(AGENT), encoding="utf-8")
    found = {length: folder / f"{length}.run.gram" for length in (2, 8, 32)}
    limits = interp.Limits(iterations=1000, tool_calls=1000, calls_per_tool=1000)
    for length, file in found.items():
        model = ScriptedModel([CALLS] * length + ["done"])
        run(AGENT, "go", counting([]), model=model, limits=limits, record=file)
    return found


@pytest.mark.parametrize(
    "command",
    [
        "trace {file}",
        "trace {file} --json",
        "trace {file} --html {out}",
        "trace {file} --follow",
        "graph {program} --run {file}",
        "replay {file}",
        "replay {file} --program {program}",
    ],
)
def test_calls_of_a_command_grow_with_the_run_and_no_faster(
    command: str, files: dict[int, Path], tmp_path: Path
) -> None:
    def calls(length: int) -> int:
        file, out = files[length], tmp_path / f"{length}.html"
        program = file.parent / "program.gram"
        return calls_of(
            lambda: succeeds(command.format(file=file, program=program, out=out).split())
        )

    calls(2)  # what is made once is made before
    few, many = calls(8), calls(32)

    assert many < 6 * few


def succeeds(words: list[str]) -> None:
    result = CliRunner().invoke(gram, words)
    assert result.exit_code == 0, result.output


def test_a_followed_run_is_shown_as_far_as_it_is(files: dict[int, Path], tmp_path: Path) -> None:
    lines = files[8].read_bytes().splitlines(keepends=True)
    file, half = tmp_path / "a.run.gram", len(lines) // 2
    file.write_bytes(b"".join(lines[:half]))
    looks = follow(file)
    first = next(looks)
    with file.open("ab") as more:
        more.write(b"".join(lines[half:]))
    second = next(looks)
    assert first.requests < second.requests
    assert second == interp.timeline(load_run(file))


def test_a_run_that_is_done_and_that_nobody_writes_is_waited_for_no_more(
    files: dict[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = files[2]
    monkeypatch.setattr(replay, "time", lambda: file.stat().st_mtime)  # it was written just now
    (shown,) = follow(file)
    assert shown == interp.timeline(load_run(file))
