"""``gram init``: write a first agent, with its tools, a test and what to do next."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Final

import click

from gram import write_atomically

from ..failures import NO
from ..terminal.output import show, tell

_TEXTS: Final = Path(__file__).with_name("first_agent")
_NAMES: Final = ("agent.gram", "tools.py", "test_agent.py", "README.md")

FILES: Final = {name: (_TEXTS / f"{name}.txt").read_text(encoding="utf-8") for name in _NAMES}
"""The files by name; the README of them is written for the commands of this version."""


@click.command("init")
@click.argument("folder", metavar="[DIR]", default=".")
def command(folder: str) -> None:
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
