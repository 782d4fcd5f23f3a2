"""``gram del``: remove what stands at a path, and no other byte."""

from __future__ import annotations

import click

from .edits import complete_path, deliver, destination_options, places_in, refusing
from .inputs import read_document


@click.command("del")
@click.argument("file")
@click.argument("path", shell_complete=complete_path)
@destination_options
def command(file: str, path: str, in_place: bool, diff: bool, force: bool) -> None:
    """Remove what stands at PATH in FILE: a tool, an agent, or a property that may be absent."""
    document = read_document(file)
    patterns = document.patterns
    with refusing():
        places = places_in(document, path)
        for place in sorted(places, key=lambda each: each.stands_at, reverse=True):
            patterns = place.remove(patterns)
    deliver(document, patterns, in_place=in_place, diff=diff, force=force)
