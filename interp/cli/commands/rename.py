"""``gram rename``: another name for something of a program, wherever it is meant."""

from __future__ import annotations

import click

from ..each_file import each_file
from ..edits import Destination, edit_options
from ..inputs.program_files import STDIN
from ..renaming import Renaming, show_or_write
from ..terminal.output import tell


@click.command("rename")
@click.option("--instructions", is_flag=True, help="Rename it in instructions, too (in backticks).")
@click.option(
    "--tools",
    multiple=True,
    metavar="FILE.py[:NAME]",
    help="Say which functions of a Python file do not bind any more.",
)
@edit_options("PATH NEW", shows_diff=True)
def command(
    path: str,
    new: str,
    files: list[str],
    destination: Destination,
    instructions: bool,
    tools: tuple[str, ...],
) -> None:
    """Give what is at PATH in FILES the name NEW, wherever it is meant, and show what would change.

    PATH leads to an agent, a workflow or a tool (desk, desk.tools.search), to a type of the file
    (User), a parameter (search.parameters.limit), or a node that is another use of an agent
    (news.nodes.again). It is renamed in its definition, in references, arrows and signatures, in
    files of the project that import it, and in the cases and approval rules in FILES and beside
    them. -i writes all files, or none.

    A name is refused that is taken, or with which something would mean another thing.
    """
    if STDIN in files:
        raise click.UsageError("rename changes files: standard input is none")
    renaming = Renaming(path, new, instructions, destination.force)
    tally = each_file(files, renaming.find)
    renaming.change(files)
    show_or_write(renaming.texts, destination.in_place)
    for said in (*renaming.told, *renaming.unbound(tools)):
        tell(said)
    tally.leave()
