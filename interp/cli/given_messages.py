"""The messages of ``gram run``: what was typed, what is in files, what comes through a pipe."""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Sequence

import click

from .inputs import read_text, read_word
from .output import note
from .program_files import STDIN

_SECONDS_OF_SILENCE = 2.0


def given_messages(file: str, words: Sequence[str], *, reads_stdin: bool) -> list[str]:
    """The messages that the arguments stand for.

    ``-`` is standard input and ``@FILE`` the text of a file. Otherwise what comes through a pipe or
    from a file on standard input is context: it is put before the first message, or is the message
    if there is none.

    Args:
        file: the argument that names the program.
        words: the arguments that are messages.
        reads_stdin: whether standard input may be context.

    Raises:
        click.UsageError: there is no message, one is empty, or standard input is wanted twice.
        OSError, GramDecodeError: a file cannot be read.
    """
    if [file, *words].count(STDIN) > 1:
        raise click.UsageError("standard input (-) can be read only once")
    messages = [read_word(word) for word in words]
    if reads_stdin and STDIN not in (file, *words) and _is_fed():
        context, _ = read_text(STDIN)
        if context.strip():
            first = [f"{context.rstrip()}\n\n{messages[0]}"] if messages else [context]
            messages = [*first, *messages[1:]]
    if not messages:
        raise click.UsageError("Missing argument 'MESSAGES...': say something to the agent")
    if not all(message.strip() for message in messages):
        raise click.UsageError("a message is empty: say something to the agent")
    return messages


def _is_fed() -> bool:
    """Whether standard input is a pipe or a file, rather than a terminal or nothing."""
    try:
        descriptor = sys.stdin.fileno()
        mode = os.fstat(descriptor).st_mode
    except (AttributeError, OSError, ValueError):  # it is closed, or no real stream
        return False
    if stat.S_ISFIFO(mode):
        ready, _, _ = select.select([descriptor], [], [], _SECONDS_OF_SILENCE)
        if not ready:
            note("waiting for standard input to end; --no-stdin leaves it alone")
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)
