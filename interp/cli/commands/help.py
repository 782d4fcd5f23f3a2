"""``gram help``: show the help of a command."""

from __future__ import annotations

import click

from ..terminal.output import show


@click.command("help")
@click.argument("names", metavar="COMMAND", nargs=-1)
@click.pass_context
def command(context: click.Context, names: tuple[str, ...]) -> None:
    """Show the help of COMMAND, as gram COMMAND --help does; it may be two words, as runs show."""
    show(_named(context, names).get_help())


def _named(context: click.Context, names: tuple[str, ...]) -> click.Context:
    """The context of the command of these names.

    Raises:
        click.UsageError: there is no such command.
    """
    shown = context.find_root()
    for name in names:
        if not isinstance(shown.command, click.Group):
            raise click.UsageError(f"{shown.command_path} has no commands in it, such as {name!r}")
        chosen = shown.command.resolve_command(shown, [name])[1]
        assert chosen is not None  # else an error was raised
        shown = click.Context(chosen, info_name=name, parent=shown)
    return shown
