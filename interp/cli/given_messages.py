"""The messages of ``gram run``: what was typed, what is in files, what comes through a pipe."""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from ..json_text import read_json
from ..machine import Given
from .inputs import read_text, read_word, read_word_beside
from .output import note
from .program_files import STDIN

_SECONDS_OF_SILENCE = 2.0


def said_to(
    file: str, words: Sequence[str], given: str | None, *, reads_stdin: bool
) -> Sequence[Given]:
    """What an agent is called with: messages, or the JSON of ``--input``.

    Raises:
        click.UsageError: as for `given_messages`, or the input is no JSON object or text.
        OSError, GramDecodeError: a file cannot be read.
    """
    if given is None:
        return given_messages(file, words, reads_stdin=reads_stdin)
    if words:
        raise click.UsageError("--input and messages are two ways to say one thing")
    try:
        value = read_json(read_word_beside(given, [file]))
    except ValueError as error:
        raise click.UsageError(f"--input is not JSON: {error}") from None
    if not isinstance(value, dict | str):
        raise click.UsageError("--input is a JSON object of the arguments, or a text")
    return [value]


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
        click.UsageError: there is no message, one is empty, standard input is wanted twice, or the
            program is written after a message.
        OSError, GramDecodeError: a file cannot be read.
    """
    _expect_program_first(file, words)
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


def _expect_program_first(file: str, words: Sequence[str]) -> None:
    if file == STDIN or Path(file).exists():
        return
    for word in words:
        if word.endswith(".gram") and Path(word).exists():
            raise click.UsageError(f"there is no file {file!r}: write the program first: {word}")


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
