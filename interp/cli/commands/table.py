"""The table of commands, and what all of them share: help, ``-q``, ``-v``, near names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from gram.words import did_you_mean

from ..terminal.console import set_loudness

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Row(NamedTuple):
    """What ``table.txt`` says of a command.

    Attributes:
        uses_project: whether it runs code or asks models, and so may use what a project file names.
    """

    module: str
    uses_project: bool
    text: str


def _groups() -> Iterator[tuple[str, dict[str, Row]]]:
    table = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    for title, rows in re.findall(r"^(\S+)\n((?:  .+\n)+)", table, re.MULTILINE):
        cells = (line.split(maxsplit=3) for line in rows.splitlines())
        yield title, {name: Row(home, uses == "project", text) for name, home, uses, text in cells}


GROUPS: Final = dict(_groups())
"""The commands by what they are for, in the order in which they are needed."""

COMMANDS: Final = {name: row for group in GROUPS.values() for name, row in group.items()}


def _loudness(_: click.Context, parameter: click.Parameter, given: bool) -> None:
    if given:
        set_loudness(-1 if parameter.name == "quiet" else 1)


def _shared_options() -> list[click.Parameter]:
    how: Any = {"is_flag": True, "expose_value": False, "callback": _loudness}
    quiet = click.Option(["-q", "--quiet"], help="Print results, warnings and errors alone.", **how)
    return [quiet, click.Option(["-v", "--verbose"], help="Say more about what is done.", **how)]


class Commands(click.Group):
    """Imports the module of a command when it is called, so that every command starts fast."""

    def list_commands(self, _: click.Context) -> list[str]:
        """The names of the commands."""
        return sorted(COMMANDS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """The command of a name, or None."""
        if name not in COMMANDS:
            return None
        from ..inputs.project import trust_option  # imported late: completion of names needs none

        row = COMMANDS[name]
        module = import_module(f"{__package__}.{row.module}")
        command: click.Command = getattr(module, f"{name}_command")
        parts = command.commands.values() if isinstance(command, click.Group) else ()
        for each in (command, *parts):
            if not any(parameter.name == "quiet" for parameter in each.params):
                each.params += _shared_options()
                if row.uses_project and not isinstance(each, click.Group):
                    each.params.append(trust_option())
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = did_you_mean(args[0], COMMANDS) or "gram --help lists the commands"
            ctx.fail(f"No such command '{args[0]}': {hint}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin with a text; none of them is imported."""
        from click.shell_completion import CompletionItem

        names = [CompletionItem(name) for name in sorted(COMMANDS) if name.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the tables of commands, one for each group."""
        for group, commands in GROUPS.items():
            with formatter.section(group):
                texts = [(name, row.text) for name, row in commands.items()]
                formatter.write_dl(texts, col_max=max(map(len, COMMANDS)))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, "-V", "--version", package_name="gram-agents", prog_name="gram")
def gram() -> None:
    """LLM agents as source code: run, check and edit gram programs."""


gram.params += _shared_options()


@click.command("help")
@click.argument("names", metavar="COMMAND", nargs=-1)
def help_command(names: tuple[str, ...]) -> None:
    """Show the help of COMMAND, as gram COMMAND --help does; it may be two words, as runs show."""
    with gram.make_context("gram", [*names, "--help"]) as asked:
        gram.invoke(asked)
