"""The console command ``gram``, with one module for each of its commands.

The module of a command is imported when the command is called, so that every command starts fast.
"""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module

import click

from gram import GramError

from .failures import INTERRUPTED, exit_code_of, shown
from .output import tell

COMMANDS = {
    "add": "Add a tool, a property or a pattern at a path.",
    "chat": "Talk to an agent, line by line.",
    "check": "Report the faults in gram files.",
    "convert": "Print gram as canonical JSON, and JSON as gram.",
    "del": "Remove the value at a path.",
    "fmt": "Lay files out, keeping their comments.",
    "doctor": "Say what is wrong with the set-up.",
    "get": "Print the value at a path.",
    "init": "Write a first agent: a program, its tools, a test.",
    "models": "List the providers of models, and the keys they want.",
    "run": "Run an agent: say something to it and print its answer.",
    "schema": "Print the tools of a program as JSON.",
    "set": "Change the value at a path, and no other byte.",
    "tools": "Show which tools bind; write the gram of Python tools.",
}

_MODULES = {"del": "delete"}
"""The modules of commands whose names are Python keywords."""


class _Commands(click.Group):
    """Imports the module of a command when it is called."""

    def list_commands(self, _: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = _MODULES.get(name, name)
        command: click.Command = import_module(f"{__name__}.{module}").command
        return command

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="gram-agents", prog_name="gram")
def gram() -> None:
    """LLM agents as source code: run, check and edit gram programs."""


def main() -> None:
    """Run the command line; exits with the codes that the README lists."""
    try:
        gram(prog_name="gram", standalone_mode=False)
    except click.ClickException as error:
        shown_error = io.StringIO()
        error.show(shown_error)
        tell(shown_error.getvalue().rstrip("\n"))
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader has closed the pipe; Python must not fail when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (GramError, OSError) as failure:
        tell(shown(failure))
        sys.exit(exit_code_of(failure))
