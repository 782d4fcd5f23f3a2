"""``gram lint``: report what is valid in files, and doubtful."""

from __future__ import annotations

from datetime import date
from functools import partial

import click

from gram import Diagnostic, Document

from ...models import lint_program
from ..completion.completing import complete_files
from ..fault_report import fault_options, fix_file, leveled, read_faulty, report_faults
from ..inputs.file_options import stdin_filename_option
from ..inputs.reading import read_text


@click.command("lint")
@click.argument("files", nargs=-1, required=True, shell_complete=complete_files)
@fault_options
@click.option("--fix", is_flag=True, help="First fix what can be fixed: names in instructions.")
@stdin_filename_option
def command(
    files: tuple[str, ...], form: str, strict: bool, fix: bool, stdin_filename: str | None
) -> None:
    """Report what is valid in FILES, and doubtful; `gram check` reports what is wrong.

    FILES are files, folders and globs; - is standard input. How much a code matters is said in
    gram.toml, lint = {unused-tool = "off"}, or in a program, {lint: {unused-tool: "off"}}: error,
    warning, info or off. Exits with 1 if there is an error, with 0 if there are only warnings.
    """

    def doubts(document: Document) -> tuple[Diagnostic, ...]:
        return leveled(document, lint_program(document, today=date.today()))

    def find(file: str) -> tuple[Diagnostic, ...]:
        found = read_faulty(*read_text(file, stdin_filename))
        return doubts(found) if isinstance(found, Document) else found

    mend = partial(fix_file, find=doubts) if fix else None
    report_faults(files, find, form=form, strict=strict, fix=mend)
