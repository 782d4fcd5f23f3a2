"""Reads messages from a terminal, with editing and a history, or line by line from a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gram import write_atomically
from gram.documents import decode

from ...models.providers import user_folder

if TYPE_CHECKING:
    from .prompting import Prompt

PROMPT = "> "
_MOST_ENTRIES = 1000
_LINE_BREAK = "␤"
"""What stands for a line break within a message in the history, which has a line for each."""


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


class TypedLines:
    """Messages typed at a terminal; see `interp.cli.prompting` for the keys.

    At the end of the context the history is saved for the next time, without keys.

    Args:
        completions: what Tab offers for what was typed, as whole lines.
    """

    is_typed = True

    def __init__(self, completions: Callable[[str], Iterable[str]]) -> None:
        self._completions = completions
        self._prompt: Prompt | None = None

    def __enter__(self) -> TypedLines:
        return self

    def __exit__(self, *_: object) -> None:
        if self._prompt is not None:
            with suppress(OSError):  # the history is not important enough to fail
                _keep_history(self._prompt.entries())

    def next(self) -> str | None:
        """The next message; None after Ctrl-D, and an empty one after Ctrl-C."""
        try:
            if self._prompt is None:
                from .prompting import Prompt  # imported late: it takes a moment

                is_shown = sys.stderr is not None and sys.stderr.isatty()
                terminal = sys.stderr if is_shown else sys.stdout
                self._prompt = Prompt(terminal, _history(), self._completions)
            return self._prompt.ask(PROMPT)
        except EOFError:
            return None
        except KeyboardInterrupt:
            return ""


def state_folder() -> Path:
    """The user's folder for what commands keep.

    Raises:
        FileNotFoundError: the user has no such folder.
    """
    return user_folder("XDG_STATE_HOME", "~/.local/state")


def history_path() -> Path:
    """The path of the history of typed messages, in the user's folder for state.

    Raises:
        FileNotFoundError: the user has no such folder.
    """
    return state_folder() / "chat_history"


def _history() -> list[str]:
    with suppress(OSError):  # the history does not exist or cannot be read
        lines = history_path().read_text("utf-8", "replace").split("\n")
        return [line.replace(_LINE_BREAK, "\n") for line in lines if line]
    return []


def _keep_history(entries: list[str]) -> None:
    """Write the last messages to a file that only the user can read."""
    lines = [each.replace("\n", _LINE_BREAK) for each in entries[-_MOST_ENTRIES:] if each]
    path = history_path()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomically(path, "".join(f"{line}\n" for line in lines), private=True)
