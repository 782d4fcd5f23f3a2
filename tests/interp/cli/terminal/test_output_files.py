"""Results in files: never over what they are made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from interp import hello_world_tool_library, load, run
from tests.interp.cli.process import gram, refused, rows, told
from tests.paths import ROOT

HELLO = ROOT / "examples" / "hello_world.gram"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a program, a recorded run of it, and cases."""
    (tmp_path / "a.gram").write_bytes(HELLO.read_bytes())
    (tmp_path / "cases.jsonl").write_text('{"program": "a.gram"}\n{"input": "I am Al"}\n')
    file = tmp_path / "a.run.gram"
    agent = load(HELLO)
    run(agent, "hi", hello_world_tool_library, model="Offline/rehearsal", record=file)
    (tmp_path / "link").symlink_to(file)
    return tmp_path


@pytest.mark.parametrize("words", rows("overwritten"))
def test_a_result_is_never_written_over_what_is_read(folder: Path, words: list[str]) -> None:
    before = {each: each.read_bytes() for each in folder.iterdir()}
    refused(gram(*words, cwd=folder), 2, "is read, and would be overwritten: name another file")
    assert {each: each.read_bytes() for each in folder.iterdir()} == before


def test_a_report_that_cannot_be_written_is_told_before_anything_runs(folder: Path) -> None:
    words = ["ab", "a.gram", "--cases", "cases.jsonl", "--offline", "--html", "none/a.html"]
    done = gram(*words, cwd=folder)
    assert (done.returncode, done.stderr) == (2, "gram: none: No such directory\n")
    assert not [*folder.glob("*.ab")]


def test_a_dash_is_standard_output(folder: Path) -> None:
    page = gram("trace", "a.run.gram", "--html", "-", cwd=folder)
    drawing = gram("graph", "a.gram", "--as", "svg", "-o", "-", cwd=folder)
    assert page.stdout.startswith("<!doctype html>")
    assert drawing.stdout.startswith("<svg")
    assert not (folder / "-").exists()


@pytest.mark.parametrize(("words", "said"), rows("no files"))
def test_what_needs_a_file_says_so(folder: Path, words: list[str], said: str) -> None:
    refused(gram(*words, cwd=folder), 2, said)
    assert not (folder / "-").exists()


def test_a_run_of_another_program_is_told(folder: Path) -> None:
    other = HELLO.read_text().replace("hello_world_agent", "other").replace("sayHello", "greet")
    (folder / "other.gram").write_text(other)
    done = gram("graph", "other.gram", "--run", "a.run.gram", cwd=folder)
    told(done, 0, "a.run.gram is a run of hello_world_agent, and came to nothing")
