"""Processes without the wait for imports: one process does the imports, and forks for each.

A fork is a process like any other, with arguments, an environment, a folder, streams and a session
of its own. What is about the start of Python has to start Python itself.
"""

from __future__ import annotations

import atexit
import json
import os
import secrets
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from select import select
from typing import BinaryIO, ClassVar

from tests.paths import ROOT

_START = "from tests.interp.forked import serve_all; serve_all()"
_RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID") or secrets.token_hex(8)
ADDRESS = f"{tempfile.gettempdir()}/gram-forks-{_RUN}"
"""The socket where forks are asked for; the processes that run tests together have the same."""


class Forking:
    """The process that does imports once and forks whenever it is asked.

    It ends with the last of the processes that run tests.

    Args:
        what: what forks run, by its name in `tests.interp.forked`.
    """

    _asking: ClassVar[socket.socket | None] = None

    def __init__(self, what: str) -> None:
        self.what = what

    @classmethod
    def start(cls) -> None:
        """Start the process, unless it is started, here or by another process that runs tests."""
        if cls._asking is not None:
            return
        ours, first = f"{ADDRESS}-{os.getpid()}", False
        asking = cls._asking = socket.socket(socket.AF_UNIX)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(ours)
            listening.listen(64)
            with suppress(FileExistsError):
                os.link(ours, ADDRESS)
                first = True
            os.unlink(ours)  # noqa: PTH108  # a str
            asking.connect(ADDRESS)
            asking.sendall(b".")
            if first:
                process = subprocess.Popen(
                    [sys.executable, "-c", _START, str(listening.fileno()), ADDRESS],
                    pass_fds=[listening.fileno()],
                    cwd=ROOT,
                    env={**os.environ, "PYTHONPATH": str(ROOT)},
                    stdin=subprocess.DEVNULL,
                    start_new_session=True,
                )
                atexit.register(process.wait)
        atexit.register(asking.close)  # before it is waited for

    def relayed(self, *arguments: str) -> list[str]:
        """The command line of a fork, for shells and others that start processes themselves."""
        relay = str(Path(__file__).with_name("relay.py"))
        return [sys.executable, "-I", "-S", relay, ADDRESS, self.what, *arguments]

    def written(self, path: Path, *arguments: str) -> str:
        """A file that is the command of a fork, for what starts commands by their names."""
        self.start()
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'#!/bin/sh\nexec {shlex.join(self.relayed(*arguments))} "$@"\n')
        path.chmod(0o755)
        return str(path)


class Forked:
    """A process that was forked.

    Args:
        forking: what forks.
        arguments: its arguments.
        environment: all its variables.
        cwd: its folder.
        streams: its standard input, output and error.
        at_terminal: whether the first of its streams that is a terminal controls it.
        largest: how many bytes its files may have, as on a disk that fills up.

    Attributes:
        pid: the number of the process.
    """

    def __init__(
        self,
        forking: Forking,
        arguments: Sequence[str],
        *,
        environment: Mapping[str, str],
        cwd: str | Path,
        streams: tuple[int | BinaryIO, int | BinaryIO, int | BinaryIO],
        at_terminal: bool = False,
        largest: int | None = None,
    ) -> None:
        numbers = [each if isinstance(each, int) else each.fileno() for each in streams]
        asked = [[forking.what, *arguments], dict(environment), str(cwd), at_terminal, largest]
        forking.start()
        self._channel = socket.socket(socket.AF_UNIX)
        self._channel.connect(ADDRESS)
        socket.send_fds(self._channel, [b"."], numbers)
        self._channel.sendall(json.dumps(asked).encode() + b"\n")
        self._told = self._channel.makefile("r")
        self.pid = int(self._told.readline())
        self._code: int | None = None

    def poll(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        if self._code is None and select([self._channel], [], [], 0)[0]:
            self._code = int(self._told.readline())
            self._told.close()
            self._channel.close()
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended, and give its exit code."""
        if self._code is None and not select([self._channel], [], [], timeout)[0]:
            raise TimeoutError(f"the command has not ended in {timeout} s")
        code = self.poll()
        assert code is not None
        return code

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it, if it still runs."""
        self.send_signal(signal.SIGKILL)


def run_forked(
    forking: Forking,
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    cwd: str | Path,
    given: str = "",
    timeout: float = 60,
    largest: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a fork with pipes for its streams, as `subprocess.run` would.

    Bytes that are not UTF-8 can be given and are printed as surrogates.
    """
    pipes = [os.pipe() for _ in range(3)]
    (theirs_in, mine_in), (mine_out, theirs_out), (mine_err, theirs_err) = pipes
    try:
        process = Forked(
            forking,
            arguments,
            environment=environment,
            cwd=cwd,
            streams=(theirs_in, theirs_out, theirs_err),
            largest=largest,
        )
    finally:
        for each in (theirs_in, theirs_out, theirs_err):
            os.close(each)
    try:
        printed = _exchange(
            given.encode("utf-8", "surrogateescape"),
            mine_in,
            (mine_out, mine_err),
            time.monotonic() + timeout,
        )
        code = process.wait(timeout)
    finally:
        process.kill()
    output, errors = (each.decode("utf-8", "surrogateescape") for each in printed)
    return subprocess.CompletedProcess(arguments, code, output, errors)


def _exchange(
    given: bytes, writing: int, reading: tuple[int, int], deadline: float
) -> tuple[bytes, bytes]:
    """Write to one pipe and read from two, until all are closed at the other end."""
    parts: dict[int, list[bytes]] = {number: [] for number in reading}
    open_ones, to_write = set(reading), [writing]
    if not given:
        os.close(to_write.pop())
    try:
        while open_ones:
            ready, free, _ = select(list(open_ones), to_write, [], deadline - time.monotonic())
            if not ready and not free:
                raise TimeoutError("the command took too long")
            for number in ready:
                part = os.read(number, 65536)
                parts[number].append(part)
                if not part:
                    open_ones.remove(number)
            if free:
                try:
                    given = given[os.write(writing, given[:4096]) :]
                except BrokenPipeError:
                    given = b""
                if not given:
                    os.close(to_write.pop())
    finally:
        for number in (*reading, *to_write):
            os.close(number)
    first, second = (b"".join(parts[number]) for number in reading)
    return first, second
