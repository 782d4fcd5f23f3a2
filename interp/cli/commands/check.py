"""``gram check``: report the faults in files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from gram import Check, Diagnostic, Document, GramDecodeError, Source, apply_fixes, only_errors
from gram.checks import syntax_fault
from gram.plurals import counted
from lenses_ext import parse_program
from lenses_ext.names import find_runnables, shared_tools

from ...models import OfferedCheck, check_program
from ..completion.completing import complete_files
from ..each_file import each_file
from ..failures import NO
from ..inputs.file_options import stdin_filename_option
from ..inputs.program_files import STDIN
from ..inputs.project import find_project
from ..inputs.reading import read_text
from ..rewriting import rewrite
from ..terminal.output import note

_TABLES = (".csv", ".jsonl")
"""The endings of files that have cases and nothing else."""
_FORMATS = ("text", "json", "sarif", "github")


@click.command("check")
@click.argument("files", nargs=-1, required=True, shell_complete=complete_files)
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default="text",
    help="How faults are printed: as text, JSON, SARIF or annotations on GitHub.",
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
@click.option("--fix", is_flag=True, help="First fix what can be fixed without changing trees.")
@click.option(
    "--models",
    "asks",
    is_flag=True,
    help="Also ask the servers of its models, over the network, whether they offer them.",
)
@stdin_filename_option
def command(
    files: tuple[str, ...],
    form: str,
    strict: bool,
    fix: bool,
    asks: bool,
    stdin_filename: str | None,
) -> None:
    """Report the faults in FILES; without --models no network, key or tool library is needed.

    FILES are files, folders and globs; - is standard input. Schedules and cases are judged, too,
    also cases in .csv and .jsonl. Exits with 1 if there is an error,
    with 0 if there are only warnings.
    """
    if fix and STDIN in files:
        raise click.UsageError("--fix writes files, so it cannot be used with standard input")
    faults: list[Diagnostic] = []
    more = (OfferedCheck(lambda name: note(f"asks {name} for its models")).check,) if asks else ()

    project = find_project()
    left_out = project.ignored if project else frozenset()

    def judge(file: str) -> dict[str, Any]:
        found = tuple(
            each
            for each in _faults(file, fix, stdin_filename, more)
            if each.severity == "error" or each.code not in left_out
        )
        faults.extend(found)
        counted = [each for each in found if strict and each.severity == "warning"]
        return {"code": NO if only_errors(found) or counted else 0}

    tally = each_file(files, judge)
    if faults or form != "text":
        from ..terminal.fault_formats import show_faults  # imported late: good programs need none

        show_faults(faults, form)
    _summarize(faults, len(tally.rows))
    tally.leave()


def _faults(
    file: str, fix: bool, stdin_filename: str | None, more: tuple[Check, ...]
) -> tuple[Diagnostic, ...]:
    try:
        if fix:
            rewrite(file, _mended)
        text, name = read_text(file, stdin_filename)
    except GramDecodeError as error:  # not UTF-8
        return (syntax_fault(error),)
    if Path(name).suffix.lower() in _TABLES:
        return _faults_of_cases(text, name)
    found = _faults_of(text, name)
    if isinstance(found, Document):
        others = tuple(_others(found))
        _note(found)
        return (*check_program(found, *more), *others)
    return found


def _others(document: Document) -> Iterator[Diagnostic]:
    """What is wrong with the cases and the schedules that are in a document."""
    labels = {label for each in document.patterns for label in each.value.labels}
    if "Case" in labels:
        yield from _faults_of_cases(document.text, document.filename or "<stdin>.gram")
    if "Schedule" in labels:
        from ...workers import schedule_faults  # imported late: few files have some

        yield from schedule_faults(document)


def _faults_of_cases(text: str, name: str) -> tuple[Diagnostic, ...]:
    from ...evaluation.cases import case_faults  # imported late: few files have some

    return case_faults(Source(text, name))


def _faults_of(text: str, name: str) -> Document | tuple[Diagnostic, ...]:
    """The document that a text is, or its syntax errors."""
    try:
        return parse_program(text, name)
    except GramDecodeError:
        from gram import syntax_errors  # imported late: it loads all explanations

        return tuple(map(syntax_fault, syntax_errors(text, name)))


def _mended(text: str, name: str) -> str:
    """The text after all fixes: mending one fault may show another behind it."""
    while True:
        found = _faults_of(text, name)
        if isinstance(found, Document):
            mended = apply_fixes(found, check_program(found))
        else:
            mended = apply_fixes(text, found)
        if mended == text:
            return text
        text = mended


def _note(document: Document) -> None:
    labels = {label for each in document.patterns for label in each.value.labels}
    if labels & {"Case", "Schedule"}:
        return
    if not find_runnables(document) and not shared_tools(document):
        note(f"{document.filename}: no agent here, checked as plain data")


def _summarize(faults: list[Diagnostic], files: int) -> None:
    """Count the faults on standard error."""
    if not faults:
        return
    counts = [
        counted(count, word)
        for severity, word in (("error", "error"), ("warning", "warning"), ("info", "remark"))
        if (count := sum(each.severity == severity for each in faults))
    ]
    fixable = sum(bool(each.fix) for each in faults)
    hint = f"; {fixable} can be fixed with --fix" if fixable else ""
    note(f"{', '.join(counts)} in {counted(files, 'file')}{hint}")
