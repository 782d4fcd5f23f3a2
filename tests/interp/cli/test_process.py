"""The process of a command: Ctrl-C at any moment, closed pipes, full disks, encodings, help."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from interp import load_run
from tests.interp.cli.process import (
    COMMAND,
    HELLO,
    at,
    forked,
    gram,
    gram_from_its_start,
    relayed,
    rows,
    told,
    written,
)
from tests.interp.model_server import ModelServer, tool_calls
from tests.paths import ROOT

INTERRUPTED_AT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored around the tests
from interp.cli import main
class Interrupting:
    def find_spec(self, name, *_):
        if name == wanted:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
wanted, sys.argv = sys.argv[1], ["gram", *sys.argv[2:]]
main()
"""


@pytest.mark.parametrize("module", ["click", "interp.cli.commands.sources"])
def test_an_interrupt_at_start_up_is_quiet(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_AT, module, "check", HELLO],
        capture_output=True, text=True, cwd=ROOT, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize(("command", "codes"), rows("closed streams"))
def test_streams_that_are_closed_are_quiet(command: str, codes: set[int]) -> None:
    start = COMMAND if "&-" in command else relayed()  # a relay needs all three streams
    shell = f"set -o pipefail; {shlex.join(start)} {command.format(hello=HELLO)}"
    done = subprocess.run(
        ["bash", "-c", shell], capture_output=True, text=True, cwd=ROOT, timeout=60, check=False
    )
    assert done.returncode in codes
    assert "Error" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device to write to")
def test_output_that_cannot_be_written_is_one_message() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            relayed("get", HELLO, "hello_world_agent"),
            stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "gram: standard output: No space left on device\n"


def test_pipes_get_utf_8_whatever_the_terminal_s_encoding_is() -> None:
    text = '(a {k: "é … 漢"})\n'
    assert gram_from_its_start("fmt", "-", stdin=text, PYTHONIOENCODING="ascii").stdout == text


def test_help_is_given_in_every_way() -> None:
    assert gram("help", "set").stdout == gram("set", "--help").stdout
    assert gram("help", "runs", "list").stdout == gram("runs", "list", "--help").stdout
    assert gram("help").stdout == gram("-h").stdout
    assert gram("-V").stdout == gram("--version").stdout
    assert "gram set" in gram("help", "set").stdout


IN_A_CALLBACK = """
import os, signal, sys, time
from interp.cli.process import interruptible, leave_at_interrupt

class Closing:
    def __del__(self):
        os.kill(os.getpid(), int(sys.argv[1]))
        for _ in range(1000):
            pass

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
leave_at_interrupt()
try:
    with interruptible():
        closing = Closing()
        del closing
        time.sleep(20)
        print("it goes on")
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_signal_that_comes_in_a_callback_ends_the_command(number: int, code: int) -> None:
    words = [sys.executable, "-c", IN_A_CALLBACK, str(int(number))]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (code, "")


# --- what is loaded


PROGRAM = """\
[a:Agent {description: "D", instruction: "I", model: "OpenAI/gpt-5.6-luna"} |
  [t:ToolSpecification {description: "T"} | (x::Integer)==>(::String)]]
"""
COMMANDS = """\
import json, sys
from interp.cli import main
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["gram", *arguments]
    try:
        main()
    except SystemExit as stopped:
        assert not stopped.code, arguments
    print(arguments[0], *sys.modules, file=sys.stderr)
"""
UNNEEDED = {
    *("openai", "httpx", "httpx2", "aiohttp", "pydantic", "lark"),
    *("interp.execution", "interp.exchange", "lenses_ext.drawings.svg"),
}


def test_commands_on_files_load_no_network_and_nothing_that_runs(tmp_path: Path) -> None:
    file = written(tmp_path / "p.gram", PROGRAM)
    commands = [
        ["check", file],
        ["get", file, "a.model"],
        ["get", file, "a.tools.t.schema"],
        ["set", file, "a.model", "Ollama/llama4"],
        ["set", file, "a.tools.t.signature", "()==>(::String)"],
        ["add", file, "a.note", "new"],
        ["del", file, "a.description"],
        ["fmt", "--check", file],
    ]

    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, json.dumps(commands)],
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip

    loaded = [line.split() for line in done.stderr.splitlines() if " interp.cli " in line]
    assert [name for name, *_ in loaded] == [name for name, *_ in commands]
    assert {name: found for name, *modules in loaded if (found := UNNEEDED & {*modules})} == {}


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
