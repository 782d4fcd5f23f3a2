"""Reads what people type: messages from a pipe, and answers at the terminal itself."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from pathlib import Path

import click

from gram.display import visible
from gram.documents import decode

from .output import without_surrogates


class NoTerminal(Exception):  # noqa: N818  # it is no error
    """There is no terminal to ask at."""


def ask_user(question: str) -> str:
    """Ask a question and return the line that the user types.

    Raises:
        NoTerminal: there is none.
        KeyboardInterrupt: the user typed Ctrl-C or Ctrl-D.
    """
    if all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)):
        _forget_typed_ahead(sys.stdin.fileno())
        try:
            return str(
                click.prompt(question, default="", show_default=False, prompt_suffix="", err=True)
            )
        except click.Abort:  # Ctrl-C or Ctrl-D, which is not an error
            raise KeyboardInterrupt from None
    try:
        descriptor = os.open("/dev/tty", os.O_RDWR | getattr(os, "O_NOCTTY", 0))
    except OSError:
        raise NoTerminal from None
    _forget_typed_ahead(descriptor)
    with io.TextIOWrapper(io.FileIO(descriptor, "r+"), errors="replace", newline="") as terminal:
        terminal.write(visible(without_surrogates(question)))
        terminal.flush()
        line = terminal.readline()
    if not line:
        raise KeyboardInterrupt
    return line.rstrip("\r\n")


def columns() -> int | None:
    """How wide the terminal is that a question is asked at; None if it does not say."""
    with suppress(OSError, AttributeError, ValueError):
        return os.get_terminal_size(sys.stderr.fileno()).columns or None
    with suppress(OSError), open("/dev/tty", "rb") as terminal:  # noqa: PTH123  # no path of a file
        return os.get_terminal_size(terminal.fileno()).columns or None
    return None


def _forget_typed_ahead(terminal: int) -> None:
    """Forget what was typed before the question was shown: it answers something else."""
    try:
        import termios
    except ImportError:  # not on Unix
        return
    with suppress(termios.error):
        termios.tcflush(terminal, termios.TCIFLUSH)


class Lines:
    """Messages from standard input that is no terminal, one a line; no prompt is shown."""

    is_typed = False

    def next(self) -> str | None:
        """The next message, or None at the end.

        Raises:
            GramDecodeError: the line is not UTF-8.
        """
        line = sys.stdin.buffer.readline() if sys.stdin else b""
        return decode(line, "<stdin>").rstrip("\r\n") if line else None


def state_folder() -> Path:
    """The user's folder for what commands keep, by the XDG Base Directory Specification.

    Raises:
        FileNotFoundError: the user has no home directory, as in some containers.
    """
    default = "~/.local/state"
    parent = os.environ.get("XDG_STATE_HOME") or os.path.expanduser(default)  # noqa: PTH111  # Path raises
    if parent == default:
        raise FileNotFoundError(errno.ENOENT, "Could not determine home directory.", default)
    return Path(parent, "gram")
