"""Shared code of the editing commands: reading values, and delivering the new text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import click

from gram import (
    Document,
    GramDecodeError,
    Pattern,
    Symbol,
    Value,
    loads,
    parse as parse_gram,
)
from lenses_ext import (
    FocusError,
    Model,
    PathError,
    Place,
    ReadOnlyError,
    completions,
    find_places,
    new_errors,
    parse,
)

from .diffs import show_diff
from .failures import NO
from .inputs import STDIN, read_document, read_text
from .output import show, tell
from .rewriting import rewrite

_Command = TypeVar("_Command", bound=Callable[..., Any])

Edit: TypeAlias = Callable[[Document], Sequence[Pattern]]
"""Makes the new patterns of a document."""


def complete_path(context: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """Shell completion: the paths in the file that begin with the typed text."""
    try:
        return completions(read_document(context.params["file"]).patterns, begun)
    except (GramDecodeError, OSError, KeyError, TypeError):
        return []  # there is nothing to complete from


def places_in(document: Document, path: str) -> tuple[Place, ...]:
    """The places that a path matches; if there are none, report it and exit with 1."""
    try:
        return find_places(document.patterns, path)
    except PathError as error:
        tell(f"{document.filename}: {error}")
        sys.exit(NO)


def destination_options(command: _Command) -> _Command:
    """Decorate an editing command with the options ``--in-place``, ``--diff`` and ``--force``."""
    for option in (
        click.option(
            "--force", is_flag=True, help="Edit even if gram check then finds new errors."
        ),
        click.option("--diff", is_flag=True, help="Print what would change; write nothing."),
        click.option("-i", "--in-place", is_flag=True, help="Write the file, atomically."),
    ):
        command = option(command)
    return command


def deliver(file: str, edit: Edit, *, in_place: bool, diff: bool, force: bool) -> None:
    """Edit a file, and print the new text, print a diff or write the file.

    The command exits with 1 if the edit is refused or makes the program invalid. For writing in
    place, the file is locked, read again and edited.

    Args:
        file: the name of the file; ``-`` is standard input.
        edit: makes the new patterns of the document.
        in_place: write the file.
        diff: print what would change, and write nothing.
        force: do not check whether the program becomes invalid.
    """

    def change(text: str, name: str) -> str:
        document = parse(text, name)
        try:
            edited = document.replace(edit(document))
        except (FocusError, ReadOnlyError) as error:
            tell(f"refused: {error}")
            sys.exit(NO)
        if not force:
            _refuse_new_errors(document, edited)
        return edited.text

    if in_place and not diff:
        if file == STDIN:
            raise click.UsageError("standard input cannot be written in place")
        rewrite(file, change)
        return
    text, name = read_text(file)
    new = change(text, name)
    if diff:
        show_diff(text, new, name)
    else:
        show(new, nl=False)


def _refuse_new_errors(document: Document, edited: Document) -> None:
    new = new_errors(document, edited)
    if new:
        tell("refused because the program would be invalid (use --force to do it anyway):")
        for fault in new:
            tell(f"  {fault.code} {fault.message}")
        sys.exit(NO)


def read_value(text: str, old: object) -> Any:
    """Read a value from the command line: a plain string, or any other value in gram notation.

    Args:
        text: the text of the argument.
        old: the value that it replaces, or None. If it is a string or a model, the text is taken
            literally.

    Raises:
        GramDecodeError: a pattern is replaced, and the text is not a pattern.
    """
    if isinstance(old, str | Model):
        return text
    if isinstance(old, Pattern):
        return read_pattern(text)
    value = _gram_value(text)
    if isinstance(old, tuple) and value == text:
        return _patterns(text)
    return value


def read_pattern(text: str) -> Pattern:
    """Read one pattern in gram notation.

    Raises:
        GramDecodeError: the text is not gram, or not exactly one pattern.
    """
    found = loads(text)
    if len(found) != 1:
        raise GramDecodeError(f"expected one pattern, found {len(found)}", text, 0)
    return found[0]


def _patterns(text: str) -> tuple[Pattern, ...] | str:
    """Read patterns in gram notation; a text that is empty or not gram is returned unchanged."""
    try:
        return loads(text) or text
    except GramDecodeError:
        return text


def _gram_value(text: str) -> Value:
    """Read a value in gram notation; a bare word, or a text that is no value, is a string."""
    try:
        document = parse_gram(f"{{value: {text}\n}}")
    except GramDecodeError:
        return text
    span = document.spans([0]).values["value"]
    if len(document.patterns) > 1 or document.text[slice(*span)] != text.strip():
        return text  # it is more than one value
    value = document.patterns[0].value.properties["value"]
    return value if not isinstance(value, Symbol) else text
