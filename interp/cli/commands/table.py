"""The table of commands, and what all of them share: help, ``-q``, ``-v``, near names."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

from gram.words import did_you_mean

from ..terminal.output import set_loudness, show

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

GROUPS: Final[Mapping[str, Mapping[str, str]]] = {
    "Write": {
        "init": "Write a first agent: a program, its tools, a test.",
        "check": "Report the faults in gram files.",
        "lint": "Report what is valid in gram files, and doubtful.",
        "fmt": "Lay files out, keeping their comments.",
        "get": "Print the value at a path.",
        "set": "Change the value at a path, and no other byte.",
        "add": "Add a tool, a property or a pattern at a path.",
        "del": "Remove the value at a path.",
        "rename": "Give something another name, wherever it is meant.",
        "share": "Make one definition of copies in several files.",
        "query": "Find where a pattern with holes matches.",
        "rewrite": "Put another pattern wherever one with holes matches.",
        "diff": "Say what changed between programs, and what that breaks.",
        "merge": "Merge what two sides made of a program, and judge it.",
        "git": "Have git merge programs by structure.",
        "tools": "Show which tools bind; print tools from elsewhere as gram.",
        "schema": "Print the tools of a program as JSON.",
        "graph": "Draw a program: its agents, tools and workflows.",
        "lsp": "Tell an editor what it asks of gram files.",
        "convert": "Print gram as canonical JSON, and JSON as gram.",
    },
    "Run": {
        "run": "Run an agent: say something to it and print its answer.",
        "chat": "Talk to an agent, line by line.",
        "resume": "Go on with a recorded run.",
        "replay": "Show a recorded run again, or run a changed program on it.",
        "trace": "Show a recorded run as a timeline.",
        "models": "List the providers of models, and the keys they want.",
    },
    "Test": {
        "test": "Run the cases of an agent, and say which do not pass.",
        "ab": "Run the same cases through several programs, and compare them.",
        "improve": "Search for changes that make a program better, and test the best.",
        "shrink": "Find the smallest run that fails as a recorded one does.",
        "judge": "Compare a judge with labels of people, and correct what it said.",
    },
    "Operate": {
        "serve": "Serve agents as the models of an OpenAI-compatible server.",
        "submit": "Queue a run for workers, and print its id.",
        "worker": "Take queued runs, and drive them to their ends.",
        "workers": "Say which workers live, on what they work, and what waits.",
        "runs": "List and steer the runs of a store (gram trace shows one).",
        "conversations": "List, show and remove the conversations of a store.",
        "limits": "List, set and remove the limits that all workers keep to.",
    },
    "Help": {
        "help": "Show the help of a command.",
        "doctor": "Say what is wrong with the set-up.",
        "completion": "Print the completion of a shell: bash, zsh or fish.",
    },
}
"""The commands by what they are for, in the order in which they are needed."""

COMMANDS: Final = {name: text for group in GROUPS.values() for name, text in group.items()}
"""Every command, with what it does."""

_USE_PROJECTS = {
    *("run", "chat", "resume", "replay", "test", "ab", "improve", "shrink"),
    *("serve", "submit", "worker", "runs", "tools", "models", "doctor"),
}
"""The commands that run code or ask models, and so may use what a project file names."""

_SHARED: Final = {
    "values": ("get", "set", "add", "del"),
    "talking": ("run", "chat"),
    "recorded": ("resume", "replay", "trace"),
    "causes": ("shrink",),
    "ab": ("ab", "judge"),
    "setting_up": ("init", "lsp", "completion"),
    "check": ("check", "lint"),
    "query": ("query", "rewrite"),
    "texts": ("fmt", "convert"),
    "merge": ("merge", "git"),
    "rename": ("rename", "share"),
    "tools": ("tools", "schema"),
    "models": ("models", "doctor"),
    "table": ("help",),
    "workers": ("submit", "workers", "limits"),
}
"""The modules that have several commands, each as ``NAME_command``."""

_HOMES: Final = {name: module for module, names in _SHARED.items() for name in names}


def _loudness(_: click.Context, parameter: click.Parameter, given: bool) -> None:
    if given:
        set_loudness(-1 if parameter.name == "quiet" else 1)


def _shared_options() -> list[click.Parameter]:
    """The options that every command has."""
    told = {
        "quiet": "Print results, warnings and errors alone.",
        "verbose": "Say more about what is done.",
    }
    how: Any = {"is_flag": True, "expose_value": False, "callback": _loudness}
    return [
        click.Option([f"-{name[0]}", f"--{name}"], help=help_, **how)
        for name, help_ in told.items()
    ]


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

        home = _HOMES.get(name)
        module = import_module(f"{__package__}.{home or name}")
        command: click.Command = getattr(module, f"{name}_command" if home else "command")
        parts = command.commands.values() if isinstance(command, click.Group) else ()
        for each in (command, *parts):
            if not any(parameter.name == "quiet" for parameter in each.params):
                each.params += _shared_options()
                if name in _USE_PROJECTS and not isinstance(each, click.Group):
                    each.params.append(trust_option())
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with.

        Raises:
            click.UsageError: there is no such command.
        """
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
                formatter.write_dl(list(commands.items()), col_max=max(map(len, COMMANDS)))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, "-V", "--version", package_name="gram-agents", prog_name="gram")
def gram() -> None:
    """LLM agents as source code: run, check and edit gram programs."""


gram.params += _shared_options()


@click.command("help")
@click.argument("names", metavar="COMMAND", nargs=-1)
@click.pass_context
def help_command(context: click.Context, names: tuple[str, ...]) -> None:
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
