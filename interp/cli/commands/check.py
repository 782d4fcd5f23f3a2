"""Commands that judge files: ``check`` reports what is wrong, ``lint`` what is doubtful."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import click

import gram
from gram import Diagnostic, Document, GramDecodeError, Source, Subject, apply_fixes
from gram.checks import syntax_fault
from gram.diagnostics import only_errors
from gram.documents import resolved
from gram.words import counted
from lenses_ext import Project, load_project, parse_program
from lenses_ext.names import diagnose, find_runnables, load_together, shared_tools
from lenses_ext.rules import NAMESAKES, with_levels

from ...models import OfferedCheck, check_program, lint_program
from ..each_file import each_file, rewrite
from ..failures import NO
from ..inputs.declaring import Options, given_by, option, options_of, stdin_filename_option
from ..inputs.files import STDIN, read_text
from ..inputs.project import project_levels
from ..terminal.console import forbid, note

_TABLES = (".csv", ".jsonl")
"""The endings of files that have cases and nothing else."""

_WORDS = {"error": "error", "warning": "warning", "info": "remark"}
"""What faults of each severity are called where they are counted."""


def _format_option(command: Callable[..., Any]) -> Callable[..., Any]:
    forms = click.Choice(("text", "json", "sarif", "github"))
    said = "How faults are printed: as text, JSON, SARIF or annotations on GitHub."
    as_json = click.option("--json", "form", flag_value="json", help="The same as --format json.")
    return click.option("--format", "form", type=forms, default="text", help=said)(as_json(command))


class _FaultOptions(Options):
    form: str = given_by(_format_option)
    strict: bool = option("Exit with 1 for warnings too.")
    stdin_filename: str | None = stdin_filename_option


class _CheckOptions(_FaultOptions):
    fix: bool = option("First fix what can be fixed without changing trees.")
    models: bool = option("Also ask servers, over the network, whether they offer the models.")


class _LintOptions(_FaultOptions):
    fix: bool = option("First correct the names of tools in instructions.")


@click.command("check")
@click.argument("files", nargs=-1, required=True)
@options_of(_CheckOptions)
def check_command(files: tuple[str, ...], options: _CheckOptions) -> None:
    """Report the faults in FILES; without --models no network, key or tool library is needed.

    FILES are files, folders and globs; - is standard input. Schedules, experiments and cases are
    judged, too, also cases in .csv and .jsonl. Of several files, it is told where a definition
    differs from that of the same name in another file. Exits with 1 if there is an error, with 0
    if there are only warnings. `gram lint` reports what is valid and doubtful.
    """
    asked = OfferedCheck(lambda name: note(f"asks {name} for its models")).check
    more = (asked,) if options.models else ()
    levels = project_levels()
    documents: dict[Path, Document] = {}

    def matters(program: Project, found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        return with_levels(found, program.patterns, levels)

    def find(file: str) -> tuple[Diagnostic, ...]:
        text, name = read_text(file, options.stdin_filename)
        if Path(name).suffix.lower() in _TABLES:
            return _faults_of_cases(text, name)
        found = _read_faulty(text, name)
        if not isinstance(found, Document):
            return found
        head = found.patterns[0].value if found.patterns else Subject()
        is_plan = "Experiment" in head.labels and "hash" in head.properties
        others = tuple(_others(found, is_plan))
        if is_plan:  # it repeats an agent for each arm
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
        return _judge_together(some, lambda it: matters(it, diagnose(it, (NAMESAKES,))))

    mend = partial(_fix_file, find=check_program) if options.fix else None
    _report_faults(files, find, options, fix=mend, together=drifted)


@click.command("lint")
@click.argument("files", nargs=-1, required=True)
@options_of(_LintOptions)
def lint_command(files: tuple[str, ...], options: _LintOptions) -> None:
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
        found = _read_faulty(*read_text(file, options.stdin_filename))
        if not isinstance(found, Document):
            return found
        if file == STDIN:  # a text opens no files
            return doubts(found)
        documents[resolved(Path(file))] = found
        return ()

    def mend(file: str) -> None:
        where = resolved(Path(file))
        _fix_file(file, lambda document: _judge_together({where: document}, doubts))

    together = partial(_judge_together, documents, doubts)
    _report_faults(files, find, options, fix=mend if options.fix else None, together=together)


def _report_faults(
    files: Sequence[str],
    find: Callable[[str], Iterable[Diagnostic]],
    options: _FaultOptions,
    *,
    fix: Callable[[str], object] | None,
    together: Callable[[], Iterable[Diagnostic]],
) -> None:
    """Print the faults of files, count them, and leave with the exit code that they make.

    Args:
        files: the files, folders and globs that were named.
        find: the faults of one file.
        options: how they are printed, and whether warnings count as errors do.
        fix: fixes a file before; None for no.
        together: the faults of all files, once each of them was read.
    """
    forbid(fix and STDIN in files, "--fix writes files, so it cannot be used with standard input")
    faults: dict[object, Diagnostic] = {}

    def add(fault: Diagnostic) -> None:
        """Of a file that several import, each fault is told once."""
        where = os.path.realpath(fault.filename or STDIN)
        faults.setdefault((fault.code, where, fault.span or fault.path, fault.message), fault)

    def judge(file: str) -> None:
        try:
            if fix:
                fix(file)
            found = [*find(file)]
        except GramDecodeError as error:  # not UTF-8
            found = [syntax_fault(error)]
        for each in found:
            add(each)

    tally = each_file(files, judge)
    for each in together():
        add(each)
    found = [*faults.values()]
    if only_errors(found) or (options.strict and any(it.severity == "warning" for it in found)):
        tally.code = max(tally.code, NO)
    if found or options.form != "text":
        from ..terminal.faults_shown import show_faults  # imported late: good programs need none

        show_faults(found, options.form)
    if found:
        counts = Counter[str](each.severity for each in found)
        said = [counted(counts[kind], word) for kind, word in _WORDS.items() if counts[kind]]
        fixable = sum(bool(each.fix) for each in found)
        hint = f"; {fixable} can be fixed with --fix" if fixable else ""
        note(f"{', '.join(said)} in {counted(len(tally.rows), 'file')}{hint}")
    tally.leave()


def _fix_file(file: str, find: Callable[[Document], Iterable[Diagnostic]]) -> None:
    """Write a file with all fixes: mending one fault may show another behind it.

    Args:
        file: the file.
        find: the faults of a document.
    """

    def mended(text: str, name: str) -> str:
        while True:
            found = _read_faulty(text, name)
            faults = find(found) if isinstance(found, Document) else found
            after = apply_fixes(found if isinstance(found, Document) else text, faults)
            if after == text:
                return text
            text = after

    rewrite(file, mended)


def _judge_together(
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


def _read_faulty(text: str, name: str) -> Document | tuple[Diagnostic, ...]:
    """The document that a text is, or its syntax errors."""
    try:
        return parse_program(text, name)
    except GramDecodeError:
        return tuple(
            map(syntax_fault, gram.syntax_errors(text, name))
        )  # loaded when it is asked for


def _others(document: Document, is_plan: bool) -> Iterator[Diagnostic]:
    """What is wrong with the cases, schedules and experiments that are in a document.

    Args:
        document: the document.
        is_plan: whether it is the plan of an experiment that has begun.
    """
    labels = {label for each in document.patterns for label in each.value.labels}
    if "Case" in labels and not is_plan:
        yield from _faults_of_cases(document.text, document.filename or "<stdin>.gram")
    if "Experiment" in labels:
        from ...evaluation.experiments import experiment_faults

        yield from experiment_faults(document)
    if "Schedule" in labels:
        from ...workers import schedule_faults  # imported late: few files have some

        yield from schedule_faults(document)
    is_program = find_runnables(document) or shared_tools(document)
    if not (labels & {"Case", "Schedule", "Experiment"} or is_program):
        note(f"{document.filename}: no agent here, checked as plain data")


def _faults_of_cases(text: str, name: str) -> tuple[Diagnostic, ...]:
    from ...evaluation.cases import case_faults  # imported late: few files have some

    return case_faults(Source(text, name))
