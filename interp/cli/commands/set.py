"""``gram set``: change the value at a path, and no other byte."""

from __future__ import annotations

from functools import partial

import click

from gram import Pattern
from lenses_ext import PathError, Project, change_places, find_places
from lenses_ext.places import (
    Kind,
    holds,
    new_property,
    read_condition,
    read_path,
    write_path,
)

from ..each_file import Nowhere
from ..edits import Destination, deliver, edit_options, places_in, read_value
from ..inputs.reading import read_word_beside


@click.command("set")
@click.option(
    "--where",
    metavar="CONDITION",
    help="Only where this holds, as in 'model = \"OpenAI/x\" and temperature != 0'.",
)
@edit_options("PATH VALUE")
def command(
    path: str, value: str, files: list[str], destination: Destination, where: str | None
) -> None:
    """Set the value at PATH in FILES to VALUE, and print the new text.

    The files come first or last: gram set a.gram PATH VALUE, or gram set PATH VALUE agents/. They
    are files, folders and globs. What the file imports is set in the file that defines it.

    A string is taken literally, any other value is read in gram notation. @FILE takes the value
    from a file, - from standard input. The change is refused if the program would become invalid.
    A path with * sets all matching values of a file, or none of them if one change is refused.

    --where takes the places beside which a condition holds: PATH = VALUE and PATH != VALUE, joined
    by and and or, whose paths begin where the value is.
    """
    new = read_word_beside(value, files)
    try:
        condition = read_condition(where) if where is not None else None
    except PathError as error:
        raise click.UsageError(f"--where: {error}") from None

    def edit(program: Project, own: bool) -> tuple[Pattern, ...]:
        try:
            places = places_in(program, path, own=own)
        except Nowhere as nowhere:
            raise Nowhere(str(nowhere) + _hint(program, path)) from None
        if condition is not None:
            places = tuple(each for each in places if holds(condition, program, each))
            if not places:
                raise Nowhere(f"{program.filename}: at no `{path}` does {where} hold")
        return change_places(
            program.patterns, [(place, partial(read_value, new)) for place in places]
        )

    deliver(files, edit, destination)


def _hint(program: Project, path: str) -> str:
    """A hint if `gram add` could add what is not there to a map, such as the settings."""
    try:
        *above, last = read_path(path)
        places = find_places(program, write_path(above))
        if places[0].kind is Kind.PROPERTY:
            new_property(program, places[0], last)
            return "\n  hint: gram add adds it"
    except PathError:
        pass
    return ""
