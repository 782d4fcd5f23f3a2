"""What one sets up once: ``init`` writes a first agent, ``lsp`` serves an editor, ``completion`` a
shell."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Final, Literal

import click

from gram import write_atomically
from gram.extras import install

from ...errors import ConfigurationError
from .. import COMPLETION
from ..failures import NO
from ..inputs.declaring import argument, command, option
from ..terminal.console import show, tell

_TEXTS: Final = Path(__file__).with_name("first_agent")
_NAMES: Final = ("agent.gram", "tools.py", "test_agent.py", "README.md")

FILES: Final = {name: (_TEXTS / f"{name}.txt").read_text(encoding="utf-8") for name in _NAMES}
"""The files by name; the README of them is written for the commands of this version."""


@command("init")
def init_command(folder: str = argument("[DIR]", default=".", required=False)) -> None:
    """Write a first agent into DIR (here by default), which is made if it does not exist.

    It is a small program, its tools, a test and a README; all of it runs offline. A file that
    exists is never replaced.
    """
    where = Path(folder)
    if existing := [name for name in FILES if (where / name).exists()]:
        tell(f"{', '.join(existing)} in {where} would be replaced; nothing is written")
        sys.exit(NO)
    where.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        write_atomically(where / name, text)
        show(str(where / name))
    there = "" if folder == "." else f"cd {shlex.quote(folder)} && "
    example = "gram run agent.gram --tools tools.py --offline \"Count the words of 'a b c'\""
    tell(f"Try it without a key: {there}{example}")
    tell(f"What to do next is in {where / 'README.md'}")


@command("lsp")
def lsp_command(stdio: bool = option("Speak over standard input and output, as always.")) -> None:
    """Tell an editor what it asks of gram files: faults, completion, definitions, and more.

    Editors start it. It runs no code and asks no model.
    """
    try:
        from ..lsp.server import make_server
    except ImportError:
        problem = f"the language server is not installed: {install('lsp')}"
        raise ConfigurationError(problem) from None
    with os.fdopen(os.dup(0), "rb") as asked, os.fdopen(os.dup(1), "wb") as told:
        make_server().start_io(asked, told)  # the server closes them


@command("completion")
def completion_command(shell: Literal["bash", "fish", "zsh"]) -> None:
    """Print the completion of SHELL: load it when the shell starts.

    \b
    bash: eval "$(gram completion bash)"      in ~/.bashrc
    zsh:  eval "$(gram completion zsh)"       in ~/.zshrc, after compinit
    fish: gram completion fish | source       in ~/.config/fish/config.fish

    Files, the paths in programs, agents, tools, models, settings and limits are completed.
    """
    from ..completion.shells import SHELLS  # imported late: it loads what only completion needs

    program = click.get_current_context().find_root().command
    show(SHELLS[shell](program, {}, "gram", COMPLETION).source())
