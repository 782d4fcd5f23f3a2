"""Completion: what is offered, and that Tab asks for it in each shell."""

from __future__ import annotations

import os
import pty
import select
import shlex
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.interp.cli.process import HELLO, gram, rows, without_keys, written
from tests.interp.forked import COMMANDS
from tests.paths import ROOT

BASH = """\
compopt() { :; }
eval "$(gram completion bash)"
COMP_LINE=$1 COMP_POINT=${#1}
_gram_completion gram
printf '%s\\n' "${COMPREPLY[@]}"
"""


def shell(name: str) -> str:
    """The path of a shell; the test is skipped if there is none."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which ``gram`` is on the path."""
    COMMANDS.written(tmp_path / "bin" / "gram")
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    return {**without_keys(), "PATH": path, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}


@pytest.mark.parametrize(("typed", "offered"), rows("offered"))
def test_what_begins_so_is_offered(typed: str, offered: list[str]) -> None:
    asked = gram(_GRAM_COMPLETE="bash_complete", GRAM_TYPED=typed)
    answers = [line.split(",", 1) for line in asked.stdout.splitlines()]
    word = typed.split()[-1]  # Bash goes on behind the last colon, or the last =
    kept = max(word.rfind(":"), word.rfind("=")) + 1
    assert [text for kind, text in answers if kind != "file"] == [each[kept:] for each in offered]


TYPED, COMPLETED = f"gram run {HELLO} hi --set toolCh", "toolChoice="


def test_bash_completes(environment: dict[str, str]) -> None:
    done = subprocess.run(
        [shell("bash"), "--norc", "-c", BASH, "bash", TYPED],
        env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("toolChoice=\n", "")


def test_fish_completes(environment: dict[str, str]) -> None:
    script = f"gram completion fish | source; complete -C {shlex.quote(TYPED)}"
    done = subprocess.run(
        [shell("fish"), "--no-config", "-c", script],
        env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == [COMPLETED]


def test_zsh_completes_at_a_terminal(environment: dict[str, str]) -> None:
    mine, theirs = pty.openpty()
    process = subprocess.Popen(
        [shell("zsh"), "-f", "-i"], stdin=theirs, stdout=theirs, stderr=theirs,
        env={**environment, "TERM": "dumb", "PS1": "ready "}, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    try:
        os.write(mine, b'autoload -U compinit; compinit -u -D; eval "$(gram completion zsh)"\n')
        os.write(mine, b"echo loa''ded\n")
        _until(mine, ["loaded"])
        os.write(mine, f"{TYPED}\t".encode())
        _until(mine, [COMPLETED])
    finally:
        process.kill()
        process.wait()
        os.close(mine)


def _until(terminal: int, texts: list[str]) -> None:
    """Wait until all texts are seen."""
    seen, deadline = "", time.monotonic() + 30
    while not all(text in seen for text in texts):
        assert time.monotonic() < deadline, f"never saw {texts} in {seen!r}"
        if select.select([terminal], [], [], 0.5)[0]:
            seen += os.read(terminal, 65536).decode(errors="replace")


def test_big_files_are_completed(tmp_path: Path) -> None:
    agents = [f'[agent{n}:Agent {{instruction: "x {n}", model: "A/b"}}]\n' for n in range(3000)]
    program = written(tmp_path / "big.gram", "".join(agents))
    named = gram("completion", "bash")  # it is what asks for what follows
    line = f"gram get {program} agent2999.inst"
    found = gram(_GRAM_COMPLETE="bash_complete", GRAM_TYPED=line)
    assert "GRAM_TYPED" in named.stdout
    assert found.stdout == "plain,agent2999.instruction\n"
