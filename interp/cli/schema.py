"""``gram schema``: print the tools of a program for models and other programs."""

from __future__ import annotations

import json

import click

from lenses_ext import tool_spec_to_json

from ..contracts import function_definition, mcp_definition
from ..programs import the_tools
from .inputs import read_document
from .options import agent_option
from .output import show


@click.command("schema")
@click.argument("file")
@agent_option
@click.option(
    "form",
    "--strict",
    flag_value="strict",
    help="Definitions whose schemas a provider can enforce.",
)
@click.option("form", "--mcp", flag_value="mcp", help="The format of the Model Context Protocol.")
@click.option("form", "--spec", flag_value="spec", help="Name, description, signature and schema.")
def command(file: str, agent: str | None, form: str | None) -> None:
    """Print the tools of the agent in FILE as JSON: function definitions, or another form."""
    tools = the_tools(read_document(file), agent)
    if form == "spec":
        definitions = [tool_spec_to_json(tool) for tool in tools]
    elif form == "mcp":
        definitions = [mcp_definition(tool) for tool in tools]
    else:
        definitions = [function_definition(tool, strict=form == "strict") for tool in tools]
    show(json.dumps(definitions, ensure_ascii=False, indent=2))
