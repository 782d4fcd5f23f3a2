"""A disk that is full, or fills up: one message with the file, and what was done is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interp import load_run
from tests.interp.cli.process import HELLO, at, forked, gram, told
from tests.interp.model_server import ModelServer, tool_calls

CALL = tool_calls(("c1", "sayHello", {"personName": "Al"}))


@pytest.fixture
def sizes(model_server: ModelServer, tmp_path: Path) -> list[int]:
    """How long the record of a run is after each of its entries."""
    model_server.will_say(CALL, "Hello, Al!")
    gram("run", HELLO, "hi", "--record", str(tmp_path / "whole"), **at(model_server))
    lines = (tmp_path / "whole").read_bytes().splitlines(keepends=True)
    return [sum(map(len, lines[: n + 1])) for n in range(len(lines))]


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_full_disks_ask_nobody(
    options: list[str], model_server: ModelServer, tmp_path: Path
) -> None:
    file = tmp_path / "run.gram"
    words = ("run", HELLO, "hi", "--record", str(file), *options)
    done = forked(*words, largest=100, **at(model_server))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"gram: {file}: File too large\n"
    assert not file.exists()
    assert not model_server.requests


@pytest.mark.parametrize("entry", range(6))
def test_a_disk_that_fills_up(
    entry: int, sizes: list[int], model_server: ModelServer, tmp_path: Path
) -> None:
    file = tmp_path / "run.gram"
    model_server.requests.clear()
    model_server.will_say(CALL, "Hello, Al!")

    words = ("run", HELLO, "hi", "--record", str(file))
    done = forked(*words, largest=sizes[entry] + 40, **at(model_server))

    told(done, 2, f"{file}: the run is no longer recorded: File too large\n")
    assert "Traceback" not in done.stderr
    assert len(load_run(file).entries) == entry
    asked = len(model_server.requests)
    assert done.stdout == ("Hello, Al!\n" if asked == 2 else "")
    if asked == 2:
        model_server.will_say("Hello again!")
    again = gram("resume", str(file), **at(model_server))
    assert again.returncode == 0
    assert load_run(file).state.status.name == "DONE"


def test_an_unrecorded_answer_is_printed(
    sizes: list[int], model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.will_say(CALL, "Hello, Al!")
    file = str(tmp_path / "run.gram")
    words = ("run", HELLO, "hi", "--json", "--record", file)
    done = forked(*words, largest=sizes[-2] + 40, **at(model_server))
    assert done.returncode == 2
    assert json.loads(done.stdout)["answer"] == "Hello, Al!"
    assert "no longer recorded" in done.stderr
