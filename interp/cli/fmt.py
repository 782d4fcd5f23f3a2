"""``gram fmt``: lay files out, keeping their comments and spellings."""

from __future__ import annotations

import sys

import click

from gram import format_text

from .diffs import show_diff
from .failures import NO
from .inputs import STDIN, read_text
from .output import show, tell
from .rewriting import rewrite


@click.command("fmt")
@click.argument("files", nargs=-1, required=True)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 when a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
def command(files: tuple[str, ...], check: bool, diff: bool) -> None:
    """Lay out FILES in place; - reads standard input and writes standard output."""
    would_change = False
    for file in files:
        if file != STDIN and not (check or diff):
            rewrite(file, format_text)
            continue
        text, name = read_text(file)
        laid_out = format_text(text, name)
        if not (check or diff):
            show(laid_out, nl=False)
        elif laid_out != text:
            would_change = True
            if diff:
                show_diff(text, laid_out, name)
            if check:
                tell(f"{name} would change")
    if would_change:
        sys.exit(NO)
