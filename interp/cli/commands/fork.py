"""``gram runs fork``: runs that begin like another, one of them or many to compare."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Any

import click
from attrs import asdict

from gram.json import Json
from gram.words import counted

from ...errors import ReplayError, ValidationError
from ...evaluation.causes import Change, what_if, write_fork
from ...json_text import read_json
from ...programs import the_agent
from ...workers import fork_run
from ..failures import Refused
from ..inputs.file_options import agent_option, checks_option, json_option
from ..inputs.options import base_url_option, dialect_option, model_option, stand_ins_option
from ..inputs.reading import read_checks, read_libraries, read_program
from ..inputs.record_option import run_argument, run_in_store
from ..process import interruptible
from ..terminal.output import detail, note, show, show_json
from .steering import position


@click.command("fork")
@run_argument
@click.option("--program", metavar="FILE", help="The program of the new run.")
@agent_option
@click.option("--at", metavar="AT", help="The position of the change, as gram trace shows it.")
@click.option(
    "--set",
    "values",
    multiple=True,
    metavar="'NAME = VALUE'",
    help="What is changed there: result or error of a call, allowed and reason of a "
    "person's answer, reply of a model. A value that is not JSON is a text.",
)
@click.option(
    "--repeats",
    type=click.IntRange(1),
    help="Compare so many runs with the change with so many without.",
)
@model_option
@base_url_option
@dialect_option
@stand_ins_option
@checks_option
@click.option("--jobs", type=click.IntRange(1), default=4, help="How many runs go on at once.")
@json_option
def fork(
    run: str,
    program: str | None,
    agent: str | None,
    at: str | None,
    values: tuple[str, ...],
    as_json: bool,
    **given: Any,
) -> None:
    """Make a run that begins like RUN, and print its id; gram resume goes on with it.

    The new run has what is recorded of RUN up to --at, or up to the first request that its program
    makes differently.

    With --repeats, many runs go on from there, with the change and without, and are compared: a run
    is right if all functions of --checks say yes. No tool that was recorded is called: a call gets
    the recorded result of an equal one, or that of a tool of --tools. The runs are kept in the
    store; the same command goes on with them, and more repeats add to them.
    """
    repeats = given.pop("repeats")
    if at is None and (values or repeats):
        raise click.UsageError("--set and --repeats need --at, a position of the run")
    if repeats and not (values or program or given["model"]):
        raise click.UsageError("--repeats needs what is otherwise: --set, --model or --program")
    if repeats and not given["checks"]:
        raise click.UsageError("--repeats needs --checks FILE.py: they say what is right")
    if not repeats and (given["model"] or given["tools"] or given["checks"]):
        raise click.UsageError("--model, --tools and --checks need --repeats")
    other = None if program is None else the_agent(read_program(program), agent, by="fork")
    with run_in_store(run) as (store, parent):
        if at is None:
            new = fork_run(store, parent, other)
        else:
            try:
                change = Change(position(at), _values(values), given["model"], other)
            except ValidationError as error:
                raise click.UsageError(f"--set: {error}") from None
            try:
                if repeats:
                    _compare(store, parent, change, repeats, as_json, given)
                    return
                new = write_fork(store, parent, change)
            except ReplayError as error:
                raise Refused(str(error)) from None
    if as_json:
        show_json({"id": new, "parent": parent})
    else:
        show(new)


def _compare(
    store: Any, run: str, change: Change, repeats: int, as_json: bool, given: dict[str, Any]
) -> None:
    over = 0

    def progress(outcome: str) -> None:
        nonlocal over
        over += 1
        tell_it = note if over % 10 == 0 or over == 2 * repeats else detail
        tell_it(f"gram: {over} of {counted(2 * repeats, 'run')}: {outcome}")

    note(f"gram: {counted(2 * repeats, 'run')}, from {'.'.join(map(str, change.at))} on")
    with interruptible(), redirect_stdout(sys.stderr):  # what tools and checks print
        found = what_if(
            store,
            run,
            change,
            read_checks(given["checks"]),
            repeats=repeats,
            base_url=given["base_url"],
            dialect=given["dialect"],
            tools=read_libraries(given["tools"]) if given["tools"] else None,
            jobs=given["jobs"],
            progress=progress,
        )
    if as_json:
        verdict = {"made_the_difference": found.made_the_difference, "p": found.p}
        show_json(verdict | {"difference": asdict(found.difference)} | asdict(found))
        return
    for line in found.lines():
        show(line)


def _values(texts: tuple[str, ...]) -> dict[str, Json]:
    values: dict[str, Json] = {}
    for each in texts:
        name, equals, text = (part.strip() for part in each.partition("="))
        if not equals:
            raise click.UsageError(f"--set {each}: write 'NAME = VALUE'")
        if name in values:
            raise click.UsageError(f"--set: {name} is set twice")
        try:
            value = read_json(text)
        except ValueError:
            value = text
        is_text = name in ("error", "reason", "reply") and not isinstance(value, str)
        values[name] = text if is_text else value
    return values
