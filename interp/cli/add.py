"""``gram add``: put something new at a path, and change no other byte."""

from __future__ import annotations

from typing import Any

import attrs
import click

from gram import Pattern
from gram.walk import pattern_at, replace_at
from lenses_ext.paths import ANY, Kind, Place, read_path, write_path
from lenses_ext.properties import any_property

from .edits import (
    complete_path,
    deliver,
    destination_options,
    places_in,
    read_pattern,
    read_value,
    refusing,
)
from .inputs import read_document

DOCUMENT = "."


@click.command("add")
@click.argument("file")
@click.argument("path", shell_complete=complete_path)
@click.argument("value")
@destination_options
def command(file: str, path: str, value: str, in_place: bool, diff: bool, force: bool) -> None:
    """Add VALUE to FILE at PATH: a tool to an agent's tools, or a property that is not there yet.

    A tool is given in gram notation: gram add FILE greeter.tools '[wave:ToolSpecification …]'. The
    path . adds a pattern at the end of the file.
    """
    document = read_document(file)
    patterns = document.patterns
    if path == DOCUMENT:
        patterns = (*patterns, read_pattern(value))
    else:
        *above, last = read_path(path)
        if not above or last == ANY:
            raise click.UsageError("a path names a place and what to add to it: agent.description")
        with refusing():
            for place in places_in(document, path if last == "tools" else write_path(above)):
                patterns = _added(patterns, place, last, value)
    deliver(document, patterns, in_place=in_place, diff=diff, force=force)


def _added(
    patterns: tuple[Pattern, ...], place: Place, last: str, value: str
) -> tuple[Pattern, ...]:
    pattern = pattern_at(patterns, place.tree_path)
    if place.kind is Kind.TOOLS:
        grown = attrs.evolve(pattern, elements=(*pattern.elements, read_pattern(value)))
        return replace_at(patterns, place.tree_path, [grown])
    if place.kind not in (Kind.PATTERN, Kind.PARAMETER, Kind.PROPERTY):
        raise click.UsageError(f"{place.path} has no properties to add to: use gram set")
    lens: Any = any_property(*place.keys, last)
    if place.kind is Kind.PARAMETER:
        lens = place.lens & lens
    new = attrs.evolve(place, lens=lens)
    if new.get(patterns) is not None:
        raise click.UsageError(f"{place.path}.{last} is there already: use gram set")
    return new.set(patterns, read_value(value, None))
