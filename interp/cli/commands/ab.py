"""``gram ab``: run the same cases through several arms, and compare them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click
from attrs import asdict, evolve

from gram.words import counted

from ...errors import ToolBindingError
from ...evaluation.cases import RubricJudge
from ...evaluation.experiments import (
    NOT_BEGUN,
    Arm,
    Experiment,
    Forecast,
    MetricLike,
    Plan,
    Trial,
    ab,
    before_running,
    compared_by,
    compared_by_text,
    judged_by,
    load_experiment,
    metric_of,
    read_experiment,
    require_column,
    what_it_finds,
)
from ...models import OFFLINE
from ..completion.completing import (
    complete_model,
)
from ..failures import LIMIT, WAITING
from ..inputs.file_options import agent_option, checks_option, json_option
from ..inputs.options import POLICIES, ArmOptions, options_of, read_limits
from ..inputs.reading import library_of_one_run, read_checks, read_libraries, read_program
from ..process import interruptible
from ..terminal.asking import NoTerminal, ask_user
from ..terminal.output import (
    expect_a_file,
    expect_a_name,
    expect_other_file,
    expect_writable,
    is_quiet,
    note,
    show,
    show_json,
    tell,
)

_Command = TypeVar("_Command", bound=Callable[..., Any])
_FOLDER = ".ab"  # the ending of folders that nobody has named


def comparing_options(command: _Command) -> _Command:
    """Decorate a command with the options of those that run cases through programs."""
    options: tuple[Callable[[Any], Any], ...] = (
        options_of(ArmOptions),
        click.option(
            "--tools",
            multiple=True,
            metavar="[NAME=]FILE.py[:NAME]",
            help="A Python file with the tools, which is run anew for each run; with NAME=, those "
            "that an experiment or the file of a judge calls so.",
        ),
        agent_option,
        checks_option,
        click.option(
            "--judge-model",
            metavar="PROVIDER/NAME",
            shell_complete=complete_model,
            help="The model that judges the rubrics of cases; by default that of the program.",
        ),
        click.option(
            "--out",
            metavar="DIR",
            help="The folder of what is kept; named after the program or file by default.",
        ),
        click.option(
            "--jobs", type=click.IntRange(1), default=4, help="How many runs go on at once."
        ),
        json_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command("ab")
@click.argument("files", nargs=-1)
@click.option("--cases", metavar="FILE", help="The cases: .jsonl, .csv, .gram.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME|FILE",
    help="What is tested: passed (the default), exact, schema (the answer is of its declared "
    "type), calls, rounds, tokens, input_tokens, output_tokens, cost, seconds; functions of a run, "
    "as FILE.py[:NAME]; a JSON Schema of the answer, as FILE.json; or a judge, as FILE.gram: an "
    "agent whose typed answer is a boolean or a number.",
)
@comparing_options
@click.option(
    "--by",
    multiple=True,
    metavar="COLUMN",
    help="Compare the cases of each value of this column, or tags, too.",
)
@click.option("--repeats", type=click.IntRange(1), help="How often each arm runs a case.")
@click.option("--seed", type=click.IntRange(0), help="Draws the order; drawn itself by default.")
@click.option("--yes", is_flag=True, help="Run the cases after the pilot without a question.")
@click.option(
    "--html",
    metavar="FILE",
    help="Write a report to this file; beside it, pages of the runs that differ.",
)
def command(files: tuple[str, ...], html: str | None, as_json: bool, **given: Any) -> None:
    """Run the same cases through several programs, and compare what comes out.

    FILES are programs, each an arm, and the first is what the others are compared with: gram ab
    A.gram B.gram --cases cases.jsonl. Or one file with an experiment, which holds cases, arms,
    factors, metrics and a budget: gram ab experiment.gram. A few of its cases run first, as a
    pilot; it is told what the others will take and can find, and asked whether they run.

    A plan is written before anything runs, and every run is recorded. After Ctrl-C the same
    command goes on. gram ab DIR shows an experiment again, without running anything.
    """
    expect_a_file(html, "--html")
    expect_a_name(given["out"], "--out")
    expect_other_file(html)
    with interruptible():
        if html is not None:
            expect_writable(html)
        found = _experiment(files, given)
    if html is not None:
        found.write_html(html)

    if as_json:
        parts = [
            {"column": column, "value": value, **asdict(each)}
            for column in given["by"]
            for value, each in compared_by(found, column)
        ]
        show_json({**found.to_json(), **({"slices": parts} if given["by"] else {})})
    else:
        for text in (found.table(), *compared_by_text(found, given["by"])):
            show(f"{text}\n" if given["by"] else text)
    if found.stopped:
        sys.exit(WAITING if found.stopped == NOT_BEGUN else LIMIT)


def _experiment(files: tuple[str, ...], given: Mapping[str, Any]) -> Experiment:
    if given["cases"] is not None:
        return _run(_of_programs(files, given), "-".join(Path(each).stem for each in files), given)
    if len(files) != 1:
        raise click.UsageError("name the cases with --cases FILE, or the file of an experiment")
    if Path(files[0]).is_dir():
        return load_experiment(files[0])
    return _run(_of_file(files[0], given), Path(files[0]).stem, given)


def _run(arguments: Mapping[str, Any], name: str, given: Mapping[str, Any]) -> Experiment:
    folder = given["out"] or f"{name}{_FOLDER}"
    plan = partial(_tell_plan, folder, given["by"])
    with telling_what_is_kept():
        return ab(**arguments, **running_of(given), out=folder, on_plan=plan)


@contextmanager
def telling_what_is_kept() -> Iterator[None]:
    """What stops an experiment or a search says what of it is kept, in words of a command."""
    try:
        yield
    except BaseException as stopped:  # raised again
        for each in getattr(stopped, "__notes__", ()):
            tell(each.replace("the same call", "the same command"))
        raise


def _tell_plan(folder: str, columns: tuple[str, ...], plan: Plan, done: tuple[Trial, ...]) -> None:
    for column in columns:
        require_column(plan.cases, column)
    left = len(plan.keys) + len(plan.pilot_keys) - len(done)
    begun = f", {len(done)} of them are done" if done else ""
    pilot = f" and {len(plan.pilot_keys)} of a pilot" if plan.pilot else ""
    runs = counted(len(plan.keys), "run")
    note(f"{runs}{pilot}{begun}; plan {plan.hash[:8]} (seed {plan.seed}) in {folder}")
    for each in before_running(plan) if left else ():
        note(f"note: {each}")


# --- what is compared


def _of_programs(files: tuple[str, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an experiment whose arms are programs."""
    if not files:
        raise click.UsageError("name the programs: gram ab A.gram B.gram --cases FILE")
    names = [Path(each).stem for each in files]
    for name in names:
        if names.count(name) > 1:
            hint = "arms of one program are written in the file of an experiment"
            raise click.UsageError(f"two arms are named {name}\nhint: {hint}")
    if unused := _tools(given).keys() - {"", *(Path(each).stem for each in given["metrics"])}:
        raise click.UsageError(f"--tools {min(unused)}=…: no judge has this name")
    return {
        "cases": given["cases"],
        "arms": dict(zip(names, files, strict=True)),
        "base": base_of(given),
        "metrics": metrics_of(given) or ["passed"],
        "repeats": given["repeats"] or 1,
        "seed": given["seed"],
    }


