"""Reads the inputs of commands: gram files, standard input, and words that name files."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from gram import Document
from gram.documents import decode
from lenses_ext import Project, load_project, parse_program

from .program_files import STDIN


def read_text(name: str, stdin_filename: str | None = None) -> tuple[str, str]:
    """Read the text of a file, and its name for messages; ``-`` is standard input.

    Args:
        name: the name of the file.
        stdin_filename: what to call standard input in messages.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: the file is not UTF-8.
    """
    if name == STDIN:
        if sys.stdin is None:
            raise OSError(errno.EBADF, "standard input is closed")
        name = stdin_filename or "<stdin>"
        return decode(sys.stdin.buffer.read(), name), name
    return decode(Path(name).read_bytes(), name), name


def read_document(name: str) -> Document:
    """Read the document in a file; ``-`` is standard input.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: the file is not gram.
    """
    return parse_program(*read_text(name))


def read_program(name: str, *, alone: bool = False) -> Project:
    """Read the program in a file with what it imports; ``-`` is standard input, by itself.

    Args:
        name: the name of the file.
        alone: take the file by itself, too.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: the file is not gram.
    """
    document = read_document(name)
    if alone or name == STDIN:
        return Project.of(document)
    return load_project(name, {Path(name): document})


def read_word(word: str) -> str:
    """The text that an argument stands for: ``@FILE`` and ``-`` are read, one line break less.

    A text that begins with ``@`` itself is written with two of them.

    Raises:
        OSError: the file cannot be read.
        GramDecodeError: the file is not UTF-8.

    >>> read_word("@@alice, hello"), read_word("plain")
    ('@alice, hello', 'plain')
    """
    if word == STDIN or (word.startswith("@") and not word.startswith("@@")):
        name = word.removeprefix("@")
        try:
            text, _ = read_text(name)
        except FileNotFoundError as failure:
            reason = f"{failure.strerror}; to begin a text with @, write @@"
            raise FileNotFoundError(failure.errno, reason, name) from None
        return text.removesuffix("\n").removesuffix("\r")
    return word[1:] if word.startswith("@@") else word


def read_word_beside(word: str, files: Iterable[str]) -> str:
    """Read a word with `read_word`; standard input is read once only.

    Raises:
        click.UsageError: standard input is a program already.
    """
    if word == STDIN and STDIN in files:
        raise click.UsageError("standard input cannot be both the program and the value")
    return read_word(word)
