"""The messages of ``gram run``: what was typed, what is in files, what comes through a pipe."""

from __future__ import annotations

import errno
import os
import select
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ...errors import ValidationError
from ...files import MOST_BYTES, File
from ...json_text import read_json
from ...machine import Given
from ..terminal.console import forbid, note
from .declaring import option
from .files import STDIN, read_text, read_word, read_word_beside

_SECONDS_OF_SILENCE = 2.0


attach_option: Any = option(
    "Attach a picture, a document or sound to the first message; may be repeated.", "FILE|ADDRESS|-"
)

input_option: Any = option(
    "Call the agent with this JSON object instead of messages.", "JSON|@FILE|-"
)
"""What an agent is called with that takes no message."""


def said_to(
    file: str,
    words: Sequence[str],
    given: str | None,
    attached: Sequence[str] = (),
    *,
    reads_stdin: bool,
) -> list[Given]:
    """What an agent is called with: messages, or the JSON of ``--input``.

    Of words, ``-`` is standard input and ``@FILE`` the text of a file. Otherwise what comes through
    a pipe or from a file on standard input is context: it is put before the first message, or is
    the message where no other is given.
    """
    forbid(attached and given is not None, "--attach goes with a message, not with --input")
    forbid([file, *words, *attached].count(STDIN) > 1, "standard input (-) can be read only once")
    if given is not None:
        forbid(words, "--input and messages are two ways to say one thing")
        return [_arguments(given, file)]
    for word in words if file != STDIN and not Path(file).exists() else ():
        is_program = word.endswith(".gram") and Path(word).exists()
        forbid(is_program, f"there is no file {file!r}: write the program first: {word}")
    messages = [read_word(word) for word in words]
    if reads_stdin and STDIN not in (file, *words, *attached) and _is_fed():
        context, _ = read_text(STDIN)
        if context.strip():
            said = f"{context.rstrip()}\n\n{messages[0]}" if messages else context
            messages = [said, *messages[1:]]
    forbid(not messages, "Missing argument 'MESSAGES...': say something to the agent")
    forbid(not all(map(str.strip, messages)), "a message is empty: say something to the agent")
    first: Given = [messages[0], *map(attached_file, attached)] if attached else messages[0]
    return [first, *messages[1:]]


def _arguments(given: str, file: str) -> Given:
    try:
        value = read_json(read_word_beside(given, [file]))
    except ValueError as error:
        raise click.UsageError(f"--input is not JSON: {error}") from None
    if not isinstance(value, dict | str):
        raise click.UsageError("--input is a JSON object of the arguments, or a text")
    return value


def attached_file(word: str) -> File:
    """The file that a word names: a path, an address, or ``-`` for standard input."""
    try:
        if word != STDIN:
            return File(word)
        if sys.stdin is None:
            raise OSError(errno.EBADF, "standard input is closed")
        return File(sys.stdin.buffer.read(MOST_BYTES + 1))
    except ValidationError as error:
        raise ValidationError(str(error).partition("\n")[0]) from None  # its hint is for Python


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
