"""Messages typed at a terminal, edited with ``prompt_toolkit``; only this file imports it.

Enter sends. Alt-Enter, or Enter after a backslash, begins another line; pasted lines are one
message. Tab completes commands, Ctrl-X Ctrl-E opens the editor.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress

from prompt_toolkit import PromptSession
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.shortcuts import CompleteStyle

from .console import state_folder


def typed_lines(completed: list[str]) -> Callable[[], str | None]:
    """What reads the messages typed at a terminal; each is kept in the user's history at once.

    Tab completes the lines that are given. It gives the next message, None after Ctrl-D, and an
    empty one after Ctrl-C.
    """
    is_shown = sys.stderr is not None and sys.stderr.isatty()
    output = create_output(sys.stderr if is_shown else sys.stdout)
    if isinstance(output, Vt100_Output):
        # The place of the cursor is not asked for: terminals that never answer get a warning.
        output.enable_cpr = False
    with create_app_session(output=output):
        session: PromptSession[str] = PromptSession(
            multiline=True,
            prompt_continuation="… ",
            history=_history(),
            completer=WordCompleter(completed, ignore_case=True, sentence=True),
            complete_while_typing=False,
            complete_style=CompleteStyle.READLINE_LIKE,
            key_bindings=_keys(),
            enable_open_in_editor=True,
            enable_suspend=True,
        )

    def next_line() -> str | None:
        try:
            with create_app_session(output=output):
                return session.prompt("> ")
        except EOFError:
            return None
        except KeyboardInterrupt:
            return ""

    return next_line


class _KeptHistory(FileHistory):
    """The history in a file, which is not important enough to fail."""

    def store_string(self, string: str) -> None:
        with suppress(OSError):
            super().store_string(string)


def _history() -> History:
    """The user's history, in a file that only the user can read."""
    with suppress(OSError):
        path = state_folder() / "chat_history"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.open("rb").close()
        return _KeptHistory(path)
    return InMemoryHistory()


def _keys() -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.document.is_cursor_at_the_end and buffer.text.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        else:
            buffer.validate_and_handle()

    @bindings.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    return bindings
