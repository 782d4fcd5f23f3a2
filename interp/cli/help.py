"""``gram help``: show the help of a command."""

from __future__ import annotations

import click

from .output import show


@click.command("help")
@click.argument("name", metavar="COMMAND", required=False)
@click.pass_context
def command(context: click.Context, name: str | None) -> None:
    """Show the help of COMMAND, as gram COMMAND --help does."""
    group = context.find_root()
    assert isinstance(group.command, click.Group)
    chosen = group.command.resolve_command(group, [name])[1] if name else None
    shown = click.Context(chosen, info_name=name, parent=group) if chosen else group
    show(shown.get_help())
