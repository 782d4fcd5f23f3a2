"""The world of a recorded run: it answers as the run was answered, and refuses everything else."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import interp
from gram import dumps, loads_one
from interp import ApprovalNeeded, ScriptedModel, allow_all, ask_all, recorded, resume_run, run
from interp.errors import ReplayError
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
def test_what_a_policy_answered_on_resuming_is_answered_again(
    file: Path, policy: interp.ApprovalPolicy
) -> None:
    with pytest.raises(ApprovalNeeded):
        run(AGENT, "go", counting([]), model=ScriptedModel([CALLS]), policy=ask_all, record=file)
    response = resume_run(file, counting([]), model=ScriptedModel(["done"]), policy=policy)
    assert run(AGENT, "go", policy=ask_all, handler=recorded(file)) == response


def test_what_was_not_recorded_is_told_with_the_nearest_request(file: Path) -> None:
    with pytest.raises(ApprovalNeeded):
        run(AGENT, "go", counting([]), model=ScriptedModel([CALLS]), policy=ask_all, record=file)

    with pytest.raises(ReplayError, match=r"run\.gram: nothing was recorded at position \(0, 0\)"):
        run(AGENT, "go", handler=recorded(file))
    resume_run(file, counting([]), model=ScriptedModel([CALLS, "done"]), policy=allow_all)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-2]))

    with pytest.raises(ReplayError) as caught:
        run(AGENT, "go", handler=recorded(file))

    told = "nothing was recorded at position (2) for the request; the nearest:"
    place, said = str(caught.value).splitlines()[0].split(": ", 1)
    assert said == told
    assert "ModelReplied {at: [1]" in lines[int(place.split(":")[-2]) - 1]
    assert "+" in str(caught.value)
