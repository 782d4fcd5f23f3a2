"""Showing a recorded run, whole or while it goes on, whatever is shown of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from gram import dumps
from interp import load_run, timeline
from interp.cli import gram
from interp.history.replaying import follow, replay
from tests.calls import calls_of
from tests.interp.counting import AGENT
from tests.interp.history.records.test_replayer import long_run


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Runs of so many calls, and of their program."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "program.gram").write_text(dumps(AGENT), encoding="utf-8")
    for length in (2, 10, 40):
        (folder / str(length)).mkdir()
        long_run(folder / str(length), length)
    return {length: folder / str(length) / "long.run.gram" for length in (2, 10, 40)}


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
        program = file.parent.parent / "program.gram"
        return calls_of(
            lambda: succeeds(command.format(file=file, program=program, out=out).split())
        )

    calls(2)  # what is made once is made before
    few, many = calls(10), calls(40)

    assert many < 6 * few


def succeeds(words: list[str]) -> None:
    result = CliRunner().invoke(gram, words)
    assert result.exit_code == 0, result.output


def test_a_run_that_is_followed_is_shown_as_far_as_it_is(
    files: dict[int, Path], tmp_path: Path
) -> None:
    lines = files[10].read_bytes().splitlines(keepends=True)
    file, half = tmp_path / "a.run.gram", len(lines) // 2
    file.write_bytes(b"".join(lines[:half]))
    looks = follow(file)
    first = next(looks)
    with file.open("ab") as more:
        more.write(b"".join(lines[half:]))
    second = next(looks)
    assert first.requests < second.requests
    assert second == timeline(load_run(file))


def test_a_run_that_is_done_and_that_nobody_writes_is_waited_for_no_more(
    files: dict[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = files[2]
    monkeypatch.setattr(replay, "time", lambda: file.stat().st_mtime)  # it was written just now
    (shown,) = follow(file)
    assert shown == timeline(load_run(file))
