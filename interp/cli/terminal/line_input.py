"""Reads messages line by line from a pipe; `interp.cli.terminal.prompting` is for a terminal."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Protocol

from gram.documents import decode


class Lines(Protocol):
    """A source of messages."""

    is_typed: bool

    def next(self) -> str | None:
        """The next message, or None at the end."""
        ...


class PipedLines:
    """Lines of standard input when it is not a terminal; no prompt is shown."""

    is_typed = False

    def next(self) -> str | None:
        """The next line, or None at the end.

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


def history_path() -> Path:
    """The path of the history of typed messages, in the user's folder for state.

    Raises:
        FileNotFoundError: the user has no such folder.
    """
    return state_folder() / "chat_history"
