"""``gram set``: change what stands at a path, and no other byte."""

from __future__ import annotations

import click

from lenses_ext.places import Place

from .edits import complete_path, deliver, destination_options, places_in, read_value, refusing
from .inputs import read_document


@click.command("set")
@click.argument("file")
@click.argument("path", shell_complete=complete_path)
@click.argument("value")
@destination_options
def command(file: str, path: str, value: str, in_place: bool, diff: bool, force: bool) -> None:
    """Set what stands at PATH in FILE to VALUE, and print the new text.

    A string is taken as it is typed, anything else is read in gram notation. Refused when the
    program would become invalid. A path with * sets every place.
    """
    document = read_document(file)
    patterns = document.patterns
    with refusing():
        # inner places first: what is set further out may leave them no place
        for place in sorted(places_in(document, path), key=_depth, reverse=True):
            patterns = place.set(patterns, read_value(value, place.get(patterns)))
    deliver(document, patterns, in_place=in_place, diff=diff, force=force)


def _depth(place: Place) -> int:
    return len(place.tree_path)
