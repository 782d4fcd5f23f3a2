"""``gram add``: add a value at a path, and change no other byte."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import click

from gram import Pattern
from lenses_ext import PathError, Place, Project, change_places, find_places
from lenses_ext.places import ANY, new_property, read_path, write_path

from ..edits import (
    Destination,
    deliver,
    edit_options,
    places_in,
    read_element,
    read_pattern,
    read_value,
)
from ..inputs.declaring import mcp_option, openapi_option
from ..inputs.libraries import read_libraries
from ..inputs.reading import read_word_beside

if TYPE_CHECKING:
    from ...tools import ToolLibrary

DOCUMENT = "."

_PATTERN = re.compile(r"\s*(\(.*[)\]]|\[.*[:|].*\])\s*", re.DOTALL)
"""A text that looks like a pattern; ``[1, 2]`` does not, since it is an array."""


@click.command("add")
@click.option(
    "--tools",
    multiple=True,
    metavar="FILE.py[:NAME]",
    help="Add tools of a Python file, by their names.",
)
@mcp_option
@openapi_option
@edit_options("PATH VALUE", many_with=("tools", "mcp", "openapi"))
def command(
    *words: str,
    files: list[str],
    destination: Destination,
    tools: tuple[str, ...],
    mcp: tuple[str, ...],
    openapi: tuple[str, ...],
) -> None:
    """Add VALUE to FILES at PATH: a tool to an agent's tools, a node or an arrow to a workflow,
    or a new property.

    The files come first or last; they are files, folders and globs. A tool is written in gram
    notation: gram add FILE greeter.tools '[wave:ToolSpecification …]', or by its name when the
    file defines it: gram add FILE greeter.tools wave. @FILE takes the value from a file, - from
    standard input. An arrow is written (a)-->(b): gram add FILE news.arrows '(a)-->(b)'. The path
    . adds a pattern at the end of the file. A path with * adds to all its places in a file, or to
    none.

    With --tools, --mcp or --openapi, tools of a library are added by their names:
    gram add FILE greeter.tools --mcp 'uvx some-server' NAME…
    """
    if tools or mcp or openapi:
        _add_tools(files, words, destination, read_libraries(tools, mcp, openapi))
        return
    path, value = words
    value = read_word_beside(value, files)

    def edit(program: Project, own: bool) -> Sequence[Pattern]:
        patterns = program.patterns
        if path == DOCUMENT:
            end = len(program.document.patterns)
            return (*patterns[:end], read_pattern(value), *patterns[end:])
        *above, last = read_path(path)
        if not above or last == ANY:
            raise click.UsageError(
                "PATH must name a place and the property to add to it, as in agent.description"
            )
        where = path if _is_list(program, path) else write_path(above)
        places = places_in(program, where, own=own)
        return change_places(patterns, [_added(program, place, last, value) for place in places])

    deliver(files, edit, destination)


def _add_tools(
    files: list[str], words: Sequence[str], destination: Destination, library: ToolLibrary
) -> None:
    """Add tools of a library to the tools of agents."""
    from ..library_specs import specs_of  # imported late: most edits add no such tools

    if len(words) < 2 or not words[0].endswith(".tools"):
        raise click.UsageError("with --tools, --mcp or --openapi, write FILE AGENT.tools NAME…")
    path, *names = words
    new = specs_of(library, dict.fromkeys(names))

    def edit(program: Project, own: bool) -> Sequence[Pattern]:
        places = places_in(program, path, own=own)
        agents = [attrs.evolve(each, lens=None, inside=()) for each in places]
        return change_places(program.patterns, [(agent, with_tools) for agent in agents])

    def with_tools(agent: Pattern) -> Pattern:
        return attrs.evolve(agent, elements=(*agent.elements, *new))

    deliver(files, edit, destination)


def _is_list(program: Project, path: str) -> bool:
    """Whether a path leads to lists of elements, such as the tools of agents."""
    try:
        return all(place.kind.holds_elements for place in find_places(program, path))
    except PathError:
        return path.endswith(".tools")  # its own message says what is wrong


def _added(
    program: Project, place: Place, last: str, value: str
) -> tuple[Place, Callable[[Any], Any]]:
    """The place to change, and the function that makes its new value."""
    if place.kind.holds_elements:
        new = read_element(value)
        agent = attrs.evolve(place, lens=None, inside=())
        return agent, lambda old: attrs.evolve(old, elements=(*old.elements, new))
    try:
        property_ = new_property(program, place, last)
    except PathError as error:
        raise click.UsageError(str(error)) from None
    read = read_value(value, None)
    if read == value and _PATTERN.fullmatch(value):
        raise click.UsageError(
            f"{property_.path} would be a text that looks like a pattern. Add a tool to …tools, or "
            "a parameter with gram set FILE ….signature. If you mean the text, write it in quotes: "
            "'\"(a text)\"'"
        )
    return property_, lambda _: read
