"""Showing a recorded run folds each of its events once, whatever is shown of it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gram import Source, dumps
from interp import load_run, timeline
from interp.cli import gram
from interp.records import source_of_run
from interp.replaying import ShownRun, follow
from tests.interp.records.test_replayer import COUNTER, long_run

Counting = Callable[[], int]
CALLS = 60  # each is two events, and the answer is one


@pytest.fixture
def folds(monkeypatch: pytest.MonkeyPatch) -> Counting:
    """How many events were folded."""
    count = 0
    fold = import_module("interp.machine.fold")
    stepped = fold._stepped

    def counting(*args: Any) -> Any:
        nonlocal count
        count += 1
        return stepped(*args)

    monkeypatch.setattr(fold, "_stepped", counting)
    return lambda: count


@pytest.fixture
def file(tmp_path: Path) -> Path:
    long_run(tmp_path, CALLS)
    return tmp_path / "long.run.gram"


@pytest.mark.parametrize(
    ("command", "most"),
    [
        ("trace {file}", 1),
        ("trace {file} --json", 1),
        ("trace {file} --html {out}", 1),
        ("trace {file} --follow", 1),
        ("graph {program} --run {file}", 1),
        ("replay {file}", 1),
        ("replay {file} --program {program}", 2),  # which is a run of its own
    ],
)
def test_a_command_folds_each_event_once(
    command: str, most: int, file: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    program = tmp_path / "program.gram"
    program.write_text(dumps(COUNTER), encoding="utf-8")
    words = command.format(file=file, program=program, out=tmp_path / "out.html").split()
    folds = request.getfixturevalue("folds")

    result = CliRunner().invoke(gram, words)

    assert result.exit_code == 0, result.output
    assert folds() <= most * (2 * CALLS + 1) + 3  # the run of a program may ask again at its end


def test_the_timeline_of_a_run_that_was_read_folds_nothing(file: Path, folds: Counting) -> None:
    found = load_run(file)
    read = folds()
    timeline(found)

    assert read == len(found.steps) == 2 * CALLS + 1
    assert folds() == read


def test_a_run_that_is_followed_is_not_folded_again(file: Path, folds: Counting) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    half = len(lines) // 2
    file.write_bytes(b"".join(lines[:half]))
    looks = follow(file)

    first = next(looks)
    with file.open("ab") as more:
        more.write(b"".join(lines[half:]))
    second = next(looks)

    assert first.requests < second.requests == CALLS + 1
    assert folds() == 2 * CALLS + 1
    assert second == timeline(load_run(file))


def test_a_run_that_goes_on_reads_as_if_it_was_read_at_once(file: Path) -> None:
    whole = source_of_run(file)
    end = whole.text.index("\n", len(whole.text) // 3) + 1

    found = ShownRun(Source(whole.text[:end], whole.filename))
    found.go_on(whole)

    assert found.run == load_run(file)
    assert found.timeline() == timeline(load_run(file))
    assert found.run.placed("here", found.run.steps[-1]).startswith(f"{file}:{len(lines(whole))}:")


def lines(source: Source) -> list[str]:
    return source.text.splitlines()
