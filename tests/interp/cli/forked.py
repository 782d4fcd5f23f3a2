"""Processes of the command line without the wait for imports.

One process imports all that commands import, and is forked for each command that is asked for. A
fork is a process like any other: with an environment, a folder, streams and a session of its own,
and Python ends in it as usual. What is about the start of Python has to start Python itself.
"""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from select import select
from typing import Any, BinaryIO, NoReturn

from tests.paths import ROOT

_OTHERS = ("croniter", "networkx", "openai", "prompt_toolkit", "psycopg", "rich.console", "yaml")
"""What many commands import beside our own modules; what few do would make forks slower."""

_FOR_TESTS = {"pytest_plugin", "strategies"}

_START = "from tests.interp.cli.forked import serve; serve()"


class Forked:
    """A command that runs in a process of its own.

    Args:
        arguments: the command's.
        environment: all its variables.
        cwd: its folder.
        streams: its standard input, output and error.
        at_terminal: whether the first of its streams that is a terminal controls it.

    Attributes:
        pid: the number of the process.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        environment: Mapping[str, str],
        cwd: Path,
        streams: tuple[int | BinaryIO, int | BinaryIO, int | BinaryIO],
        at_terminal: bool = False,
    ) -> None:
        numbers = [each if isinstance(each, int) else each.fileno() for each in streams]
        asked = [list(arguments), dict(environment), str(cwd), at_terminal]
        self._channel, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(_server(), [b"."], [theirs.fileno(), *numbers])
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


def communicate(
    arguments: Sequence[str],
    *,
    given: bytes,
    environment: Mapping[str, str],
    cwd: Path,
    timeout: float,
) -> tuple[int, bytes, bytes]:
    """Run a command with pipes for its streams; returns its exit code and what it printed."""
    pipes = [os.pipe() for _ in range(3)]
    (theirs_in, mine_in), (mine_out, theirs_out), (mine_err, theirs_err) = pipes
    try:
        process = Forked(
            arguments,
            environment=environment,
            cwd=cwd,
            streams=(theirs_in, theirs_out, theirs_err),
        )
    finally:
        for each in (theirs_in, theirs_out, theirs_err):
            os.close(each)
    try:
        printed = _exchange(given, mine_in, (mine_out, mine_err), time.monotonic() + timeout)
        return process.wait(timeout), *printed
    finally:
        process.kill()


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


@cache
def _server() -> socket.socket:
    """Where commands are asked for; the process behind it ends with this one."""
    mine, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-c", _START, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    atexit.register(lambda: (mine.close(), process.wait()))
    return mine


# --- in the process that is forked
def serve() -> NoReturn:
    """Fork for each command that is asked for."""
    asked = socket.socket(fileno=int(sys.argv[1]))
    for package in ("gram", "lenses_ext", "interp"):
        for found in walk_packages([str(ROOT / package)], f"{package}."):
            if not _FOR_TESTS & {*found.name.split(".")}:
                import_module(found.name)
    for name in _OTHERS:
        import_module(name)
    gc.freeze()  # what is there stays, and need not be looked through in each fork
    running: dict[int, socket.socket] = {}
    ended, ends = socket.socketpair()
    for each in (ended, ends):
        each.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(ends.fileno())
    while True:
        ready, _, _ = select([asked, ended], [], [])
        if ended in ready:
            ended.recv(1024)
            _tell_ends(running)
        if asked in ready:
            _, handed, _, _ = socket.recv_fds(asked, 1, 4)
            if not handed:  # nobody is left who could ask
                os._exit(0)
            channel = socket.socket(fileno=handed[0])
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for each in (asked, ended, ends, *running.values()):
                    each.close()
                _become_command(channel, *handed[1:])
                _run_command()
            for number in handed[1:]:
                os.close(number)
            running[pid] = channel
            channel.sendall(b"%d\n" % pid)


def _tell_ends(running: dict[int, socket.socket]) -> None:
    """Tell how processes ended to who asked for them."""
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with running.pop(pid) as channel, suppress(BrokenPipeError):
            channel.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _become_command(channel: socket.socket, *streams: int) -> None:
    """Take on the arguments, the environment, the folder and the streams of a command."""
    with channel, channel.makefile("r") as lines:
        arguments, environment, cwd, at_terminal = json.loads(lines.readline())
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    if at_terminal:
        _take_terminal()
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    sys.argv[1:] = arguments
    sys.stdin, sys.stdout, sys.stderr = (
        _stream(number, mode) for number, mode in enumerate(("r", "w", "w"))
    )
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]  # final, for others


def _run_command() -> NoReturn:
    """Run the command, and end before Python takes all modules apart, which lasts longer."""
    from interp.cli import main

    code: Any = 1
    atexit.register(lambda: os._exit(code))  # the first to be registered is the last to be called
    try:
        main()
    except SystemExit as left:
        code = left.code
        raise
    raise AssertionError("main always exits")


def _take_terminal() -> None:
    """Make the first stream that is a terminal the one that controls this session."""
    import fcntl
    import termios

    fcntl.ioctl(next(n for n in (0, 1, 2) if os.isatty(n)), termios.TIOCSCTTY, 0)


def _stream(number: int, mode: str) -> io.TextIOWrapper:
    """A standard stream as Python makes it at its start."""
    before = (sys.stdin, sys.stdout, sys.stderr)[number]
    assert isinstance(before, io.TextIOWrapper)
    return io.TextIOWrapper(
        open(number, f"{mode}b", closefd=False),  # a number, not a path
        encoding=before.encoding,
        errors=before.errors,
        newline="\n",
        line_buffering=number == 2 or os.isatty(number),
        write_through=before.write_through,
    )
