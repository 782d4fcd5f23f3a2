"""Lines that a user types, with editing and a history, or that come through a pipe."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Protocol

import click

from gram.files import decode, write_atomically

from ..redaction import redact
from ..user_folders import user_folder

PROMPT = "> "
_MOST_LINES = 1000


class Lines(Protocol):
    """Where lines come from."""

    is_typed: bool

    def next(self) -> str | None:
        """The next line, or None at the end."""
        ...


class PipedLines:
    """Lines of standard input when nobody types there; nothing is asked for."""

    is_typed = False

    def next(self) -> str | None:
        """The next line, or None at the end.

        Raises:
            GramDecodeError: it is not UTF-8.
        """
        line = sys.stdin.buffer.readline() if sys.stdin else b""
        return decode(line, "<stdin>").rstrip("\r\n") if line else None


class TypedLines:
    """Lines typed at a terminal, edited with ``readline`` where Python has it.

    Leaving the context keeps the history for the next time, without keys.
    """

    is_typed = True

    def __init__(self) -> None:
        self._readline = _readline()

    def __enter__(self) -> TypedLines:
        if self._readline is not None:
            with suppress(OSError):  # there is no history yet, or none that can be read
                # Line by line: GNU readline and libedit have files of their own kinds.
                for line in history_path().read_text("utf-8", "replace").splitlines():
                    self._readline.add_history(line)
        return self

    def __exit__(self, *_: object) -> None:
        if self._readline is not None:
            with suppress(OSError):  # a history that cannot be kept is no reason to fail
                _keep_history(self._readline)

    def next(self) -> str | None:
        """The next line; None after Ctrl-D, and an empty line after Ctrl-C."""
        try:
            return self._line()
        except EOFError:
            click.echo(err=True)
            return None
        except KeyboardInterrupt:
            click.echo(err=True)
            return ""

    def _line(self) -> str:
        if sys.stdout.isatty():
            return input(PROMPT)
        # Python would write the prompt among the answers.
        click.echo(PROMPT, nl=False, err=True)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line


def history_path() -> Path:
    """Where the history of what was typed is kept: in the user's folder for state.

    Raises:
        FileNotFoundError: the user has none.
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
    path.touch(mode=0o600)
    write_atomically(path, "".join(f"{redact(line)}\n" for line in lines if line))
