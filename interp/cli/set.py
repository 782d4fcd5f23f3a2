"""``gram set``: change the value at a path, and no other byte."""

from __future__ import annotations

from functools import partial

import click

from gram import Document, Pattern
from lenses_ext import change_places

from .edits import Destination, deliver, edit_options, places_in, read_value
from .inputs import read_word_beside


@click.command("set")
@edit_options("PATH VALUE")
def command(path: str, value: str, files: list[str], destination: Destination) -> None:
    """Set the value at PATH in FILES to VALUE, and print the new text.

    The files come first or last: gram set a.gram PATH VALUE, or gram set PATH VALUE agents/. They
    are files, folders and globs.

    A string is taken literally, any other value is read in gram notation. @FILE takes the value
    from a file, - from standard input. The change is refused if the program would become invalid.
    A path with * sets all matching values of a file, or none of them if one change is refused.
    """
    new = read_word_beside(value, files)

    def edit(document: Document) -> tuple[Pattern, ...]:
        places = places_in(document, path)
        return change_places(
            document.patterns, [(place, partial(read_value, new)) for place in places]
        )

    deliver(files, edit, destination)
