"""``gram runs fork``: runs that begin like another, one of them or many to compare."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout

import click
from attrs import asdict, frozen

from gram.json import Json
from gram.words import counted

from ...errors import ReplayError
from ...evaluation.causes import Change, what_if, write_fork
from ...history.stores import RunStore
from ...json_text import json_or_text
from ...models import Dialect
from ...programs import the_agent
from ...workers import fork_run
from ..failures import Refused
from ..inputs.declaring import (
    agent_option,
    checks_option,
    given_by,
    json_option,
    model_option,
    option,
    options_of,
)
from ..inputs.files import read_program
from ..inputs.libraries import read_checks, read_libraries, stand_ins_option
from ..inputs.options import base_url_option, dialect_option, named_texts
from ..inputs.record_option import position, run_argument, run_in_store
from ..process import interruptible
from ..terminal.output import detail, note, show, show_json


@frozen(kw_only=True, slots=False)
class Options:
    """The options of ``gram runs fork``."""

    program: str | None = option("The program of the new run.", "FILE")
    agent: str | None = given_by(agent_option)
    at: str | None = option("The position of the change, as gram trace shows it.", "AT")
    values: tuple[str, ...] = option(
        "What is changed there: result or error of a call, allowed and reason of a person's "
        "answer, reply of a model. A value that is not JSON is a text.",
        "'NAME = VALUE'",
        name="--set",
    )
    repeats: int | None = option("Compare so many runs with the change with so many without.")
    model: str | None = model_option
    base_url: str | None = base_url_option
    dialect: Dialect | None = dialect_option
    tools: tuple[str, ...] = stand_ins_option
    checks: tuple[str, ...] = checks_option
    jobs: int = option("How many runs go on at once.", default=4)
    as_json: bool = given_by(json_option)

    def __attrs_post_init__(self) -> None:
        if self.at is None and (self.values or self.repeats):
            raise click.UsageError("--set and --repeats need --at, a position of the run")
        if self.repeats and not (self.values or self.program or self.model):
            raise click.UsageError("--repeats needs what is otherwise: --set, --model or --program")
        if self.repeats and not self.checks:
            raise click.UsageError("--repeats needs --checks FILE.py: they say what is right")
        if not self.repeats and (self.model or self.tools or self.checks):
            raise click.UsageError("--model, --tools and --checks need --repeats")


@click.command("fork")
@run_argument
@options_of(Options)
def fork(run: str, options: Options) -> None:
    """Make a run that begins like RUN, and print its id; gram resume goes on with it.

    The new run has what is recorded of RUN up to --at, or up to the first request that its program
    makes differently.

    With --repeats, many runs go on from there, with the change and without, and are compared: a run
    is right if all functions of --checks say yes. No tool that was recorded is called: a call gets
    the recorded result of an equal one, or that of a tool of --tools. The runs are kept in the
    store; the same command goes on with them, and more repeats add to them.
    """
    other = None
    if options.program is not None:
        other = the_agent(read_program(options.program), options.agent, by="fork")
    with run_in_store(run) as (store, parent):
        try:
            if options.at is None:
                new = fork_run(store, parent, other)
            else:
                values = _values(options.values)
                change = Change(position(options.at), values, options.model, other)
                if options.repeats:
                    _compare(store, parent, change, options.repeats, options)
                    return
                new = write_fork(store, parent, change)
        except ReplayError as error:
            raise Refused(str(error)) from None
    if options.as_json:
        show_json({"id": new, "parent": parent})
    else:
        show(new)


def _compare(store: RunStore, run: str, change: Change, repeats: int, options: Options) -> None:
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
            read_checks(options.checks),
            repeats=repeats,
            base_url=options.base_url,
            dialect=options.dialect,
            tools=read_libraries(options.tools) if options.tools else None,
            jobs=options.jobs,
            progress=progress,
        )
    if options.as_json:
        verdict = {"made_the_difference": found.made_the_difference, "p": found.p}
        show_json(verdict | {"difference": asdict(found.difference)} | asdict(found))
        return
    for line in found.lines():
        show(line)


def _values(texts: tuple[str, ...]) -> dict[str, Json]:
    values: dict[str, Json] = {}
    for name, text in named_texts("--set", texts):
        if name in values:
            raise click.UsageError(f"--set: {name} is set twice")
        value = json_or_text(text.strip())
        is_text = name in ("error", "reason", "reply") and not isinstance(value, str)
        values[name] = text.strip() if is_text else value
    return values