def _of_file(file: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that the file of an experiment says."""
    for name in ("repeats", "seed"):
        if given[name] is not None:
            raise click.UsageError(f"--{name} goes with --cases; {file} says it")
    own = {Path(each).stem for each in given["metrics"]}
    libraries = {
        name: partial(library_of_one_run, files)
        for name, files in _tools(given).items()
        if name not in {"", *own}
    }
    judge = partial(_judge, given)
    more = metrics_of(given)
    found = read_experiment(file, libraries, base=base_of(given), judge=judge, metrics=more)
    if given["options"].offline:
        levels = [found["arms"], *found["factors"].values()]
        for arms in levels:
            arms |= {name: evolve(arm, model=OFFLINE) for name, arm in arms.items()}
    return {**found, "go_on": partial(_goes_on, given["yes"])}


def _tools(given: Mapping[str, Any]) -> dict[str, list[str]]:
    """The files of tools by the names that they are given; those of all arms have none."""
    found: dict[str, list[str]] = {}
    for each in given["tools"]:
        name, _, file = each.rpartition("=")
        found.setdefault(name, []).append(file)
    return found


def base_of(given: Mapping[str, Any]) -> Arm:
    """What the options say of all arms."""
    options: ArmOptions = given["options"]
    options.expect_unattended()
    libraries = (_tools(given).get("", ()), options.mcp, options.openapi)
    return Arm(
        tools=partial(library_of_one_run, *libraries, offline=options.offline),
        model=options.named_model,
        settings=options.settings or None,
        agent=given["agent"],
        base_url=options.base_url,
        dialect=options.dialect,
        limits=read_limits(options.limits) if options.limits else None,
        match=options.match,
        policy=POLICIES[options.approve or "all"],
    )


def running_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """What the options say of how cases are run and judged."""
    return {
        "checks": read_checks(given["checks"]),
        "judge": RubricJudge(model=given["judge_model"]) if given["judge_model"] else None,
        "progress": False if is_quiet() else None,
        "jobs": given["jobs"],
    }


def metrics_of(given: Mapping[str, Any]) -> list[MetricLike]:
    """The metrics that the options name."""
    found: list[MetricLike] = []
    for each in given["metrics"]:
        if each.endswith(".py") or ".py:" in each:
            found += read_checks([each]).values()
        else:
            is_file = each.endswith((".gram", ".json"))
            found.append(metric_of(Path(each) if is_file else each, partial(_judge, given)))
    return found


def _judge(given: Mapping[str, Any], file: Path) -> MetricLike:
    tools = _tools(given).get(file.stem, ())
    model = OFFLINE if given["options"].offline else None
    try:
        return judged_by(
            read_program(str(file)), read_libraries(tools), name=file.stem, model=model
        )
    except ToolBindingError as error:
        hint = f"hint: --tools {file.stem}=FILE.py names the tools of this judge"
        raise ToolBindingError([*error.problems, *([] if tools else [hint])]) from None


def _goes_on(is_told: bool, forecast: Forecast) -> bool:
    """Say what the cases will take and can find, and ask whether they run."""
    for each in (*forecast.notes, *what_it_finds(forecast.plan)):
        (note if is_told else tell)(each)
    if is_told:
        return True
    try:
        return ask_user("Run them? [y/N] ").strip().lower() in ("y", "yes")
    except NoTerminal:
        tell("nobody can be asked here: --yes runs them")
        return False
