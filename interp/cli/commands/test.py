"""``gram test``: run the cases of files, and say which runs are not what they expect."""

from __future__ import annotations

from collections.abc import Sequence

import click
from attrs import fields

from gram.words import counted

from ..case_run import CaseOptions, CaseRun
from ..inputs.declaring import options_of
from ..process import interruptible
from ..terminal.output import expect_other_file, note


@click.command("test")
@click.argument("files", nargs=-1, required=True)
@options_of(CaseOptions)
def command(files: tuple[str, ...], options: CaseOptions) -> None:
    """Run the cases in FILES, and say which runs are not what they expect.

    FILES are .jsonl, .csv or .gram files with cases, folders of .gram files, and globs. A case has
    an input, and what is expected of the run: its answer, its calls of tools, what a judge says,
    its limits, checks by name. Nothing runs before all files are read and found valid. Exits with 1
    if a case does not pass.
    """
    if "-" in files:
        raise click.UsageError("cases are read from files, whose endings say what they are")
    expect_other_file(options.junit)
    found = CaseRun(options)
    found.read(files)
    expect_other_file(options.junit, *found.files)
    if free := found.expecting_nothing():
        note(
            f"note: any answer passes {counted(len(free), 'case')}, the first at {free[0].place}; "
            "expected, contains, calls and checks are some of what a case may expect"
        )
    with interruptible():
        found.run()


def read_case_run(words: Sequence[str]) -> CaseRun:
    """The cases that words of the command name, read and found valid; for pytest.

    Raises:
        ClickException: the words are wrong use of the command.
        GramError, OSError: something is wrong with a file.
    """
    given = command.make_context("test", [*words]).params
    found = CaseRun(CaseOptions(**{each.name: given[each.name] for each in fields(CaseOptions)}))
    found.read(given["files"])
    return found
