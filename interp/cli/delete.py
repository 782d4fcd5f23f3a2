"""``gram del``: remove the value at a path, and change no other byte."""

from __future__ import annotations

import click

from gram import Document, Pattern
from lenses_ext import remove_places

from .edits import complete_path, deliver, destination_options, places_in


@click.command("del")
@click.argument("file")
@click.argument("path", shell_complete=complete_path)
@destination_options
def command(file: str, path: str, in_place: bool, diff: bool, force: bool) -> None:
    """Remove the value at PATH in FILE: a tool, an agent, or an optional property.

    A path with * removes all matching values, or none of them if one is required.
    """

    def edit(document: Document) -> tuple[Pattern, ...]:
        return remove_places(document.patterns, places_in(document, path))

    deliver(file, edit, in_place=in_place, diff=diff, force=force)
