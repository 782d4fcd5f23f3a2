"""A disk that is full, or fills up: one message with the file, and what was done is kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from interp import load_run
from tests.interp.cli.process import UNCOMPILED, at, forked as gram, without_keys
from tests.interp.model_server import ModelServer, tool_calls
from tests.paths import EXAMPLES, ROOT

HELLO = str(EXAMPLES / "hello_world.gram")
CALL = tool_calls(("c1", "sayHello", {"personName": "Al"}))
LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
from interp.cli import main
main()
"""


def with_space(size: int, server: ModelServer, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command where files cannot become larger than so many bytes."""
    return subprocess.run(
        [sys.executable, "-c", LIMITED, str(size), *arguments],
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        env={**without_keys(), **at(server), **UNCOMPILED, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
        start_new_session=True,
    )


@pytest.fixture
def sizes(model_server: ModelServer, tmp_path: Path) -> list[int]:
    """How long the record of a run is after each of its entries."""
    model_server.will_say(CALL, "Hello, Al!")
    gram("run", HELLO, "hi", "--record", str(tmp_path / "whole"), **at(model_server))
    lines = (tmp_path / "whole").read_bytes().splitlines(keepends=True)
    return [sum(map(len, lines[: n + 1])) for n in range(len(lines))]


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_disk_that_is_full_before_the_run_asks_nobody(
    options: list[str], model_server: ModelServer, tmp_path: Path
) -> None:
    file = tmp_path / "run.gram"

    done = with_space(100, model_server, "run", HELLO, "hi", "--record", str(file), *options)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"gram: {file}: File too large\n"
    assert not file.exists()
    assert not model_server.requests


@pytest.mark.parametrize("entry", range(6))
def test_a_disk_that_fills_up_leaves_a_run_that_goes_on(
    entry: int, sizes: list[int], model_server: ModelServer, tmp_path: Path
) -> None:
    file = tmp_path / "run.gram"
    model_server.requests.clear()
    model_server.will_say(CALL, "Hello, Al!")

    done = with_space(sizes[entry] + 40, model_server, "run", HELLO, "hi", "--record", str(file))

    assert done.returncode == 2
    assert f"{file}: the run is no longer recorded: File too large\n" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(load_run(file).entries) == entry
    asked = len(model_server.requests)
    assert done.stdout == ("Hello, Al!\n" if asked == 2 else "")
    if asked == 2:
        model_server.will_say("Hello again!")
    again = gram("resume", str(file), **at(model_server))
    assert again.returncode == 0
    assert load_run(file).state.status.name == "DONE"


def test_an_answer_that_could_not_be_recorded_is_printed_as_json(
    sizes: list[int], model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.will_say(CALL, "Hello, Al!")

    file = str(tmp_path / "run.gram")
    done = with_space(sizes[-2] + 40, model_server, "run", HELLO, "hi", "--json", "--record", file)

    assert done.returncode == 2
    assert json.loads(done.stdout)["answer"] == "Hello, Al!"
    assert "no longer recorded" in done.stderr
