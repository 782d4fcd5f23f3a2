"""``gram lint``: report what is valid in files, and doubtful."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from functools import partial
from pathlib import Path

import click

from gram import Diagnostic, Document
from gram.documents import resolved
from lenses_ext import Project
from lenses_ext.rules import with_levels

from ...models import lint_program
from ..fault_report import (
    fault_options,
    fix_file,
    judge_together,
    project_levels,
    read_faulty,
    report_faults,
)
from ..inputs.declaring import stdin_filename_option
from ..inputs.program_files import STDIN
from ..inputs.reading import read_text


@click.command("lint")
@click.argument("files", nargs=-1, required=True)
@fault_options
@click.option("--fix", is_flag=True, help="First correct the names of tools in instructions.")
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
    levels, today = project_levels(), date.today()
    documents: dict[Path, Document] = {}

    def doubts(program: Document | Project) -> Iterator[Diagnostic]:
        return with_levels(lint_program(program, today=today), program.patterns, levels)

    def find(file: str) -> Iterable[Diagnostic]:
        found = read_faulty(*read_text(file, stdin_filename))
        if not isinstance(found, Document):
            return found
        if file == STDIN:  # a text opens no files
            return doubts(found)
        documents[resolved(Path(file))] = found
        return ()

    def mend(file: str) -> None:
        where = resolved(Path(file))
        fix_file(file, lambda document: judge_together({where: document}, doubts))

    together = partial(judge_together, documents, doubts)
    mender = mend if fix else None
    report_faults(files, find, form=form, strict=strict, fix=mender, together=together)
