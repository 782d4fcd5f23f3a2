"""Showing a recorded run, whole or while it goes on, whatever is shown of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from gram import dumps
from interp import load_run, timeline
from interp.cli import gram
from interp.history.replaying import follow
from tests.calls import calls_of
from tests.interp.history.records.test_replayer import COUNTER, long_run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    long_run(tmp_path, 20)
    return tmp_path / "long.run.gram"


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
def test_calls_of_a_command_grow_with_the_run_and_no_faster(command: str, tmp_path: Path) -> None:
    program = tmp_path / "program.gram"
    program.write_text(dumps(COUNTER), encoding="utf-8")

    def calls(length: int) -> int:
        folder = tmp_path / str(length)
        folder.mkdir()
        long_run(folder, length)
        file = folder / "long.run.gram"
        words = command.format(file=file, program=program, out=folder / "out.html").split()
        return calls_of(lambda: succeeds(words))

    calls(2)  # what is made once is made before
    few, many = calls(15), calls(60)

    assert many < 6 * few


def succeeds(words: list[str]) -> None:
    result = CliRunner().invoke(gram, words)
    assert result.exit_code == 0, result.output


def test_a_run_that_is_followed_is_shown_as_far_as_it_is(file: Path) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    half = len(lines) // 2
    file.write_bytes(b"".join(lines[:half]))
    looks = follow(file)

    first = next(looks)
    with file.open("ab") as more:
        more.write(b"".join(lines[half:]))
    second = next(looks)

    assert first.requests < second.requests
    assert second == timeline(load_run(file))
