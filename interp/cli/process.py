"""How the process of a command behaves: Ctrl-C, closed pipes, the encoding of what is printed."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from ..terminated import Terminated

INTERRUPTED = 130
"""The exit code of a command that was stopped with Ctrl-C."""

CLOSED_PIPE = 141
"""The exit code of a command whose reader has closed the pipe."""

_A_MOMENT = 0.05  # seconds

_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""The signals beside Ctrl-C that ask a command to end."""


def leave_at_once(_signal: int = 0, _frame: FrameType | None = None) -> None:
    """End the process without a traceback."""
    os._exit(INTERRUPTED)


def leave_at_interrupt() -> None:
    """From now on Ctrl-C ends the process at once; see `interruptible` for what has to clean up.

    Where Ctrl-C is ignored, as after ``nohup``, it stays so.
    """
    if signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, None):
        signal.signal(signal.SIGINT, leave_at_once)


def leave_at_termination() -> None:
    """From now on a request to terminate ends the process at once, with nothing left undone: 0."""
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))


@contextmanager
def interruptible() -> Iterator[None]:
    """Inside, Ctrl-C raises KeyboardInterrupt, so that locks are released and sessions saved.

    For the same reason a request to terminate, and a terminal that is closed, raise SystemExit; a
    second one ends the process at once. What is ignored, as under ``nohup``, stays ignored.
    """
    outside, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook

    def not_lost(unraisable: Any) -> None:
        """Interrupt again where Python would only print the exception, as in a callback."""
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            _come_again(signal.SIGINT)
        elif issubclass(unraisable.exc_type, Terminated):
            number = unraisable.exc_value.code - 128
            signal.signal(number, _leave)
            _come_again(number)
        else:
            hook(unraisable)

    if outside is not leave_at_once:
        yield
        return
    sys.unraisablehook = not_lost
    signal.signal(signal.SIGINT, signal.default_int_handler)
    ending = [each for each in _ENDING if signal.getsignal(each) == signal.SIG_DFL]
    for each in ending:
        signal.signal(each, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, outside)
        for each in ending:
            signal.signal(each, signal.SIG_DFL)
        sys.unraisablehook = hook


def _come_again(number: int) -> None:
    """Have a signal come once more, when Python has left the callback in which it was lost."""
    main = threading.main_thread().ident
    send = getattr(signal, "pthread_kill", lambda _, each: signal.raise_signal(each))  # no Windows
    again = threading.Timer(_A_MOMENT, send, (main, number))
    again.daemon = True
    again.start()


def _leave(number: int, _: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    raise Terminated(128 + number)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Inside, Ctrl-C and the other signals that end a command wait for the end of it."""
    came: list[int] = []
    handlers = {
        each: signal.signal(each, lambda number, _: came.append(number))
        for each in (signal.SIGINT, *_ENDING)
    }
    try:
        yield
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)
    for number in came:
        signal.raise_signal(number)


def prepare_streams() -> None:
    """Make sure that every text can be printed.

    Pipes and files get UTF-8, since gram is UTF-8 everywhere. A terminal gets its own encoding,
    with escapes for the characters that it does not have.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = None if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def flush_streams() -> bool:
    """Write what is left to write; False if nobody reads it, or it cannot be written.

    Python must not fail in the same way when it flushes at its end.
    """
    is_written = True
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            is_written = False
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return is_written


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Inside, what the process and its children write to standard output goes to standard error."""
    sys.stdout.flush()
    kept = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, sys.stdout.fileno())
        os.close(kept)
