"""``gram schema``: print the tools of a program for models and other programs."""

from __future__ import annotations

import json

import click

from lenses_ext import agent_tool_specs, tool_spec_to_json, view

from ..programs import choose_agent
from ..tool_definitions import function_definition, mcp_definition
from .inputs import read_document
from .options import agent_option


@click.command("schema")
@click.argument("file")
@agent_option
@click.option(
    "form",
    "--strict",
    flag_value="strict",
    help="Definitions that a model can be held to.",
)
@click.option("form", "--mcp", flag_value="mcp", help="As the Model Context Protocol lists tools.")
@click.option("form", "--spec", flag_value="spec", help="Name, description, signature and schema.")
def command(file: str, agent: str | None, form: str | None) -> None:
    """Print the tools of the agent in FILE as JSON: function definitions, or another form."""
    tools = view(agent_tool_specs, choose_agent(read_document(file).patterns, agent))
    if form == "spec":
        definitions = [tool_spec_to_json(tool) for tool in tools]
    elif form == "mcp":
        definitions = [mcp_definition(tool) for tool in tools]
    else:
        definitions = [function_definition(tool, strict=form == "strict") for tool in tools]
    click.echo(json.dumps(definitions, ensure_ascii=False, indent=2))
