"""``gram ab``: run the same cases through several arms, and compare them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gram.plurals import counted
from gram.suggestions import did_you_mean

from ..completion.completing import (
    behind_arm,
    complete_arm,
    complete_document,
    complete_edit,
    complete_files,
    complete_limit,
    complete_metric,
    complete_model,
    complete_primary,
    complete_servers,
    complete_setting,
    complete_tools,
)
from ..inputs.file_options import agent_option, checks_option, json_option
from ..inputs.options import (
    OFFLINE_CALLS_NOBODY,
    POLICIES,
    SERVERS_REHEARSED,
    dialect_option,
    match_option,
    read_limits,
    read_settings,
)
from ..process import interruptible
from ..terminal.output import is_quiet, note, show, show_json, tell
from ..terminal.output_files import expect_a_file, expect_a_name, expect_other_file, expect_writable

if TYPE_CHECKING:
    from gram import Pattern

    from ...evaluation.experiments import Arm, Experiment, MetricLike, Plan, Trial

_FOLDER = ".ab"  # the ending of folders that nobody has named


@click.command("ab")
@click.argument("files", nargs=-1, shell_complete=complete_files)
@click.option(
    "--cases", metavar="FILE", shell_complete=complete_files, help="The cases: .jsonl, .csv, .gram."
)
@click.option(
    "--arm",
    "named",
    multiple=True,
    shell_complete=complete_arm,
    metavar="NAME[=FILE]",
    help="An arm by name; without a file, the program is the one that the cases name.",
)
@click.option(
    "--model",
    "models",
    multiple=True,
    shell_complete=behind_arm(complete_model),
    metavar="[ARM:]PROVIDER/NAME",
    help="Use this model instead of the program's, in all arms or in one.",
)
@click.option("--offline", is_flag=True, help="Rehearse without a model, key or network.")
@click.option("--base-url", metavar="URL", help="The address of the server to use.")
@dialect_option
@click.option(
    "--set",
    "settings",
    multiple=True,
    shell_complete=behind_arm(complete_setting),
    metavar="[ARM:]NAME=VALUE",
    help="A setting of the model, such as temperature=0.2, in all arms or in one.",
)
@click.option(
    "--edit",
    "edits",
    multiple=True,
    shell_complete=behind_arm(complete_edit),
    metavar="[ARM:]PATH=VALUE",
    help="Change the agent as gram set does, in all arms or in one; no file changes.",
)
@click.option(
    "--tools",
    multiple=True,
    shell_complete=behind_arm(complete_tools),
    metavar="[ARM:]FILE.py[:NAME]",
    help="A Python file with the tools, of all arms or of one; it is run anew for each run.",
)
@click.option(
    "--mcp",
    multiple=True,
    shell_complete=behind_arm(complete_servers),
    metavar="[ARM:]CMD|URL|FILE.json[:NAME]",
    help="An MCP server, of all arms or of one; it is started anew for each run.",
)
@click.option(
    "--openapi",
    multiple=True,
    shell_complete=behind_arm(complete_document),
    metavar="[ARM:][NAME=VALUE…] FILE|URL",
    help="An OpenAPI document, whose operations are tools, of all arms or of one.",
)
@match_option
@agent_option
@click.option(
    "--limit",
    "limits",
    multiple=True,
    shell_complete=complete_limit,
    metavar="NAME=NUMBER",
    help="A limit of each run, such as iterations=3 or run_seconds=60.",
)
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
    --cases cases.jsonl. One file can be several arms: --arm NAME=FILE, with --model, --set, --edit,
    --tools, --mcp and --openapi for one of them.

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
    offline, approve = given["offline"], given["approve"]
    if offline and given["models"]:
        raise click.UsageError("--offline cannot be used together with --model")
    if offline and given["openapi"]:
        raise click.UsageError(OFFLINE_CALLS_NOBODY)
    if offline and given["mcp"] and approve is None:
        raise click.UsageError(SERVERS_REHEARSED)
    from ...evaluation.experiments import Arm
    from ...models import OFFLINE
    from ..inputs.reading import library_of_one_run

    programs = _programs(files, given["named"])
    for option, name in (("--set", "settings"), ("--edit", "edits"), ("--model", "models")):
        for each in given[name]:
            _expect_arm(option, each, programs)
    arms = {}
    for name, program in programs.items():

        def mine(option: str, name: str = name) -> tuple[str, ...]:
            return tuple(_of_arm(given[option], name=name, names=programs))

        model = [*mine("models"), *([str(OFFLINE)] if offline else [])]
        libraries = (mine("tools"), mine("mcp"), mine("openapi"))
        arms[name] = Arm(
            program,
            partial(library_of_one_run, *libraries, offline=offline),
            model[-1] if model else None,
            read_settings(mine("settings")) or None,
            [_edit(each) for each in mine("edits")],
            given["agent"],
            given["base_url"],
            given["dialect"],
            read_limits(given["limits"]),
            given["match"],
            POLICIES[approve or "all"],
        )
    return arms


def _programs(files: tuple[str, ...], named: tuple[str, ...]) -> dict[str, str | None]:
    """The file of each arm by its name; None where the cases name the program."""
    given: list[tuple[str, str | None]] = [(Path(each).stem, each) for each in files]
    for each in named:
        name, _, file = each.partition("=")
        given.append((name, file or None))
    found = dict(given)
    if not found:
        raise click.UsageError("name the arms: FILES, or --arm NAME=FILE")
    if len(found) < len(given):
        names = [name for name, _ in given]
        twice = next(name for name in names if names.count(name) > 1)
        raise click.UsageError(f"two arms are named {twice}; name them with --arm NAME=FILE")
    return found


def _expect_arm(option: str, given: str, names: Iterable[str]) -> None:
    """Refuse ``NAME:`` before a value that is no arm's; names of models may have a colon."""
    arm, colon, _ = given.partition(":")
    if colon and arm not in names and not set(arm) & set("=/"):
        hint = did_you_mean(arm, tuple(names)) or f"the arms are {', '.join(names)}"
        raise click.UsageError(f"{option} {given}: no arm is named {arm}\nhint: {hint}")


def _of_arm(options: Iterable[str], *, name: str, names: Iterable[str]) -> Iterable[str]:
    """The values of an option that are for one arm, or for all of them; its own come last."""
    shared, own = [], []
    for each in options:
        arm, colon, value = each.partition(":")
        if not colon or arm not in names:
            shared.append(each)
        elif arm == name:
            own.append(value)
    return [*shared, *own]


def _edit(given: str) -> Any:
    path, equals, text = given.partition("=")
    if not equals:
        raise click.UsageError(f"--edit {given}: write PATH=VALUE")

    def edited(agent: Pattern) -> Pattern:
        from lenses_ext import change_places, find_places

        from ..edits import read_value

        places = find_places((agent,), path)
        (new,) = change_places((agent,), [(each, partial(read_value, text)) for each in places])
        return new

    return edited


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
