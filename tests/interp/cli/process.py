"""Runs the command line: in this process, in one that is forked, in one that is started."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from click.testing import CliRunner

from interp.cli import main
from interp.cli.terminal.console import set_loudness
from tests.interp.forked import COMMANDS
from tests.interp.forking import run_forked
from tests.interp.model_server import ModelServer
from tests.paths import DATA, EXAMPLES, ROOT

COMMAND = [sys.executable, "-m", "interp"]
KEY = "sk-known-key-0123456789"
HELLO = str(EXAMPLES / "hello_world.gram")
_TABLES = tomllib.loads(
    (DATA / "command_lines.toml").read_text("utf-8").replace("HELLO", HELLO)
)  # each row says what is typed, and what comes of it


def gram(
    *arguments: str, stdin: str = "", cwd: str | Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in this process and give what it printed; the environment has no keys."""
    runner = CliRunner()
    with (
        _as_a_process(arguments, environment, cwd),
        runner.isolation(stdin.encode("utf-8", "surrogateescape")) as printed,
    ):
        code: object = None
        try:
            main()
        except SystemExit as left:
            code = left.code
        finally:
            set_loudness(0)
        output, errors = (each.getvalue().decode() for each in printed[:2])
    assert isinstance(code, int), "a command says how it has gone"
    return subprocess.CompletedProcess(arguments, code, output, errors)


def refused(done: subprocess.CompletedProcess[str], code: int, *said: str) -> None:
    """Expect that a command has refused: with this code, with words, no answer, no traceback."""
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (code, "", False), done
    has(done.stderr, *said)


def rows(name: str) -> Any:
    """The rows of a table in ``tests/data/command_lines.toml``."""
    return _TABLES[name]


def has(text: str, *parts: str) -> None:
    """Expect that a text has all these parts."""
    missing = [each for each in parts if each not in text]
    assert not missing, f"{missing} not in {text}"


def told(done: subprocess.CompletedProcess[str], code: int, *parts: str) -> None:
    """Expect that a command has left with a code, and has told all this."""
    assert done.returncode == code, done
    has(done.stderr, *parts)


def printed(done: subprocess.CompletedProcess[str], code: int, *parts: str) -> None:
    """Expect that a command has left with a code, and has printed all this."""
    assert done.returncode == code, done
    has(done.stdout, *parts)


@contextmanager
def _as_a_process(
    arguments: tuple[str, ...], environment: Mapping[str, str], cwd: str | Path
) -> Iterator[None]:
    """Inside, this process has arguments, an environment and a folder; what is set goes with it."""
    handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    logging_before = {each: (each.handlers[:], each.level, each.propagate) for each in _loggers()}
    try:
        with (
            chdir(cwd),
            mock.patch.dict(os.environ, without_keys() | environment, clear=True),
            mock.patch.object(sys, "argv", ["gram", *arguments]),
            mock.patch.object(sys, "path", sys.path.copy()),
        ):
            time.tzset()
            yield
    finally:
        time.tzset()
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for each in _loggers():
            handled, level, propagate = logging_before.get(each, ([], logging.NOTSET, True))
            each.handlers[:], each.propagate = handled, propagate
            if each.level != level:  # to set one takes long where there are many loggers
                each.setLevel(level)


def _loggers() -> list[logging.Logger]:
    known = logging.root.manager.loggerDict.values()
    return [each for each in known if isinstance(each, logging.Logger)]


def forked(
    *arguments: str,
    stdin: str = "",
    cwd: str | Path = ROOT,
    largest: int | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own: where signals, pipes or servers' streams matter."""
    how: Any = {"environment": in_a_process(environment), "cwd": cwd, "largest": largest}
    return run_forked(COMMANDS, arguments, given=stdin, **how)


def started(
    *arguments: str, stdin: int = subprocess.DEVNULL, cwd: str | Path = ROOT, **environment: str
) -> subprocess.Popen[str]:
    """The command in a process of its own that goes on meanwhile, with pipes for its output."""
    how: Any = {"stdin": stdin, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(relayed(*arguments), cwd=cwd, env=in_a_process(environment), **how)


def relayed(*arguments: str) -> list[str]:
    """The command in a process of its own, as the words that start it."""
    COMMANDS.start()
    return COMMANDS.relayed(*arguments)


def gram_from_its_start(
    *arguments: str, stdin: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command as `gram` does, in a Python that is started for it."""
    how: Any = {"cwd": ROOT, "timeout": 60, "start_new_session": True, "encoding": "utf-8"}
    how["env"] = in_a_process(environment)
    return subprocess.run([*COMMAND, *arguments], input=stdin, capture_output=True, **how)


def written(path: Path, text: str) -> str:
    """A file with a text, by its name as commands take it."""
    path.write_text(text, encoding="utf-8")
    return str(path)


def at(server: ModelServer) -> dict[str, str]:
    """The environment in which a server is found, with a key."""
    return {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY}


def in_a_process(environment: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a process of its own."""
    return {**without_keys(), "PYTHONPATH": str(ROOT), **environment}


def without_keys() -> dict[str, str]:
    """The environment without keys and addresses of models."""
    keys = ("_API_KEY", "_BASE_URL")
    return {name: value for name, value in os.environ.items() if not name.endswith(keys)}
