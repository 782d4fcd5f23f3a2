"""``gram fmt``: lay files out, keeping their comments."""

from __future__ import annotations

from typing import Any

import click

from gram import format_text

from ..each_file import each_file
from ..edits import rewrite
from ..failures import NO
from ..inputs.declaring import json_option, stdin_filename_option
from ..inputs.program_files import STDIN
from ..inputs.reading import read_text
from ..terminal.changes_shown import show_diff
from ..terminal.output import note, show


@click.command("fmt")
@click.argument("files", nargs=-1, required=True)
@click.option("--check", is_flag=True, help="Exit with 1 when a file would change; write nothing.")
@click.option("--diff", is_flag=True, help="Print what would change; write nothing.")
@json_option
@stdin_filename_option
def command(
    files: tuple[str, ...], check: bool, diff: bool, as_json: bool, stdin_filename: str | None
) -> None:
    """Lay out FILES in place: files, folders and globs.

    - reads standard input and writes standard output.
    """
    writes = not (check or diff)
    if as_json and (diff or STDIN in files):
        raise click.UsageError("--json says what became of the files: not with --diff, nor with -")

    def lay_out(file: str) -> dict[str, Any]:
        if writes and file != STDIN:
            return {"changed": rewrite(file, format_text)}
        text, name = read_text(file, stdin_filename)
        laid_out = format_text(text, name)
        if writes:
            show(laid_out, nl=False)
            return {}
        if laid_out == text:
            return {"changed": False}
        if diff:
            show_diff(text, laid_out, name)
        if check and not as_json:
            note(f"{name} would change")
        return {"changed": True, "code": NO}

    tally = each_file(files, lay_out)
    tally.show(as_json, verb="laid out" if writes else "would change")
    tally.leave()
