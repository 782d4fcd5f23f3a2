"""``gram fmt``: lay files out, keeping their comments and spellings."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gram import format_text
from gram.files import write_atomically

from .diffs import show_diff
from .failures import NO
from .inputs import STDIN, read_text


@click.command("fmt")
@click.argument("files", nargs=-1, required=True)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 when a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
def command(files: tuple[str, ...], check: bool, diff: bool) -> None:
    """Lay out FILES in place; - reads standard input and writes standard output."""
    changed = False
    for file in files:
        text, name = read_text(file)
        laid_out = format_text(text, name)
        differs = laid_out != text
        changed = changed or differs
        if diff and differs:
            show_diff(text, laid_out, name)
        if check and differs:
            click.echo(f"{name} would change", err=True)
        if check or diff:
            continue
        if file == STDIN:
            click.echo(laid_out, nl=False)
        elif differs:
            write_atomically(Path(file), laid_out)
    if changed and (check or diff):
        sys.exit(NO)
