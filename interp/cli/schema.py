"""``gram schema``: print the tools of a program for models and other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import click

from gram import Json, Pattern
from lenses_ext import tool_spec_of, tool_spec_to_json

from ..contracts import function_definition, mcp_definition
from ..programs import the_agent, the_tools
from .completing import complete_files
from .each_file import each_file
from .file_options import agent_option
from .inputs import read_document
from .output import show_json
from .program_files import are_many


@click.command("schema")
@click.argument("files", nargs=-1, required=True, shell_complete=complete_files)
@agent_option
@click.option(
    "form",
    "--strict",
    flag_value="strict",
    help="Definitions whose schemas a provider can enforce.",
)
@click.option("form", "--mcp", flag_value="mcp", help="The format of the Model Context Protocol.")
@click.option("--itself", is_flag=True, help="The agent or workflow itself, as the tool it is.")
@click.option("form", "--spec", flag_value="spec", help="Name, description, signature and schema.")
def command(files: tuple[str, ...], agent: str | None, itself: bool, form: str | None) -> None:
    """Print the tools of the agent in FILES as JSON: function definitions, or another form.

    FILES are files, folders and globs; of several, an object from file to tools is printed.
    """
    by_file: dict[str, Json] = {}

    def describe(file: str) -> None:
        document = read_document(file)
        if itself:
            by_file[file] = _FORMS[form](tool_spec_of(the_agent(document, agent, by="schema")))
        else:
            by_file[file] = [_FORMS[form](tool) for tool in the_tools(document, agent)]

    tally = each_file(files, describe)
    if by_file:
        show_json(by_file if are_many(files) else next(iter(by_file.values())))
    tally.leave()


_FORMS: Mapping[str | None, Callable[[Pattern], Json]] = {
    "spec": tool_spec_to_json,
    "mcp": mcp_definition,
    "strict": partial(function_definition, strict=True),
    None: function_definition,
}
"""What a tool is printed as, by the option that chooses it."""
