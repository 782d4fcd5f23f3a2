"""A skill is offered by its description, and the program itself gives its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from interp import LimitError, Limits, ScriptedModel, ask_all, load, load_run, resume_run, run
from tests.interp.cli.process import gram

READS = {"tool_calls": [{"function": {"name": "refunds", "arguments": "{}"}}]}
TEXT = "Ask first.\nThen pay."


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    folder = tmp_path / "skills" / "refunds"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        f"---\nname: refunds\ndescription: How to refund.\n---\n{TEXT}"
    )
    file = tmp_path / "desk.gram"
    file.write_text(
        '[desk:Agent {description: "d", instruction: "x", model: "Offline/rehearsal", '
        'skills: ["skills/refunds"]}]'
    )
    return file


def test_the_description_is_offered_and_the_text_is_given_when_it_is_asked_for(desk: Path) -> None:
    model = ScriptedModel([READS, "done"])

    response = run(load(desk), "hi", model=model, policy=ask_all)

    assert response.content == "done"
    first, second = model.requests
    (offered,) = first.tools
    assert offered.value.properties["description"] == (
        "Read the skill refunds (in skills/refunds): How to refund."
    )
    assert TEXT not in str(first)
    assert second.messages[-1].content == TEXT


def test_a_run_goes_on_and_is_replayed_without_the_files(desk: Path) -> None:
    record = desk.with_name("run.gram")
    limits = Limits(iterations=1)
    with pytest.raises(LimitError):
        run(load(desk), "hi", model=ScriptedModel([READS, READS]), record=record, limits=limits)
    (desk.parent / "skills" / "refunds" / "SKILL.md").unlink()
    desk.unlink()

    kept = load_run(record).state
    again = desk.with_name("again.gram")
    response = resume_run(kept, model=ScriptedModel(["done"]), record=again, limits=Limits())
    replayed = gram("replay", str(again))

    assert [call.result for call in response.tools_used] == [TEXT, TEXT]
    assert replayed.returncode == 0, replayed.stderr
