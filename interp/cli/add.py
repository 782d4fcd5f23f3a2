"""``gram add``: put something new at a path, and change no other byte."""

from __future__ import annotations

import re

import attrs
import click

from gram import Pattern
from gram.walk import pattern_at, replace_at
from lenses_ext.paths import ANY, PathError, read_path, write_path
from lenses_ext.places import Kind, Place, new_property

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

_PATTERN = re.compile(r"\s*(\(.*[)\]]|\[.*[:|].*\])\s*", re.DOTALL)
"""What is written as a pattern is: not ``[1, 2]``, which is an array."""


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
    if place.kind is Kind.TOOLS:
        pattern = pattern_at(patterns, place.tree_path)
        grown = attrs.evolve(pattern, elements=(*pattern.elements, read_pattern(value)))
        return replace_at(patterns, place.tree_path, [grown])
    try:
        new = new_property(patterns, place, last)
    except PathError as error:
        raise click.UsageError(str(error)) from None
    read = read_value(value, None)
    if read == value and _PATTERN.fullmatch(value):
        raise click.UsageError(
            f"{new.path} would be a text that looks like a pattern. A tool is added to …tools, a "
            "parameter by gram set FILE ….signature; a text that is meant stands in quotes: "
            "'\"(a text)\"'"
        )
    return new.set(patterns, read)
