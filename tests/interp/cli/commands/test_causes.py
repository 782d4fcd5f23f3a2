"""``gram shrink`` and ``gram runs fork --repeats``, on real files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.interp.cli.process import gram, printed, refused, rows
from tests.interp.evaluation.causes.planted import CHECKS, recorded


def planted(folder: Path) -> None:
    recorded(str(folder / "bad.run.gram"))
    (folder / "checks.py").write_text(CHECKS)


def test_shrink_writes_a_program_and_a_case_that_fails(tmp_path: Path) -> None:
    planted(tmp_path)
    options = ("--while", "not is_fine", "--checks", "checks.py")
    done = gram("shrink", "bad.run.gram", *options, "--out", "small", cwd=tmp_path)
    printed(done, 0, "25 events -> 3", "held fixed")
    assert re.search(r"^gram: after \d+ runs: ", done.stderr, re.MULTILINE)
    test = ("test", "small/cases.jsonl", "--checks", "checks.py", "--recordings", "none")
    tested = gram(*test, cwd=tmp_path)
    printed(tested, 1, "check is_fine")
    assert gram("check", "small/program.gram", cwd=tmp_path).returncode == 0


def test_shrink_says_when_its_runs_are_spent(tmp_path: Path) -> None:
    planted(tmp_path)
    options = ("--while", "is_wrong", "--checks", "checks.py", "--runs", "6", "--json")
    told = json.loads(gram("shrink", "bad.run.gram", *options, cwd=tmp_path).stdout)
    assert (told["runs"], told["is_minimal"], told["folder"]) == (6, False, "shrunk")


def test_what_shrink_came_to_is_kept_where_it_is_broken_off(tmp_path: Path) -> None:
    planted(tmp_path)
    counting = "    calls.append(1)\n    if len(calls) > 9: raise KeyboardInterrupt\n    results"
    stopping = "calls = []\n" + CHECKS.replace("    results", counting, 1)
    (tmp_path / "stopping.py").write_text(stopping)
    done = gram(
        "shrink", "bad.run.gram", "--while", "is_wrong", "--checks", "stopping.py", cwd=tmp_path
    )
    run = "shrunk/recordings/cases.jsonl/shrunk.run.gram"
    refused(done, 130, f"gram shrink {run} goes on with it")
    options = ("--while", "is_wrong", "--checks", "checks.py", "--out", "small")
    assert "-> 3" in gram("shrink", run, *options, cwd=tmp_path).stdout


@pytest.mark.parametrize(("options", "message", "code"), rows("not shrunk"))
def test_what_is_not_shrunk(tmp_path: Path, options: list[str], message: str, code: int) -> None:
    planted(tmp_path)
    done = gram("shrink", "bad.run.gram", "--checks", "checks.py", *options, cwd=tmp_path)
    refused(done, code, message)
    assert not (tmp_path / "shrunk").exists()


DESK = """
[desk:Agent {instruction: "Answer with what `look` finds.", model: "Offline/rehearsal"} |
  [look:ToolSpecification {description: "Look up a price"} | (thing::String)==>(::String)]]
"""
TOOLS = """
from pathlib import Path
from interp import tool

@tool
def look(thing: str) -> str:
    "Look up a price"
    with Path("called").open("a") as file:
        file.write("x")
    return "-1 dollars"
"""


def kept(folder: Path) -> str:
    (folder / "desk.gram").write_text(DESK)
    (folder / "tools.py").write_text(TOOLS)
    (folder / "checks.py").write_text("def is_13(response):\n    return '13' in response.content\n")
    said = ("desk.gram", 'Look up the price of "lamp"', "--tools", "tools.py", "--match", "name")
    assert gram("run", *said, "--record", "runs.db", cwd=folder).returncode == 0
    listed = gram("runs", "list", "--record", "runs.db", "--json", cwd=folder)
    return f"runs.db#{json.loads(listed.stdout)[0]['id']}"


def test_fork_says_whether_a_result_made_the_difference(tmp_path: Path) -> None:
    run = kept(tmp_path)
    what = ("--at", "0.0", "--set", "result = 13 dollars", "--checks", "checks.py")
    done = gram("runs", "fork", run, *what, "--repeats", "6", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = "this result of `look` made the difference: 0 of 6 right with it, 6 of 6 without"
    assert done.stdout.splitlines()[0] == said
    assert "gram: 12 of 12 runs" in done.stderr
    assert (tmp_path / "called").read_text() == "x", "no recorded tool is called again"
    again = gram("runs", "fork", run, *what, "--repeats", "6", "--json", cwd=tmp_path)
    told = json.loads(again.stdout)
    assert (told["made_the_difference"], told["changed"]["right"]) == (True, 6)
    listed = gram("runs", "list", "--record", "runs.db", "--json", cwd=tmp_path)
    assert len(json.loads(listed.stdout)) == 13, "the second time nothing was run"


def test_fork_makes_one_run_with_a_change_to_be_resumed(tmp_path: Path) -> None:
    run = kept(tmp_path)
    forked = gram("runs", "fork", run, "--at", "0.0", "--set", "result = 13 dollars", cwd=tmp_path)
    new, tools = f"runs.db#{forked.stdout.strip()}", ("--tools", "tools.py", "--match", "name")
    assert gram("resume", new, *tools, cwd=tmp_path).stdout.strip() == "13 dollars"


@pytest.mark.parametrize(("options", "message", "code"), rows("not forked"))
def test_what_is_not_forked(tmp_path: Path, options: list[str], message: str, code: int) -> None:
    refused(gram("runs", "fork", kept(tmp_path), *options, cwd=tmp_path), code, message)


def test_shrink_live_asks_the_model_and_shrinks_what_it_is_told(tmp_path: Path) -> None:
    run = kept(tmp_path)
    (tmp_path / "bad.py").write_text("def bad(response):\n    return '-1' in response.content\n")
    options = ("--while", "bad", "--checks", "bad.py", "--live", "--repeats", "1", "--out", "small")
    done = gram("shrink", run, *options, cwd=tmp_path)
    printed(done, 0, "requests to a model")
    assert "held fixed" not in done.stdout
    assert "Answer with" not in (tmp_path / "small/program.gram").read_text()
    assert (tmp_path / "called").read_text() == "x", "the recorded result was held"
