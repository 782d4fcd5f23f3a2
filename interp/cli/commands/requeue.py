"""``gram runs requeue``: give runs that have stopped back to workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from gram import GramError
from gram.json import Json
from gram.words import counted
from lenses_ext import ProgramLike

from ...history.stores import RunStore, open_store, run_named
from ...workers import Requeue, requeue_of
from ..failures import Refused
from ..inputs.file_options import agent_option, json_option
from ..inputs.options import read_limits
from ..inputs.reading import read_program
from ..inputs.record_option import Age, store_option
from ..terminal.output import note, show, show_json


@click.command("requeue")
@click.argument("runs", metavar="[RUN]...", nargs=-1)
@store_option
@click.option(
    "--status",
    multiple=True,
    type=click.Choice(["failed", "limited", "stopped"]),
    help="All runs like this; failed, where another filter is given.",
)
@click.option("--since", type=Age(), help="Only runs made since then, such as 1h.")
@click.option("--tenant", metavar="NAME", help="Only for this tenant.")
@click.option("--tool", metavar="NAME", help="Only where a call of it failed or has no answer.")
@click.option("--model", metavar="NAME", help="Only those that ask this model, or this provider.")
@click.option("--program", metavar="FILE", help="Go on with this program.")
@agent_option
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=NUMBER",
    help="Go on with this limit, such as iterations=20.",
)
@click.option("-i", "does_it", is_flag=True, help="Give them back; else only show which.")
@json_option
def requeue(
    runs: tuple[str, ...],
    store: str,
    tool: str | None,
    model: str | None,
    program: str | None,
    agent: str | None,
    limits: tuple[str, ...],
    does_it: bool,
    as_json: bool,
    **filters: Any,
) -> None:
    """Give runs that have stopped back to the workers of their store, once each.

    A run that its model, a limit or a worker stopped goes on where it was. One that has failed
    itself, or gets another --program, is forked before the event that failed it, under an id such
    as RUN.again-1. Without RUN the filters say which.
    """
    is_filtered = bool(tool or model or any(filters.values()))
    if bool(runs) == is_filtered:
        raise click.UsageError("give runs, or filters such as --status failed --since 1h")
    read_limits(limits)  # refuses what is none
    document = None if program is None else read_program(program)
    with open_store(store, must_exist=True) as opened:
        filters["status"] = filters["status"] or ("failed",)
        named = [run_named(opened, each) for each in runs]
        ids = named or [row.id for row in opened.rows(**filters)]
        found: list[Requeue] = []
        refused = 0
        for each in _planned(opened, ids, document, agent, limits):
            if isinstance(each, GramError):
                refused += 1
                note(f"gram: {each}")
            elif (tool is None or each.called(tool)) and (model is None or each.asked(model)):
                found.append(each)
        shown = [_shown(each, does_it=does_it, as_json=as_json) for each in found]
    if as_json:
        show_json(shown)
    done = "given back" if does_it else "would be given back; -i does it"
    note(f"gram: {counted(len(found), 'run')} {done}")
    if named and refused:
        raise Refused(f"{counted(refused, 'run')} cannot be given back")


def _planned(
    store: RunStore,
    runs: list[str],
    program: ProgramLike | None,
    agent: str | None,
    limits: tuple[str, ...],
) -> Iterator[Requeue | GramError]:
    """How each run is given back, or why it cannot be."""
    for run in runs:
        try:
            new = None
            if limits:
                new = read_limits(limits, store.recorded(run).state.limits)
            yield requeue_of(store, run, program, agent=agent, limits=new)
        except GramError as error:
            yield error


def _shown(planned: Requeue, *, does_it: bool, as_json: bool) -> dict[str, Json]:
    """What is shown of a run that is given back, which is done before if it is to be."""
    row, events = planned.row, len(planned.kept.steps)
    if does_it:
        planned.carry_out()
    if not as_json:
        how = f"forked as {planned.new}" if planned.new else "goes on"
        why = f"  {row.reason.splitlines()[0]}" if row.reason else ""
        show(f"{row.id}  {row.status:9}  {how} after {counted(events, 'event')}{why}")
    return {"id": planned.new or row.id, "parent": row.id if planned.new else None}
