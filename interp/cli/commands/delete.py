"""``gram del``: remove the value at a path, and change no other byte."""

from __future__ import annotations

import click

from gram import Pattern
from lenses_ext import Project, remove_places

from ..edits import Destination, deliver, edit_options, places_in


@click.command("del")
@edit_options("PATH")
def command(path: str, files: list[str], destination: Destination) -> None:
    """Remove the value at PATH in FILES: a tool, an agent, or an optional property.

    The files come first or last; they are files, folders and globs. A path with * removes all
    matching values of a file, or none of them if one is required.
    """

    def edit(program: Project, own: bool) -> tuple[Pattern, ...]:
        return remove_places(program.patterns, places_in(program, path, own=own))

    deliver(files, edit, destination)
