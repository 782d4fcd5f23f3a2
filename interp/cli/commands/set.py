"""``gram set``: change the value at a path, and no other byte."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import click

from gram import GramDecodeError, Pattern, from_json
from gram.json import Json
from lenses_ext import PathError, Project, change_places, find_places
from lenses_ext.places import (
    Kind,
    holds,
    new_property,
    read_condition,
    read_path,
    write_path,
)

from ...errors import ValidationError
from ...json_text import read_json
from ..each_file import Nowhere
from ..edits import Destination, deliver, edit_options, places_in, read_value
from ..inputs.program_files import STDIN, are_many
from ..inputs.reading import read_word_beside
from .get import value_as_json, written


@click.command("set")
@click.option(
    "--where",
    metavar="CONDITION",
    help="Only where this holds, as in 'model = \"OpenAI/x\" and temperature != 0'.",
)
@click.option(
    "--from",
    "source",
    metavar="FILE|-",
    help="Take paths and values from the output of gram get --json.",
)
@edit_options("PATH VALUE", many_with=["source"])
def command(
    *words: str,
    files: list[str],
    destination: Destination,
    where: str | None,
    source: str | None,
) -> None:
    """Set the value at PATH in FILES to VALUE, and print the new text.

    The files come first or last: gram set a.gram PATH VALUE, or gram set PATH VALUE agents/. They
    are files, folders and globs. What the file imports is set in the file that defines it.

    A string is taken literally, any other value is read in gram notation. @FILE takes the value
    from a file, - from standard input. The change is refused if the program would become invalid.
    A path with * sets all matching values of a file, or none of them if one change is refused.

    --where takes the places beside which a condition holds: PATH = VALUE and PATH != VALUE, joined
    by and and or, whose paths begin where the value is.

    gram get --json '*.model' agents/ | gram set -i --from - agents/ sets what was changed between
    the two.
    """
    if source is not None:
        _set_from(source, [*files, *words], destination)
        return
    path, value = words
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


def _set_from(source: str, files: list[str], destination: Destination) -> None:
    """Set the values of the paths in JSON; of several files, an object for each of them."""
    said = read_word_beside(source if source == STDIN else f"@{source}", files)
    try:
        data = read_json(said)
    except ValueError as error:
        raise ValidationError(f"--from: not JSON: {error}") from None
    several = are_many(files)

    def edit(program: Project, own: bool) -> tuple[Pattern, ...]:
        values = data.get(program.filename) if several and isinstance(data, dict) else data
        if values is None:
            raise Nowhere(f"{program.filename}: the JSON has nothing for this file")
        if not isinstance(values, dict):
            hint = "an object from path to value, of several files one for each file"
            raise ValidationError(f"--from: expected what gram get --json prints: {hint}")
        changes = [
            (place, partial(_of_json, value))
            for path, value in values.items()
            for place in places_in(program, path, own=own)
            if value_as_json(written(place.get(program.patterns))) != value
        ]
        return change_places(program.patterns, changes)

    deliver(files, edit, destination)


def _of_json(value: Json, old: object) -> Any:
    if isinstance(old, Pattern) or (isinstance(old, tuple) and isinstance(value, list)):
        with suppress(GramDecodeError):
            return from_json(value)
    subject = {"identity": "", "labels": [], "properties": {"value": value}}
    return from_json({"subject": subject, "elements": []}).value.properties["value"]


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
