"""``gram check``: report the faults in files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import click

from gram import Diagnostic, Document, Source, Subject
from gram.documents import resolved
from lenses_ext import Project, load_project
from lenses_ext.names import diagnose, find_runnables, shared_tools
from lenses_ext.rules import NAMESAKES, with_levels

from ...models import OfferedCheck, check_program
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
from ..terminal.output import note

_TABLES = (".csv", ".jsonl")
"""The endings of files that have cases and nothing else."""


@click.command("check")
@click.argument("files", nargs=-1, required=True)
@fault_options
@click.option("--fix", is_flag=True, help="First fix what can be fixed without changing trees.")
@click.option(
    "--models",
    "asks",
    is_flag=True,
    help="Also ask servers, over the network, whether they offer the models.",
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

    FILES are files, folders and globs; - is standard input. Schedules, experiments and cases are
    judged, too, also cases in .csv and .jsonl. Of several files, it is told where a definition
    differs from that of the same name in another file. Exits with 1 if there is an error, with 0
    if there are only warnings. `gram lint` reports what is valid and doubtful.
    """
    more = (OfferedCheck(lambda name: note(f"asks {name} for its models")).check,) if asks else ()
    levels = project_levels()
    documents: dict[Path, Document] = {}

    def matters(program: Project, found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        return with_levels(found, program.patterns, levels)

    def find(file: str) -> tuple[Diagnostic, ...]:
        text, name = read_text(file, stdin_filename)
        if Path(name).suffix.lower() in _TABLES:
            return _faults_of_cases(text, name)
        found = read_faulty(text, name)
        if not isinstance(found, Document):
            return found
        others = tuple(_others(found))
        _note(found)
        if _is_plan(found):  # it repeats an agent for each arm
            return others
        if file == STDIN:
            program = Project.of(found)
        else:
            documents[resolved(Path(file))] = found
            program = load_project(file, {Path(file): found})
        return (*matters(program, check_program(program, *more)), *others)

    def drifted() -> Iterator[Diagnostic]:
        """Where a definition differs from its namesake in another of the files."""
        some = documents if len(documents) > 1 else {}
        return judge_together(some, lambda it: matters(it, diagnose(it, (NAMESAKES,))))

    mend = partial(fix_file, find=check_program) if fix else None
    report_faults(files, find, form=form, strict=strict, fix=mend, together=drifted)


def _others(document: Document) -> Iterator[Diagnostic]:
    """What is wrong with the cases, schedules and experiments that are in a document."""
    labels = {label for each in document.patterns for label in each.value.labels}
    if "Case" in labels and not _is_plan(document):
        yield from _faults_of_cases(document.text, document.filename or "<stdin>.gram")
    if "Experiment" in labels:
        from ...evaluation.experiments import experiment_faults

        yield from experiment_faults(document)
    if "Schedule" in labels:
        from ...workers import schedule_faults  # imported late: few files have some

        yield from schedule_faults(document)


def _is_plan(document: Document) -> bool:
    """Whether it is the plan of an experiment that has begun."""
    head = document.patterns[0].value if document.patterns else Subject()
    return "Experiment" in head.labels and "hash" in head.properties


def _faults_of_cases(text: str, name: str) -> tuple[Diagnostic, ...]:
    from ...evaluation.cases import case_faults  # imported late: few files have some

    return case_faults(Source(text, name))


def _note(document: Document) -> None:
    labels = {label for each in document.patterns for label in each.value.labels}
    if labels & {"Case", "Schedule", "Experiment"}:
        return
    if not find_runnables(document) and not shared_tools(document):
        note(f"{document.filename}: no agent here, checked as plain data")
