"""Reads the inputs of commands: gram files, standard input, and words that name files."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from gram import Document, Pattern
from gram.documents import decode
from lenses_ext import Project, load_project, parse_program

from ...errors import ValidationError
from ...json_text import read_json
from ...machine import tools_from_json
from ...programs import the_tools
from ...tools import split_name
from ..terminal.output import note
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


def read_tool_specs(
    name: str, agent: str | None = None, *, to_bind: bool = False
) -> tuple[Pattern, ...]:
    """The specifications of the tools in a program, a Python file or a JSON list of tools.

    What a JSON list says and a specification has no place for is told as a note. With ``to_bind``
    the tools of agents inside a program are among them, see `the_tools`.

    Raises:
        OSError: the file cannot be read.
        GramError: the file is not what its name says, or a tool in it is not valid.
    """
    if name.endswith(".py") or split_name(name)[1]:
        from ... import tool_spec_from_function  # imported late: most tools are in programs
        from .libraries import read_libraries

        library = read_libraries([name])
        return tuple(tool_spec_from_function(library[tool]) for tool in library)
    if not name.endswith(".json"):
        return tuple(the_tools(read_program(name), agent, to_bind=to_bind))
    text, shown = read_text(name)
    try:
        return tools_from_json(read_json(text), tell=lambda said: note(f"{shown}: {said}"))
    except ValidationError as error:
        raise ValidationError(f"{shown}: {error}") from None
    except ValueError as error:
        raise ValidationError(f"{shown}: not JSON: {error}") from None
