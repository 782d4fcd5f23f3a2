"""Reads lines from a terminal, with editing and a history, or from a pipe."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Protocol

from gram import decode, write_atomically

from ..providers import user_folder
from ..redaction import redact
from .output import show

PROMPT = "> "
_MOST_LINES = 1000


class Lines(Protocol):
    """A source of lines."""

    is_typed: bool

    def next(self) -> str | None:
        """The next line, or None at the end."""
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


class TypedLines:
    """Lines typed at a terminal, edited with ``readline`` if Python has it.

    At the end of the context the history is saved for the next time, without keys.
    """

    is_typed = True

    def __init__(self) -> None:
        self._readline = _readline()

    def __enter__(self) -> TypedLines:
        if self._readline is not None:
            with suppress(OSError):  # the history does not exist or cannot be read
                # Line by line, since GNU readline and libedit have different file formats.
                for line in history_path().read_text("utf-8", "replace").splitlines():
                    self._readline.add_history(line)
        return self

    def __exit__(self, *_: object) -> None:
        if self._readline is not None:
            with suppress(OSError):  # the history is not important enough to fail
                _keep_history(self._readline)

    def next(self) -> str | None:
        """The next line; None after Ctrl-D, and an empty line after Ctrl-C."""
        try:
            return self._line()
        except EOFError:
            show("", err=True)
            return None
        except KeyboardInterrupt:
            show("", err=True)
            return ""

    def _line(self) -> str:
        if sys.stdout.isatty():
            return input(PROMPT)
        # `input` would write the prompt to standard output, among the answers.
        show(PROMPT, nl=False, err=True)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line


def history_path() -> Path:
    """The path of the history of typed lines, in the user's folder for state.

    Raises:
        FileNotFoundError: the user has no such folder.
    """
    return user_folder("XDG_STATE_HOME", "~/.local/state") / "chat_history"


def _readline() -> ModuleType | None:
    try:
        import readline
    except ImportError:
        return None
    readline.clear_history()
    return readline


def _keep_history(readline: ModuleType) -> None:
    """Write the last lines, redacted, to a file that only the user can read."""
    last = readline.get_current_history_length()
    lines = [readline.get_history_item(i) for i in range(max(1, last - _MOST_LINES), last + 1)]
    path = history_path()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomically(path, "".join(f"{redact(line)}\n" for line in lines if line), private=True)
