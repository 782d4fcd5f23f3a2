"""``gram shrink`` and ``gram runs fork --repeats``, on real files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interp.cli.process import gram
from tests.interp.evaluation.causes.planted import CHECKS, recorded


def planted(folder: Path) -> None:
    recorded(str(folder / "bad.run.gram"))
    (folder / "checks.py").write_text(CHECKS)


@pytest.mark.parametrize("words", ["is_wrong", "not is_fine"])
def test_shrink_writes_a_program_a_case_and_a_run_that_gram_test_takes(
    tmp_path: Path, words: str
) -> None:
    planted(tmp_path)
    options = ("--while", words, "--checks", "checks.py")
    done = gram("shrink", "bad.run.gram", *options, "--out", "small", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "41 events -> 3" in done.stdout
    assert "held fixed" in done.stdout
    test = ("test", "small/cases.jsonl", "--checks", "checks.py", "--recordings", "none")
    tested = gram(*test, cwd=tmp_path)
    assert tested.returncode == 1
    assert f"check {words.removeprefix('not ')}" in tested.stdout
    assert gram("check", "small/program.gram", cwd=tmp_path).returncode == 0


def test_shrink_says_when_its_runs_are_spent(tmp_path: Path) -> None:
    planted(tmp_path)
    options = ("--while", "is_wrong", "--checks", "checks.py", "--runs", "6", "--json")
    done = gram("shrink", "bad.run.gram", *options, cwd=tmp_path)
    told = json.loads(done.stdout)
    assert (told["runs"], told["is_minimal"], told["folder"]) == (6, False, "shrunk")


def test_shrink_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    planted(tmp_path)
    for options, message, code in (
        (("--while", "is_fin"), "there is no check is_fin", 2),
        (("--while", "is_fine"), "does not fail when it is run again", 1),
        (("--repeats", "3"), "need --live", 2),
        (("--out", "."), "has something in it", 2),
    ):
        given = ("shrink", "bad.run.gram", "--checks", "checks.py", *options)
        done = gram(*given, cwd=tmp_path)
        assert (done.returncode, message in done.stderr) == (code, True), done.stderr
        assert not (tmp_path / "shrunk").exists()
