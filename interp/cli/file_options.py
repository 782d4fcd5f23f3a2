"""Options that several of the commands on files share."""

from __future__ import annotations

import click

from .completing import complete_agent

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")

agent_option = click.option(
    "--agent", metavar="NAME", shell_complete=complete_agent, help="Which agent of the program."
)
"""Chooses an agent of a program with several agents."""

stdin_filename_option = click.option(
    "--stdin-filename",
    metavar="NAME",
    help="What messages call the program that is read from standard input.",
)
