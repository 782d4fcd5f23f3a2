"""``gram runs requeue``: give runs that have stopped back to workers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import click
from attrs import frozen

from gram import GramError
from gram.json import Json
from gram.words import counted

from ...history.stores import RunStatus, RunStore, open_store, run_named
from ...workers import Requeue, requeue_of
from ..failures import Refused
from ..inputs.declaring import agent_option, given_by, json_option, option, options_of
from ..inputs.options import read_limits
from ..inputs.reading import read_program
from ..inputs.record_option import Age, store_option
from ..terminal.output import note, show, show_json


@frozen(kw_only=True, slots=False)
class Options:
    """The options of ``gram runs requeue``."""

    store: str = given_by(store_option)
    status: tuple[RunStatus, ...] = option(
        "All runs like this; failed, where another filter is given.",
        type=click.Choice(["failed", "limited", "stopped"]),
    )
    since: datetime | None = option("Only runs made since then, such as 1h.", type=Age())
    tenant: str | None = option("Only for this tenant.", "NAME")
    tool: str | None = option("Only where a call of it failed or has no answer.", "NAME")
    model: str | None = option("Only those that ask this model, or this provider.", "NAME")
    program: str | None = option("Go on with this program.", "FILE")
    agent: str | None = given_by(agent_option)
    limits: tuple[str, ...] = option(
        "Go on with this limit, such as iterations=20.", "NAME=NUMBER", name="--limit"
    )
    does_it: bool = option("Give them back; else only show which.", name="-i")
    as_json: bool = given_by(json_option)


@click.command("requeue")
@click.argument("runs", metavar="[RUN]...", nargs=-1)
@options_of(Options)
def requeue(runs: tuple[str, ...], options: Options) -> None:
    """Give runs that have stopped back to the workers of their store, once each.

    A run that its model, a limit or a worker stopped goes on where it was. One that has failed
    itself, or gets another --program, is forked before the event that failed it, under an id such
    as RUN.again-1. Without RUN the filters say which.
    """
    tool, model, does_it = options.tool, options.model, options.does_it
    is_filtered = bool(tool or model or options.status or options.since or options.tenant)
    if bool(runs) == is_filtered:
        raise click.UsageError("give runs, or filters such as --status failed --since 1h")
    read_limits(options.limits)  # refuses what is none
    with open_store(options.store, must_exist=True) as opened:
        status = options.status or ("failed",)
        rows = opened.rows(status=status, since=options.since, tenant=options.tenant)
        ids = [run_named(opened, each) for each in runs] or [row.id for row in rows]
        found: list[Requeue] = []
        refused = 0
        for each in _planned(opened, ids, options):
            if isinstance(each, GramError):
                refused += 1
                note(f"gram: {each}")
            elif (tool is None or each.called(tool)) and (model is None or each.asked(model)):
                found.append(each)
        shown = [_shown(each, options) for each in found]
    if options.as_json:
        show_json(shown)
    done = "given back" if does_it else "would be given back; -i does it"
    note(f"gram: {counted(len(found), 'run')} {done}")
    if runs and refused:
        raise Refused(f"{counted(refused, 'run')} cannot be given back")


def _planned(store: RunStore, runs: list[str], options: Options) -> Iterator[Requeue | GramError]:
    """How each run is given back, or why it cannot be."""
    program = None if options.program is None else read_program(options.program)
    for run in runs:
        try:
            limits = None
            if options.limits:
                limits = read_limits(options.limits, store.recorded(run).state.limits)
            yield requeue_of(store, run, program, agent=options.agent, limits=limits)
        except GramError as error:
            yield error


def _shown(planned: Requeue, options: Options) -> dict[str, Json]:
    """What is shown of a run that is given back, which is done before if it is to be."""
    row, events = planned.row, len(planned.kept.steps)
    if options.does_it:
        planned.carry_out()
    if not options.as_json:
        how = f"forked as {planned.new}" if planned.new else "goes on"
        why = f"  {row.reason.splitlines()[0]}" if row.reason else ""
        show(f"{row.id}  {row.status:9}  {how} after {counted(events, 'event')}{why}")
    return {"id": planned.new or row.id, "parent": row.id if planned.new else None}
