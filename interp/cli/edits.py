"""What the editing commands share: values as they are typed, and where the new text goes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from gram import Document, GramDecodeError, Pattern, Symbol, Value, loads, parse
from gram.faults import errors
from gram.files import write_atomically
from lenses_ext import FocusError, Model, ReadOnlyError
from lenses_ext.paths import PathError
from lenses_ext.places import Place, completions, find_places

from ..program_checks import check_program
from .diffs import show_diff
from .failures import NO
from .inputs import STDIN, read_document
from .terminal import tell

_Command = TypeVar("_Command", bound=Callable[..., Any])


def complete_path(context: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """The paths that go on from what is typed, in the file that was named before."""
    try:
        return completions(read_document(context.params["file"]).patterns, begun)
    except (GramDecodeError, OSError, KeyError, TypeError):
        return []  # there is nothing to complete from


def places_in(document: Document, path: str) -> tuple[Place, ...]:
    """The places a path leads to; where there are none, says so and ends the command with 1."""
    try:
        return find_places(document.patterns, path)
    except PathError as error:
        tell(f"{document.filename}: {error}")
        sys.exit(NO)


def destination_options(command: _Command) -> _Command:
    """The options of a command that edits: where the text goes, and whether it may be invalid."""
    for option in (
        click.option("--force", is_flag=True, help="Also when gram check then finds new errors."),
        click.option("--diff", is_flag=True, help="Print what would change; write nothing."),
        click.option("-i", "--in-place", is_flag=True, help="Write the file, atomically."),
    ):
        command = option(command)
    return command


@contextmanager
def refusing() -> Iterator[None]:
    """A value that cannot stand where it is put ends the command with 1."""
    try:
        yield
    except (FocusError, ReadOnlyError) as error:
        tell(f"refused: {error}")
        sys.exit(NO)


def deliver(
    document: Document,
    patterns: Sequence[Pattern],
    *,
    in_place: bool,
    diff: bool,
    force: bool,
) -> None:
    """Put the edited text where it was asked for, unless the edit makes the program invalid."""
    edited = document.replace(patterns)
    if not force:
        _refuse_new_errors(document, edited)
    name = document.filename or STDIN
    if diff:
        show_diff(document.text, edited.text, name)
    elif not in_place:
        click.echo(edited.text, nl=False)
    elif edited.text != document.text:
        if name == "<stdin>":
            raise click.UsageError("standard input cannot be written in place")
        write_atomically(Path(name), edited.text)


def _refuse_new_errors(document: Document, edited: Document) -> None:
    known = {(fault.code, fault.message) for fault in errors(check_program(document))}
    new = [
        fault for fault in errors(check_program(edited)) if (fault.code, fault.message) not in known
    ]
    if new:
        tell("refused, since the program would be invalid (--force does it):")
        for fault in new:
            tell(f"  {fault.code} {fault.message}")
        sys.exit(NO)


def read_value(text: str, old: object) -> Any:
    """A value as it was typed: for a string and the like as it stands, else in gram notation.

    Args:
        text: what was typed.
        old: what stands there now, or None.

    Raises:
        GramDecodeError: it is not what has to stand there in gram notation.
    """
    if isinstance(old, str):
        return text
    if isinstance(old, Model):
        return text
    if isinstance(old, Pattern):
        return read_pattern(text)
    return _gram_value(text)


def read_pattern(text: str) -> Pattern:
    """One pattern in gram notation.

    Raises:
        GramDecodeError: it is not gram, or not one pattern.
    """
    found = loads(text)
    if len(found) != 1:
        raise GramDecodeError(f"expected one pattern, found {len(found)}", text, 0)
    return found[0]


def _gram_value(text: str) -> Value:
    """A value in gram notation; a bare word or what is no value at all is a string."""
    try:
        document = parse(f"{{value: {text}\n}}")
    except GramDecodeError:
        return text
    span = document.spans([0]).values["value"]
    if len(document.patterns) > 1 or document.text[slice(*span)] != text.strip():
        return text  # it says more than a value
    value = document.patterns[0].value.properties["value"]
    return value if not isinstance(value, Symbol) else text
