"""Prints results on standard output or to a file, and all else on standard error; asks people.

Text may come from models, tools, servers and files. On a terminal, characters that could move the
cursor, hide text or reverse it are shown as escapes such as ``\\x1b``. Files and pipes get the
text unchanged.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias, Union

import click

from gram import GramError, write_atomically
from gram.display import visible
from gram.documents import decode, resolved

if TYPE_CHECKING:
    from gram.json import Json


_loudness = 0


def set_loudness(loudness: int) -> None:
    """Choose what is told: -1 warnings and errors alone, 0 notes too, 1 details too."""
    global _loudness
    _loudness = loudness


Styled: TypeAlias = Union[str, Sequence[tuple[str, str]]]
"""A text, or its parts, each with the name of a style (see `STYLES`) or ``""``."""

STYLES: Mapping[str, Mapping[str, Any]] = {
    "place": {"bold": True},
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow", "bold": True},
    "info": {"fg": "cyan", "bold": True},
    "caret": {"fg": "red"},
    "hint": {"fg": "cyan"},
    "removed": {"fg": "red"},
    "added": {"fg": "green"},
    "hunk": {"fg": "cyan"},
    "failed": {"fg": "red"},
    "refused": {"fg": "yellow"},
    "reasoning": {"dim": True},
}


def show(text: Styled, *, nl: bool = True, err: bool = False) -> None:
    """Print the result of a command, on standard output."""
    global _is_within_line
    stream: TextIO | None = sys.stderr if err else sys.stdout
    if stream is None:
        return
    is_escaped, is_coloured = stream.isatty(), has_colours(stream)
    shown = ""
    for part, style in [(text, "")] if isinstance(text, str) else text:
        escaped = visible(part) if is_escaped else part
        shown += click.style(escaped, **STYLES[style]) if is_coloured and style else escaped
    if is_escaped:
        if err and _is_within_line:
            shown = f"\n{shown}"
        _is_within_line = not (err or nl or shown.endswith("\n"))
    try:
        click.echo(without_surrogates(shown), nl=nl, err=err, color=True)  # else pipes lose escapes
    except OSError as failure:
        failure.filename = failure.filename or ("standard error" if err else "standard output")
        raise


def unstyled(text: Styled) -> str:
    """A text without its styles."""
    return text if isinstance(text, str) else "".join(part for part, _ in text)


def is_within_line() -> bool:
    """Whether a line has begun on a terminal's standard output; a note would end it."""
    return _is_within_line


_is_within_line = False


def has_colours(stream: TextIO) -> bool:
    """Whether to print colours: at a terminal, unless NO_COLOR is set; FORCE_COLOR wants them."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def tell(text: Styled) -> None:
    """Print a warning, a question or an error on standard error, without keys.

    Where standard error cannot be written, nobody can be told, and the command goes on.
    """
    from ...secrets import without_keys  # imported late: commands that go well tell nothing

    parts = [(text, "")] if isinstance(text, str) else text
    with suppress(OSError):
        show([(without_keys(part), style) for part, style in parts], err=True)


def is_quiet() -> bool:
    """Whether the user asked for results, warnings and errors alone with ``-q``."""
    return _loudness < 0


def is_verbose() -> bool:
    """Whether the user asked for details with ``-v``."""
    return _loudness > 0


def note(text: Styled) -> None:
    """Print what happened on standard error, unless the user asked for quiet with ``-q``."""
    if _loudness >= 0:
        tell(text)


def detail(text: Styled) -> None:
    """Print on standard error what only a user who asked for it with ``-v`` wants to know."""
    if _loudness > 0:
        tell(text)


_DIFF_STYLES = {"---": "place", "+++": "place", "@@": "hunk", "-": "removed", "+": "added"}


def show_diff(before: str, after: str, name: str) -> None:
    """Print the unified diff between two texts of a file."""
    from difflib import unified_diff  # imported late: most commands show no difference

    old, new = (io.StringIO(text, newline="\n").readlines() for text in (before, after))
    for line in unified_diff(old, new, name, f"{name} (new)"):
        style = next((style for mark, style in _DIFF_STYLES.items() if line.startswith(mark)), "")
        show([(line, style)], nl=False)
        if not line.endswith("\n"):
            show("\n\\ No newline at end of file")


def show_json(value: Json, *, indent: int | None = 2) -> None:
    """Print a value as JSON on standard output; without an indent on one line."""
    show(json.dumps(value, ensure_ascii=False, indent=indent))


def show_result(as_json: bool, value: Json, lines: Iterable[Styled]) -> None:
    """Print the result of a command: with ``--json`` a value, else lines of text."""
    if as_json:
        show_json(value)
    else:
        for line in lines:
            show(line)


def without_surrogates(text: str) -> str:
    """Replace the lone surrogates in a text, which cannot be encoded, with question marks."""
    return text.encode(errors="replace").decode()


def forbid(is_so: object, why: str) -> None:
    """Refuse a wrong use of a command."""
    if is_so:
        raise click.UsageError(why)


def expect_other_file(out: str | None, *read: str) -> None:
    """Check, before anything is done, that a result is not written over what it is made of.

    No other argument of the command may name the file, whatever it is for: ``a.py``,
    ``a.py:tools``, ``arm:a.py`` and ``arm=a.gram`` name one.
    """
    if out is None or out == "-":
        return
    path = resolved(Path(out))
    values = click.get_current_context().params.values()
    given = chain.from_iterable(each if isinstance(each, tuple) else (each,) for each in values)
    texts = (each for each in (*given, *read) if isinstance(each, str))
    names = (each for text in texts for each in {text, *re.split("[=:#]", text)})
    is_read = sum(_is_at(path, each) for each in names) > 1  # one of them is the result
    forbid(is_read, f"{out} is read, and would be overwritten: name another file")


def _is_at(path: Path, name: str) -> bool:
    try:
        return resolved(Path(name)) == path
    except (GramError, OSError):  # it is another value, and no name
        return False


def write_result(out: str, text: str, *, private: bool = False) -> None:
    """Write a result to a file; ``-`` is standard output."""
    if out == "-":
        show(text, nl=False)
    else:
        write_atomically(Path(out), text, private=private)


def expect_a_name(file: str | None, option: str) -> None:
    """Refuse an empty value of an option, as where a variable of a script is not set."""
    forbid(file == "", f"{option} is empty: name a file, or leave the option out")


def expect_a_file(out: str | None, option: str) -> None:
    """Check that a result which cannot go to standard output is not sent there."""
    expect_a_name(out, option)
    forbid(out == "-", f"{option} needs the name of a file, and - is standard output")


class NoTerminal(Exception):  # noqa: N818  # it is no error
    """There is no terminal to ask at."""


def ask_user(question: str) -> str:
    """Ask a question and return the line that the user types.

    Raises:
        NoTerminal: standard input or standard error is no terminal.
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


def next_line() -> str | None:
    """The next line of standard input that is no terminal, or None at the end."""
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
