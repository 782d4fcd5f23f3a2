"""``gram test``: run the cases of files, and say which runs are not what they expect."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import click
from attrs import fields

from gram.words import counted

from ...errors import ConfigurationError
from ...evaluation.cases import RubricJudge
from ..case_run import CaseRun
from ..completion.completing import complete_model
from ..inputs.file_options import agent_option, checks_option, json_option
from ..inputs.options import RunningOptions, options_of
from ..inputs.reading import read_program
from ..process import interruptible
from ..terminal.case_report import Report
from ..terminal.output import expect_a_file, expect_a_name, expect_other_file, note


def _share(
    context: click.Context, option: click.Parameter, given: str | None
) -> tuple[int, int] | None:
    """How many of how many runs have to pass."""
    if given is None:
        return None
    found = re.fullmatch(r"(\d+)/(\d+)", given)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise click.BadParameter("write K/N, such as 4/5: at least 4 of 5 runs", context, option)
    return int(found[1]), int(found[2])


@click.command("test")
@click.argument("files", nargs=-1, required=True)
@click.option("--program", metavar="FILE", help="The program, instead of those of the cases.")
@agent_option
@checks_option
@click.option(
    "-k",
    "names",
    multiple=True,
    metavar="TEXT",
    help="Run only the cases whose names have this text, in capitals or not.",
)
@click.option(
    "--only", multiple=True, metavar="TAG", help="Run only the cases with one of these tags."
)
@click.option("--jobs", type=click.IntRange(1), default=1, help="How many cases run at once.")
@click.option("--repeats", type=click.IntRange(1), help="How often each case is run.")
@click.option(
    "--at-least",
    metavar="K/N",
    callback=_share,
    help="How many of the N runs of a case have to pass; all of them by default.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="COLUMN",
    help="Say how often runs pass for each value of this column, or tags.",
)
@click.option("--judge", metavar="FILE", help="The agent that judges rubrics; else a built-in one.")
@click.option(
    "--judge-model",
    metavar="PROVIDER/NAME",
    shell_complete=complete_model,
    help="The model that judges rubrics; by default that of the judge, or the program's.",
)
@click.option(
    "--recordings",
    "record",
    type=click.Choice(["once", "changed", "none", "all"]),
    help="Record runs and replay them: those without a recording are recorded (once), what they "
    "ask otherwise than their recording too (changed), none, or all of them anew. Without it, "
    "nothing is recorded or replayed.",
)
@click.option(
    "--recordings-in",
    "recordings",
    metavar="DIR",
    help="Where recordings are, with --recordings; the folder recordings beside a file by default.",
)
@json_option
@click.option("--junit", metavar="FILE", help="Write JUnit XML to this file.")
@options_of(RunningOptions)
def command(
    files: tuple[str, ...],
    names: tuple[str, ...],
    jobs: int,
    by: tuple[str, ...],
    as_json: bool,
    junit: str | None,
    options: RunningOptions,
    **given: Any,
) -> None:
    """Run the cases in FILES, and say which runs are not what they expect.

    FILES are .jsonl, .csv or .gram files with cases, folders of .gram files, and globs. A case has
    an input, and what is expected of the run: its answer, its calls of tools, what a judge says,
    its limits, checks by name. Nothing runs before all files are read and found valid. Exits with 1
    if a case does not pass.
    """
    if "-" in files:
        raise click.UsageError("cases are read from files, whose endings say what they are")
    expect_a_file(junit, "--junit")
    expect_other_file(junit)
    expect_a_name(given["recordings"], "--recordings-in")
    if given["recordings"] and not given["record"]:
        raise click.UsageError("--recordings-in needs --recordings once, changed, none or all")
    options.expect_unattended()

    found = _case_run(files, names, options, **given)
    expect_other_file(junit, *found.files)
    if free := found.expecting_nothing():
        note(
            f"note: any answer passes {counted(len(free), 'case')}, the first at {free[0].place}; "
            "expected, contains, calls and checks are some of what a case may expect"
        )
    report = Report(found.cases, found.at_least, found.repeats, by, as_json=as_json, junit=junit)
    with interruptible():
        found.run(report, jobs)


def read_case_run(words: Sequence[str]) -> CaseRun:
    """The cases that words of the command name, read and found valid; for pytest.

    Raises:
        ClickException: the words are wrong use of the command.
        GramError, OSError: something is wrong with a file.
    """
    given = command.make_context("test", [*words]).params
    options = RunningOptions(**{each.name: given.pop(each.name) for each in fields(RunningOptions)})
    for name in ("jobs", "by", "as_json", "junit"):
        del given[name]
    return _case_run(options=options, **given)


def _case_run(
    files: Sequence[str],
    names: Sequence[str],
    options: RunningOptions,
    *,
    repeats: int | None,
    at_least: tuple[int, int] | None,
    judge: str | None,
    judge_model: str | None,
    **given: Any,
) -> CaseRun:
    """The cases of files, read and found valid, as the options say that they are run."""
    if at_least and repeats not in (None, at_least[1]):
        written = f"{at_least[0]}/{at_least[1]}"
        raise click.UsageError(f"--at-least {written} is of {at_least[1]} runs, not of {repeats}")
    runs = repeats or (at_least[1] if at_least else 1)
    found = CaseRun(
        options,
        repeats=runs,
        at_least=at_least[0] if at_least else runs,
        judge=_judge(judge, judge_model, options),
        **given,
    )
    found.read(files, names)
    return found


def _judge(file: str | None, model: str | None, options: RunningOptions) -> RubricJudge:
    if file is not None:
        chosen = model or (options.named_model if options.offline else None)
        try:
            return RubricJudge(read_program(file), model=chosen)
        except ConfigurationError as error:
            raise click.UsageError(f"--judge {file}: {error}") from None
    if model is not None:
        return RubricJudge(model=model)
    where = {"base_url": options.base_url, "dialect": options.dialect}
    return RubricJudge(model=options.of_new_run.get("model"), options=where)
