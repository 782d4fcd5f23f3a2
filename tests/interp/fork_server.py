"""The process that does imports and is forked; see `tests.interp.forking` for who asks it."""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NoReturn


def serve(runs: Mapping[str, Callable[[], object]]) -> NoReturn:
    """Fork for each process that is asked for, while a process that runs tests is there.

    Who runs tests connects and sends a byte. Who asks connects, sends its three streams, then a
    line of JSON: what is to be run and the arguments, the environment, the folder, whether the
    first stream that is a terminal controls the process, and how large its files may become. The
    answers are two lines: the number of the process, and its exit code. A process whose connection
    is closed before it ends is killed.

    Args:
        runs: what a fork does, by its name; it may end by raising SystemExit.
    """
    gc.freeze()  # what is there stays, and need not be looked through in each fork
    ended, ends = socket.socketpair()
    for each in (ended, ends):
        each.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(ends.fileno())
    running: dict[int, socket.socket] = {}
    with socket.socket(fileno=int(sys.argv[1])) as listening:
        testing = [listening.accept()[0]]  # who has started us is there already
        waiting = select.poll()
        waiting.register(testing[0], 0)  # for its end alone, as with the channels
        waiting.register(listening, select.POLLIN)
        waiting.register(ended, select.POLLIN)
        while testing:
            ready = {number for number, _ in waiting.poll()}
            if ended.fileno() in ready:
                ended.recv(4096)
                _tell_ends(running, waiting)
            for pid, channel in running.items():
                if channel.fileno() in ready:
                    waiting.unregister(channel)
                    os.kill(pid, signal.SIGKILL)
            if listening.fileno() in ready:
                channel, _ = listening.accept()
                _, streams, _, _ = socket.recv_fds(channel, 1, 3)
                waiting.register(channel, 0)
                if not streams:
                    testing.append(channel)
                    continue
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    for number in (signal.SIGCHLD, signal.SIGHUP):  # the tests may run under nohup
                        signal.signal(number, signal.SIG_DFL)
                    for each in (listening, ended, ends, *testing, *running.values()):
                        each.close()
                    _run(runs[_become(channel, *streams)])
                for stream in streams:
                    os.close(stream)
                running[pid] = channel
                with suppress(BrokenPipeError):
                    channel.sendall(b"%d\n" % pid)
            for channel in [each for each in testing if each.fileno() in ready]:
                waiting.unregister(channel)
                testing.remove(channel)
                channel.close()
    os.unlink(sys.argv[2])  # noqa: PTH108  # a str
    os._exit(0)


def _tell_ends(running: dict[int, socket.socket], waiting: select.poll) -> None:
    """Tell how processes ended to who asked for them."""
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with running.pop(pid) as channel, suppress(BrokenPipeError, KeyError):
            channel.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
            waiting.unregister(channel)


def _become(channel: socket.socket, *streams: int) -> str:
    """Take on all that a process was asked for with, and give what it is to run."""
    with channel, channel.makefile("r") as lines:
        (what, *arguments), environment, cwd, at_terminal, largest = json.loads(lines.readline())
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    if at_terminal:
        _take_terminal()
    if largest is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
        sys.dont_write_bytecode = True  # Python would keep half of what it compiles
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    sys.argv[1:] = arguments
    sys.stdin, sys.stdout, sys.stderr = (
        _stream(number, mode) for number, mode in enumerate(("r", "w", "w"))
    )
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]  # final, for others
    return what


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


def _run(run: Callable[[], object]) -> NoReturn:
    """Run, and end before Python takes all modules apart, which would take longer."""
    code: Any = 1

    def leave() -> NoReturn:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        os._exit(code)

    atexit.register(leave)  # the first to be registered is the last to be called
    try:
        run()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
        raise
    code = 0
    sys.exit()
