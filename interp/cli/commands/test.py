"""``gram test``: run the cases of files, and say which runs are not what they expect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from attrs import fields

from gram.plurals import counted

from ..completion.completing import complete_files
from ..inputs.file_options import agent_option, checks_option, json_option
from ..inputs.options import SERVERS_REHEARSED, RunningOptions, options_of
from ..process import interruptible
from ..terminal.output import note
from ..terminal.output_files import expect_a_file, expect_a_name, expect_other_file

if TYPE_CHECKING:
    from ...evaluation.testing import Mode
    from ..case_run import CaseRun


@click.command("test")
@click.argument("files", nargs=-1, required=True, shell_complete=complete_files)
@click.option(
    "--program",
    metavar="FILE",
    shell_complete=complete_files,
    help="The program, instead of those that the cases name.",
)
@agent_option
@checks_option
@click.option(
    "-k",
    "names",
    multiple=True,
    metavar="TEXT",
    help="Run the cases alone whose names have TEXT, or texts joined with and, or, not, brackets.",
)
@click.option("--jobs", type=click.IntRange(1), default=1, help="How many cases run at once.")
@click.option(
    "--recordings",
    "record",
    type=click.Choice(["once", "none", "all"]),
    help="Record runs and replay them: those without a recording are recorded (once), none, or "
    "all of them anew. Without it, nothing is recorded or replayed.",
)
@click.option(
    "--recordings-in",
    "recordings",
    metavar="DIR",
    shell_complete=complete_files,
    help="Where recordings are, with --recordings; the folder recordings beside a file by default.",
)
@json_option
@click.option(
    "--junit", metavar="FILE", shell_complete=complete_files, help="Write JUnit XML to this file."
)
@options_of(RunningOptions)
def command(
    files: tuple[str, ...],
    program: str | None,
    agent: str | None,
    checks: tuple[str, ...],
    names: tuple[str, ...],
    jobs: int,
    record: Mode | None,
    recordings: str | None,
    as_json: bool,
    junit: str | None,
    options: RunningOptions,
) -> None:
    """Run the cases in FILES, and say which runs are not what they expect.

    FILES are .jsonl, .csv or .gram files with cases, folders of .gram files, and globs. A case has
    an input, and what is expected: the answer, the calls of tools, checks by name. Nothing runs
    before all files are read and found valid. Exits with 1 if a case does not pass.
    """
    if "-" in files:
        raise click.UsageError("cases are read from files, whose endings say what they are")
    expect_a_file(junit, "--junit")
    expect_other_file(junit)
    expect_a_name(recordings, "--recordings-in")
    if recordings and not record:
        raise click.UsageError("--recordings-in needs --recordings once, none or all")
    if options.approve == "ask":
        raise click.UsageError("--approve ask: nobody is asked in a test; write all or none")
    if options.asks_before_servers:
        raise click.UsageError(SERVERS_REHEARSED)
    from ..case_run import CaseRun
    from ..terminal.case_report import Report  # imported late: completion needs the options alone

    found = CaseRun(options, program, agent, record, recordings, checks)
    found.read(files, names)
    expect_other_file(junit, *found.files)
    for each in found.unused():
        note(f"note: no case uses {each} any more")
    if free := found.expecting_nothing():
        note(
            f"note: any answer passes {counted(len(free), 'case')}, the first at {free[0].place}; "
            "expected, calls and checks are what a case expects"
        )
    with interruptible():
        found.run(Report(found.cases, as_json=as_json, junit=junit), jobs)


def read_case_run(words: Sequence[str]) -> CaseRun:
    """The cases that words of the command name, read and found valid; for pytest.

    Raises:
        ClickException: the words are wrong use of the command.
        GramError, OSError: something is wrong with a file.
    """
    from ..case_run import CaseRun  # imported late, as above

    given = command.make_context("test", [*words]).params
    options = RunningOptions(**{each.name: given[each.name] for each in fields(RunningOptions)})
    arguments = (given[each] for each in ("program", "agent", "record", "recordings", "checks"))
    found = CaseRun(options, *arguments)
    found.read(given["files"], given["names"])
    return found
