"""Reports the faults of files: what ``check`` and ``lint`` have in common."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from gram import Diagnostic, Document, GramDecodeError, apply_fixes
from gram.checks import syntax_fault
from gram.diagnostics import only_errors
from gram.words import counted
from lenses_ext import Project, parse_program
from lenses_ext.names import load_together
from lenses_ext.rules import Level

from .each_file import each_file
from .edits import rewrite
from .failures import NO
from .inputs.program_files import STDIN
from .inputs.project import find_project
from .terminal.output import note

_FORMATS = ("text", "json", "sarif", "github")
_Command = TypeVar("_Command", bound=Callable[..., Any])


def fault_options(command: _Command) -> _Command:
    """The options that say how faults are printed and which of them count."""
    options = (
        click.option(
            "--format",
            "form",
            type=click.Choice(_FORMATS),
            default="text",
            help="How faults are printed: as text, JSON, SARIF or annotations on GitHub.",
        ),
        click.option("--json", "form", flag_value="json", help="The same as --format json."),
        click.option("--strict", is_flag=True, help="Exit with 1 for warnings too."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def report_faults(
    files: Sequence[str],
    find: Callable[[str], Iterable[Diagnostic]],
    *,
    form: str,
    strict: bool,
    fix: Callable[[str], object] | None = None,
    together: Callable[[], Iterable[Diagnostic]] = tuple,
) -> None:
    """Print the faults of files, count them, and leave with the exit code that they make.

    Args:
        files: the files, folders and globs that were named.
        find: the faults of one file.
        form: how they are printed.
        strict: warnings count as errors do.
        fix: fixes a file before; None for no.
        together: the faults of all files, once each of them was read.
    """
    if fix and STDIN in files:
        raise click.UsageError("--fix writes files, so it cannot be used with standard input")
    faults: list[Diagnostic] = []
    known: set[object] = set()

    def spot(fault: Diagnostic) -> object:
        """Where a fault is: of a file that several import, each is told once."""
        return fault.code, os.path.realpath(fault.filename or STDIN), fault.span or fault.path

    def judge(file: str) -> None:
        try:
            if fix:
                fix(file)
            found = [*find(file)]
        except GramDecodeError as error:  # not UTF-8
            found = [syntax_fault(error)]
        new = [each for each in found if spot(each) not in known]
        known.update(map(spot, new))
        faults.extend(new)

    tally = each_file(files, judge)
    faults.extend(together())
    if only_errors(faults) or (strict and any(each.severity == "warning" for each in faults)):
        tally.code = max(tally.code, NO)
    if faults or form != "text":
        from .terminal.faults_shown import show_faults  # imported late: good programs need none

        show_faults(faults, form)
    _summarize(faults, len(tally.rows))
    tally.leave()


def fix_file(file: str, find: Callable[[Document], Iterable[Diagnostic]]) -> None:
    """Write a file with all fixes: mending one fault may show another behind it.

    Args:
        file: the file.
        find: the faults of a document.
    """

    def mended(text: str, name: str) -> str:
        while True:
            found = read_faulty(text, name)
            if isinstance(found, Document):
                after = apply_fixes(found, find(found))
            else:
                after = apply_fixes(text, found)
            if after == text:
                return text
            text = after

    rewrite(file, mended)


def judge_together(
    documents: Mapping[Path, Document], find: Callable[[Project], Iterable[Diagnostic]]
) -> Iterator[Diagnostic]:
    """What is found in documents that are judged together, with the files that they import.

    Args:
        documents: the documents by their paths, links followed.
        find: what is found in a program of several files.
    """
    names = {each.filename for each in documents.values()}  # others are only imported
    found = (each for program in load_together(documents) for each in find(program))
    return (each for each in found if each.filename in names)


def project_levels() -> Mapping[str, Level]:
    """How much findings matter in the project of the current folder, by their codes."""
    project = find_project()
    return project.levels if project else {}


def read_faulty(text: str, name: str) -> Document | tuple[Diagnostic, ...]:
    """The document that a text is, or its syntax errors."""
    try:
        return parse_program(text, name)
    except GramDecodeError:
        from gram import syntax_errors  # imported late: it loads all explanations

        return tuple(map(syntax_fault, syntax_errors(text, name)))


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
