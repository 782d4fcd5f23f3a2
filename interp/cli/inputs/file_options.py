"""Options that several of the commands on files share."""

from __future__ import annotations

import click

from ..completion.completing import (
    complete_agent,
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")

agent_option = click.option(
    "--agent", metavar="NAME", shell_complete=complete_agent, help="Which agent of the program."
)
"""Chooses an agent of a program with several agents."""

checks_option = click.option(
    "--checks",
    multiple=True,
    metavar="FILE.py[:NAME]",
    help="A Python file with the checks that cases name.",
)

stdin_filename_option = click.option(
    "--stdin-filename", metavar="NAME", help="What messages call standard input."
)

mcp_option = click.option(
    "--mcp",
    multiple=True,
    metavar="CMD|URL|FILE.json[:NAME]",
    help="An MCP server with tools: its command, its address, or a file in the mcpServers form.",
)
"""The option for MCP servers; see `read_libraries`."""

openapi_option = click.option(
    "--openapi",
    multiple=True,
    metavar="[NAME=VALUE…] FILE|URL",
    help="An OpenAPI document, whose operations are tools. Before it: server=URL, hosts=A,B, "
    "operations=A,B, and SCHEME=VARIABLE for the key in an environment variable.",
)
"""The option for OpenAPI documents; see `read_libraries`."""
