"""``gram completion``: print the script with which a shell completes the commands."""

from __future__ import annotations

import click

from .. import COMPLETION
from ..completion.shells import SHELLS
from ..terminal.output import show


@click.command("completion")
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion of SHELL: load it when the shell starts.

    \b
    bash: eval "$(gram completion bash)"      in ~/.bashrc
    zsh:  eval "$(gram completion zsh)"       in ~/.zshrc, after compinit
    fish: gram completion fish | source       in ~/.config/fish/config.fish

    Files, the paths in programs, agents, tools, models, settings and limits are completed.
    """
    show(SHELLS[shell](context.find_root().command, {}, "gram", COMPLETION).source())
