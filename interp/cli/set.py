"""``gram set``: change the value at a path, and no other byte."""

from __future__ import annotations

from functools import partial

import click

from gram import Document, Pattern
from lenses_ext import change_places

from .edits import complete_path, deliver, destination_options, places_in, read_value


@click.command("set")
@click.argument("file")
@click.argument("path", shell_complete=complete_path)
@click.argument("value")
@destination_options
def command(file: str, path: str, value: str, in_place: bool, diff: bool, force: bool) -> None:
    """Set the value at PATH in FILE to VALUE, and print the new text.

    A string is taken literally, any other value is read in gram notation. The change is refused if
    the program would become invalid. A path with * sets all matching values, or none of them if one
    change is refused.
    """

    def edit(document: Document) -> tuple[Pattern, ...]:
        places = places_in(document, path)
        return change_places(
            document.patterns, [(place, partial(read_value, value)) for place in places]
        )

    deliver(file, edit, in_place=in_place, diff=diff, force=force)
