"""``gram rewrite``: put another pattern wherever one with holes matches."""

from __future__ import annotations

import click

from gram import Pattern
from gram.comparing import QueryError, holes_in
from lenses_ext import Project, rewrite

from ..each_file import Nowhere
from ..edits import Destination, deliver, edit_options, read_pattern
from ..failures import Refused
from ..inputs.reading import read_word_beside
from .query import as_written_option


@click.command("rewrite")
@as_written_option
@edit_options("PATTERN NEW", shows_diff=True)
def command(
    pattern: str, new: str, files: list[str], destination: Destination, as_written: bool
) -> None:
    """Put NEW wherever PATTERN matches in FILES, and show what would change; -i writes.

    Both are gram with holes, see gram query: in NEW they take what they match in PATTERN. What
    PATTERN names and NEW does not is removed, what neither names stays:

    gram rewrite '[_a:Agent {model: "OpenAI/x", top_p: _}]' '[_a:Agent {model: "OpenAI/y"}]' agents

    A part of NEW is that of the same name or hole in PATTERN, else the one in its place. A tool
    that an agent refers to is changed where it is defined. The change is refused if the program
    would become invalid. @FILE reads a pattern from a file.
    """
    old = read_pattern(read_word_beside(pattern, files), "PATTERN")
    wanted = read_pattern(read_word_beside(new, files), "NEW")

    if unbound := sorted(holes_in(wanted) - holes_in(old)):
        raise click.UsageError(f"NEW has {', '.join(unbound)}, and PATTERN does not")

    def edit(program: Project, _: bool) -> tuple[Pattern, ...]:
        try:
            changed = rewrite(old, wanted, program, as_written=as_written, own=True).patterns
        except QueryError as error:
            raise Refused(f"refused: {error}") from None
        if changed == program.patterns:
            raise Nowhere(f"{program.filename}: nothing to change: the pattern is not found")
        return changed

    deliver(files, edit, destination)
