"""``gram ab``: run the same cases through several arms, and compare them."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gram.plurals import counted

from ..completion.completing import (
    complete_files,
    complete_metric,
    complete_primary,
    complete_tools,
)
from ..inputs.file_options import agent_option, checks_option, json_option
from ..inputs.options import (
    OFFLINE_CALLS_NOBODY,
    POLICIES,
    SERVERS_REHEARSED,
    RunningOptions,
    read_limits,
    read_settings,
    shared_options,
)
from ..process import interruptible
from ..terminal.output import is_quiet, note, show, show_json, tell
from ..terminal.output_files import expect_a_file, expect_a_name, expect_other_file, expect_writable

if TYPE_CHECKING:
    from ...evaluation.experiments import Arm, Experiment, MetricLike, Plan, Trial

_FOLDER = ".ab"  # the ending of folders that nobody has named


@click.command("ab")
@click.argument("files", nargs=-1, shell_complete=complete_files)
@click.option(
    "--cases", metavar="FILE", shell_complete=complete_files, help="The cases: .jsonl, .csv, .gram."
)
@shared_options(RunningOptions, "offline model settings limits base_url dialect mcp openapi match")
@click.option(
    "--tools",
    multiple=True,
    shell_complete=complete_tools,
    metavar="FILE.py[:NAME]",
    help="A Python file with the tools; it is run anew for each run.",
)
@agent_option
@click.option(
    "--approve",
    type=click.Choice(["all", "none"]),
    help="Which tool calls may run: all (the default) or none.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_metric,
    help="What is tested: passed (the default), exact, schema (the answer is of its declared type, "
    "or with schema=FILE.json of that schema), calls, rounds, tokens, input_tokens, "
    "output_tokens, cost, seconds, or functions of a run, as FILE.py[:NAME].",
)
@click.option(
    "--judge",
    "judges",
    multiple=True,
    shell_complete=complete_files,
    metavar="FILE",
    help="An agent that judges each answer: its typed answer is a boolean or a number.",
)
@click.option(
    "--judge-tools",
    multiple=True,
    shell_complete=complete_tools,
    metavar="FILE.py[:NAME]",
    help="A Python file with the tools of the judges; the built-in ones by default.",
)
@click.option(
    "--primary",
    metavar="NAME",
    shell_complete=complete_primary,
    help="The metric that decides; the first by default.",
)
@checks_option
@click.option(
    "--repeats", type=click.IntRange(1), default=1, help="How often each arm runs a case."
)
@click.option("--seed", type=click.IntRange(0), help="Draws the order; drawn itself by default.")
@click.option(
    "--difference", type=float, help="The smallest difference that would matter, such as 0.1."
)
@click.option(
    "--out",
    metavar="DIR",
    shell_complete=complete_files,
    help="The folder of the experiment; named after the arms by default.",
)
@click.option("--jobs", type=click.IntRange(1), default=4, help="How many runs go on at once.")
@click.option(
    "--html",
    metavar="FILE",
    shell_complete=complete_files,
    help="Write a report to this file, and pages of the runs that differ beside it.",
)
@json_option
def command(
    files: tuple[str, ...], cases: str | None, html: str | None, as_json: bool, **given: Any
) -> None:
    """Run the same cases through several programs, and compare what comes out.

    Each of FILES is an arm, the first is what the others are compared with: gram ab A.gram B.gram
    --cases cases.jsonl. The options are for all of them.

    A plan is written before anything runs, and every run is recorded. After Ctrl-C the same
    command goes on. gram ab DIR shows an experiment again, without running anything.
    """
    expect_a_file(html, "--html")
    expect_a_name(given["out"], "--out")
    expect_other_file(html)
    with interruptible():
        if html is not None:
            expect_writable(html)
        found = _shown_again(files) if cases is None else _run(files, cases, **given)
    if html is not None:
        found.write_html(html)
    if as_json:
        show_json(found.to_json())
    else:
        show(found.table())


def _shown_again(files: tuple[str, ...]) -> Experiment:
    if len(files) == 1 and not Path(files[0]).exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), files[0])
    if len(files) != 1 or not Path(files[0]).is_dir():
        raise click.UsageError("name the cases with --cases FILE, or the folder of an experiment")
    from ...evaluation.experiments import load_experiment

    return load_experiment(files[0])


def _run(files: tuple[str, ...], cases: str, **given: Any) -> Experiment:
    from ...evaluation.experiments import ab
    from ..inputs.reading import read_checks

    arms = _arms(files, given)
    folder = given["out"] or f"{'-'.join(arms)}{_FOLDER}".replace("/", "-")
    judges, offline = given["judges"], given["offline"]
    measured = _metrics(given["metrics"]) or ([] if judges else ["passed"])
    judged = [_judge(each, given["judge_tools"], offline) for each in judges]
    plain = ("primary", "repeats", "seed", "difference", "jobs")
    try:
        return ab(
            cases,
            arms,
            [*measured, *judged],
            checks=read_checks(given["checks"]),
            out=folder,
            progress=False if is_quiet() else None,
            on_plan=partial(_tell_plan, folder),
            **{name: given[name] for name in plain},
        )
    except BaseException as stopped:  # told what is kept, and raised again
        for each in getattr(stopped, "__notes__", ()):
            tell(each.replace("the same call", "the same command"))
        raise


def _tell_plan(folder: str, plan: Plan, done: tuple[Trial, ...]) -> None:
    from ...evaluation.experiments import before_running

    left = len(plan.keys) - len(done)
    begun = f", {len(done)} of them are done" if done else ""
    runs = counted(len(plan.keys), "run")
    note(f"{runs}{begun}; plan {plan.hash[:8]} (seed {plan.seed}) in {folder}")
    for each in before_running(plan) if left else ():
        note(f"note: {each}")


# --- the arms


def _arms(files: tuple[str, ...], given: Mapping[str, Any]) -> dict[str, Arm]:
    from ...evaluation.experiments import Arm

    if not files:
        raise click.UsageError("name the programs: gram ab A.gram B.gram --cases FILE")
    names = [Path(each).stem for each in files]
    for name in names:
        if names.count(name) > 1:
            raise click.UsageError(f"two arms are named {name}: give one of the files another name")
    base = _base(given)
    return {name: Arm(file).over(base) for name, file in zip(names, files, strict=True)}


def _base(given: Mapping[str, Any]) -> Arm:
    """What the options say of all arms."""
    offline, approve = given["offline"], given["approve"]
    if offline and given["model"]:
        raise click.UsageError("--offline cannot be used together with --model")
    if offline and given["openapi"]:
        raise click.UsageError(OFFLINE_CALLS_NOBODY)
    if offline and given["mcp"] and approve is None:
        raise click.UsageError(SERVERS_REHEARSED)
    from ...evaluation.experiments import Arm
    from ...models import OFFLINE
    from ..inputs.reading import library_of_one_run

    libraries = (given["tools"], given["mcp"], given["openapi"])
    return Arm(
        tools=partial(library_of_one_run, *libraries, offline=offline),
        model=str(OFFLINE) if offline else given["model"],
        settings=read_settings(given["settings"]) or None,
        agent=given["agent"],
        base_url=given["base_url"],
        dialect=given["dialect"],
        limits=read_limits(given["limits"]),
        match=given["match"],
        policy=POLICIES[approve or "all"],
    )


# --- the metrics


def _metrics(names: tuple[str, ...]) -> list[MetricLike]:
    from ..inputs.reading import read_checks

    found: list[MetricLike] = []
    for each in names:
        if each.startswith("schema="):
            found.append(_schema(each.removeprefix("schema=")))
        elif each.endswith(".py") or ".py:" in each:
            found += read_checks([each]).values()
        else:
            found.append(each)
    return found


def _schema(file: str) -> MetricLike:
    from ...errors import ConfigurationError, ValidationError
    from ...evaluation.experiments import matches_schema
    from ...json_text import read_json
    from ..inputs.reading import read_text

    text, name = read_text(file)
    try:
        schema = read_json(text)
        if not isinstance(schema, dict):
            raise ConfigurationError(f"{name}: a JSON Schema is an object")
        return matches_schema(schema)
    except ValueError as error:
        raise ConfigurationError(f"{name}: not JSON: {error}") from None
    except ValidationError as error:
        raise ConfigurationError(f"{name}: {error}") from None


def _judge(file: str, tools: tuple[str, ...], is_offline: bool) -> MetricLike:
    from ...errors import ToolBindingError
    from ...evaluation.experiments import judged_by
    from ...models import OFFLINE
    from ..inputs.reading import read_libraries, read_program

    name = Path(file).stem
    try:
        return judged_by(
            read_program(file),
            read_libraries(tools),
            name=name,
            model=OFFLINE if is_offline else None,
        )
    except ToolBindingError as error:
        hint = "hint: --judge-tools FILE.py names the tools of judges; --tools are those of arms"
        raise ToolBindingError([*error.problems, *([] if tools else [hint])]) from None
