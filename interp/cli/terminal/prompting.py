"""Messages typed at a terminal, edited with ``prompt_toolkit``; only this file imports it.

Enter sends. Alt-Enter, or Enter after a backslash, begins another line; pasted lines are one
message. Tab completes commands, Ctrl-X Ctrl-E opens the editor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.shortcuts import CompleteStyle

Completions = Callable[[str], Iterable[str]]
"""Gives whole lines that begin with what was typed."""


class Prompt:
    """Asks for messages.

    Args:
        terminal: where the prompt is shown.
        entries: what was typed before, the oldest first.
        completions: what Tab offers.
    """

    def __init__(self, terminal: TextIO, entries: Iterable[str], completions: Completions) -> None:
        self._output = _output(terminal)
        with create_app_session(output=self._output):
            self._session: PromptSession[str] = PromptSession(
                multiline=True,
                prompt_continuation="… ",
                history=InMemoryHistory(list(entries)),
                completer=_Lines(completions),
                complete_while_typing=False,
                complete_style=CompleteStyle.READLINE_LIKE,
                key_bindings=_keys(),
                enable_open_in_editor=True,
                enable_suspend=True,
            )

    def ask(self, prompt: str) -> str:
        """The next message.

        Raises:
            EOFError: Ctrl-D.
            KeyboardInterrupt: Ctrl-C.
        """
        with create_app_session(output=self._output):
            return self._session.prompt(prompt)

    def entries(self) -> list[str]:
        """What was typed, the oldest first."""
        return self._session.history.get_strings()


class _Lines(Completer):
    def __init__(self, completions: Completions) -> None:
        self._completions = completions

    def get_completions(self, document: Document, _: CompleteEvent) -> Iterator[Completion]:
        typed = document.text
        if document.is_cursor_at_the_end:
            for line in self._completions(typed):
                yield Completion(line, -len(typed))


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


def _output(terminal: TextIO) -> Output:
    output = create_output(terminal)
    if isinstance(output, Vt100_Output):
        # The place of the cursor is not asked for: terminals that never answer get a warning.
        output.enable_cpr = False
    return output
