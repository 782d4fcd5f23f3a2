"""``gram lint``: report what is valid in files, and doubtful."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from functools import partial
from pathlib import Path

import click

from gram import Diagnostic, Document
from gram.documents import resolved
from lenses_ext.names import load_together

from ...models import lint_program
from ..completion.completing import complete_files
from ..fault_report import fault_options, fix_file, leveled, read_faulty, report_faults
from ..inputs.file_options import stdin_filename_option
from ..inputs.program_files import STDIN
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

    FILES are files, folders and globs, judged together; - is standard input. How much a code
    matters is said in gram.toml, lint = {unused-tool = "off"}, or in a program, {lint:
    {unused-tool: "off"}}: error, warning, info or off. Exits with 1 if there is an error, with 0
    if there are only warnings.
    """

    documents: dict[Path, Document] = {}

    def find(file: str) -> tuple[Diagnostic, ...]:
        found = read_faulty(*read_text(file, stdin_filename))
        if not isinstance(found, Document):
            return found
        if file == STDIN:  # a text opens no files
            return leveled(found, lint_program(found, today=date.today()))
        documents[resolved(Path(file))] = found
        return ()

    def fix_one(file: str) -> None:
        fix_file(file, lambda document: _doubts({resolved(Path(file)): document}))

    mend = fix_one if fix else None
    together = partial(_doubts, documents)
    report_faults(files, find, form=form, strict=strict, fix=mend, together=together)


def _doubts(documents: Mapping[Path, Document]) -> Iterator[Diagnostic]:
    """What is doubtful in documents, judged together with the files that they import."""
    names = {each.filename for each in documents.values()}
    for program in load_together(documents):
        found = leveled(program, lint_program(program, today=date.today()))
        yield from (each for each in found if each.filename in names)
