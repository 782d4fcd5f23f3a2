"""``gram improve`` as people use it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interp.cli.process import gram, refused, rows

PROGRAM = """\
[desk:Agent {instruction: "Answer the customer.", model: "Offline/rehearsal"} |  // kept
  [look_up:ToolSpecification {description: "Does something"} | (order::Text)==>(::Text)]]
"""
TOOLS = """
from interp import tool

@tool(description="Does something")
def look_up(order: str) -> str:
    return "sent"

def better(question):
    return {"desk.tools.look_up.description": "Tells where an order of a customer is"}

def equal(question):
    return {"desk.tools.look_up.description": "Does another thing"}
"""
ARGUMENTS = (
    *("improve", "desk.gram", "--change", "desk.tools.*.description", "--cases", "cases.jsonl"),
    *("--offline", "--tools", "tools.py:look_up", "--tries", "2"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "desk.gram").write_text(PROGRAM)
    (tmp_path / "tools.py").write_text(TOOLS)
    asked = [f"Where is the order {n} of mine, customer?" for n in range(40)]
    cases = [{"name": f"c{n}", "input": each, "calls": ["look_up"]} for n, each in enumerate(asked)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(each) + "\n" for each in cases))
    return tmp_path


def test_what_is_better_is_shown_with_its_runs_and_written(folder: Path) -> None:
    shown = gram(*ARGUMENTS, "--proposer", "tools.py:better", cwd=folder)
    told = shown.stderr.splitlines()
    written = gram(*ARGUMENTS, "--proposer", "tools.py:better", "-i", "--json", cwd=folder)

    assert (shown.returncode, written.returncode) == (0, 0)
    assert "--match types" in told[0]
    assert "look 1 of 5" in told[1]
    assert shown.stdout.startswith("better: +100.0 points")
    assert '+  [look_up:ToolSpecification {description: "Tells where an order' in shown.stdout
    found = json.loads(written.stdout)
    assert (found["verdict"], found["look"]) == ("better", 1)
    run = found["differing"][0]["candidate"]
    assert "look_up" in gram("trace", run, cwd=folder).stdout
    new = PROGRAM.replace("Does something", "Tells where an order of a customer is")
    assert (folder / "desk.gram").read_text() == new
    assert (folder / "cases.jsonl.looks.gram").read_text().count("(:Look") == 1


def test_what_is_not_better_writes_nothing_and_another_search_is_refused(folder: Path) -> None:
    done = gram(*ARGUMENTS, "--proposer", "tools.py:equal", "-i", cwd=folder)
    assert done.returncode == 1
    assert done.stdout.startswith("not shown to be better: ")
    assert (folder / "desk.gram").read_text() == PROGRAM
    (folder / "desk.gram").write_text(PROGRAM.replace("Answer", "Help"))
    other = gram(*ARGUMENTS, "--proposer", "tools.py:equal", cwd=folder)
    refused(other, 2, "another search is in this folder")


@pytest.mark.parametrize(("more", "code", "said"), rows("wrong use of improve"))
def test_wrong_use_runs_nothing(folder: Path, more: tuple[str, ...], code: int, said: str) -> None:
    refused(gram(*ARGUMENTS, *more, cwd=folder), code, said)
    assert not list(folder.glob("*.improve"))
