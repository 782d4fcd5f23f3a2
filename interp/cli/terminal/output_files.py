"""Files that a command is told to write its result to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from gram import GramError, write_atomically
from gram.documents import holding, resolved

from .output import show


def expect_other_file(out: str | None, *read: str) -> None:
    """Check, before anything is done, that a result is not written over what it is made of.

    No other argument of the command may name the file, whatever it is for: ``a.py``,
    ``a.py:tools``, ``arm:a.py`` and ``arm=a.gram`` name one.

    Args:
        out: the file to write, the value of an argument of the command, or None.
        read: other files that are read.

    Raises:
        click.UsageError: it is one of them.
    """
    if out is None or out == "-":
        return
    path = resolved(Path(out))
    named = [each for each in _names(click.get_current_context().params) if _is_at(path, each)]
    if len(named) > 1 or any(_is_at(path, each) for each in read):  # one of them is the result
        raise click.UsageError(f"{out} is read, and would be overwritten: name another file")


def _names(value: object) -> Iterator[str]:
    """What may be the names of files in the values of arguments."""
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, tuple):
        for each in value:
            yield from _names(each)
    elif isinstance(value, str):
        yield value
        for mark in "=:#":
            yield from value.split(mark) if mark in value else ()


def _is_at(path: Path, name: str) -> bool:
    """Whether a name leads to a path."""
    try:
        return resolved(Path(name)) == path
    except (GramError, OSError):  # it is another value, and no name
        return False


def expect_writable(out: str) -> None:
    """Check, before much is done, that a result can be written to a file.

    Raises:
        OSError: it cannot.
    """
    with holding(Path(out)) as file:
        file.check_writable()


def write_result(out: str, text: str, *, private: bool = False) -> None:
    """Write a result to a file; ``-`` is standard output.

    Raises:
        OSError: the file cannot be written; what was in it is whole.
    """
    if out == "-":
        show(text, nl=False)
    else:
        write_atomically(Path(out), text, private=private)


def expect_a_name(file: str | None, option: str) -> None:
    """Check that the value of an option is not empty, as where a variable of a script is not set.

    Raises:
        click.UsageError: it is.
    """
    if file == "":
        raise click.UsageError(f"{option} is empty: name a file, or leave the option out")


def expect_a_file(out: str | None, option: str) -> None:
    """Check that a result which cannot go to standard output is not sent there.

    Raises:
        click.UsageError: it is, or the name is empty.
    """
    expect_a_name(out, option)
    if out == "-":
        raise click.UsageError(f"{option} needs the name of a file, and - is standard output")
