"""Files that a command is told to write its result to."""

from __future__ import annotations

from pathlib import Path

import click

from gram import resolved, write_atomically

from .output import show


def expect_other_file(out: str | None, *read: str) -> None:
    """Check, before anything is done, that a result is not written over what it is made of.

    Args:
        out: the file to write, or None.
        read: the files that are read.

    Raises:
        click.UsageError: it is one of them.
    """
    if out is not None and any(resolved(Path(each)) == resolved(Path(out)) for each in read):
        raise click.UsageError(f"{out} is read, and would be overwritten: name another file")


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
