"""``gram runs``: the runs of a store, listed and steered."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from time import sleep
from typing import Any, get_args

import click
from attrs import evolve

from gram.json import Json
from gram.words import counted

from ...history.stores import ENDED, PostgresDatabase, RunRow, RunStatus, RunStore, open_store
from ...workers import export_run, imported, why_queued
from ..completion.completing import complete_agent
from ..each_file import each_file
from ..inputs.file_options import json_option
from ..inputs.program_files import RECORDED
from ..inputs.record_option import Age, run_argument, run_in_store, store_option
from ..terminal.output import note, show, show_json
from . import steering
from .fork import fork
from .requeue import requeue

_WATCHED = 2.0  # seconds between two lists
_MOST = 50  # runs that a list shows unless told otherwise


@click.group("runs")
def command() -> None:
    """List and steer the runs of a store; gram trace shows one, gram resume goes on with it.

    gram run FILE TEXT --record runs.db keeps a run there. A RUN is runs.db#ID, or an id alone in
    the store that GRAM_RECORD names, or in your own; the beginning of an id is enough.
    """


@command.command("list")
@store_option
@click.option(
    "--status", multiple=True, type=click.Choice(get_args(RunStatus)), help="Only runs like this."
)
@click.option("--agent", metavar="NAME", shell_complete=complete_agent, help="Only of this agent.")
@click.option("--tenant", metavar="NAME", help="Only for this tenant.")
@click.option("--conversation", metavar="NAME", help="Only turns of this conversation.")
@click.option("--since", type=Age(), help="Only runs made since then.")
@click.option("--before", type=Age(), help="Only runs made before then.")
@click.option(
    "--most",
    "limit",
    type=click.IntRange(1),
    help=f"How many at most; {_MOST} by default, all with --json.",
)
@click.option("--watch", is_flag=True, help="List them again every two seconds, until Ctrl-C.")
@json_option
def list_runs(store: str, as_json: bool, limit: int | None, watch: bool, **filters: Any) -> None:
    """List runs, the newest first: id, status, agent, time it was made, tokens it used."""
    if watch and as_json:
        raise click.UsageError("--watch is for people: leave out --json")
    with open_store(store, must_exist=True) as opened:
        while watch:
            seen = list(opened.rows(limit=limit or _MOST, **filters))
            lines_now = [*_table(_with_reasons(opened, seen))]
            click.clear()
            show("\n".join([f"{datetime.now():%Y-%m-%d %H:%M:%S}", *lines_now]))
            sleep(_WATCHED)
        rows = opened.rows(limit=limit or (None if as_json else _MOST + 1), **filters)
        found = _with_reasons(opened, list(rows))
        if as_json:
            show_json([row.to_json() for row in found])
            return
        shown = found if limit else found[:_MOST]
        for line in _table(shown):
            show(line)
        if not shown:
            note("gram: there are no such runs")
        if len(found) > len(shown):
            note(f"gram: there are more than {_MOST} runs; --most shows more, filters fewer")


def _with_reasons(store: RunStore, rows: list[RunRow]) -> list[RunRow]:
    """Runs that also say why no worker goes on with them."""
    left = [row.id for row in rows if row.status in ("queued", "stopped")]
    if not left or not isinstance(store.database, PostgresDatabase):
        return rows

    reasons = why_queued(store, left)
    return [evolve(row, reason=reasons[row.id]) if row.id in reasons else row for row in rows]


def _table(rows: list[RunRow]) -> Iterator[str]:
    width = max((len(row.facts.agent) for row in rows), default=0)
    for row in rows:
        made = row.created.astimezone().strftime("%Y-%m-%d %H:%M:%S")
        used = (
            ""
            if row.usage.total_tokens is None
            else f"  {counted(row.usage.total_tokens, 'token')}"
        )
        why = f"  {row.reason.splitlines()[0]}" if row.reason else ""
        yield f"{row.id}  {row.status:9}  {row.facts.agent:{width}}  {made}{used}{why}"


for each in (steering.cancel, steering.decide, fork, requeue):
    command.add_command(each)


@command.command("export")
@run_argument
@click.argument("file")
def export(run: str, file: str) -> None:
    """Write RUN to the new run FILE, for gram resume, replay and trace.

    A run file does not say for which tenant a run was done, and of which conversation it is a turn.
    """
    with run_in_store(run) as (opened, run):
        export_run(opened, run, file)
        facts = opened.row(run).facts
    for kind, name in (("tenant", facts.tenant), ("conversation", facts.conversation)):
        if name is not None:
            note(f"gram: {file} does not have the {kind} of the run: {name}")


@command.command("import")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@store_option
@click.option("--tenant", metavar="NAME", help="Whom the runs were done for.")
@json_option
def import_files(files: tuple[str, ...], store: str, tenant: str | None, as_json: bool) -> None:
    """Take the runs of run files into the store, and print their ids.

    A run that was a turn of a conversation is one no more. A file that fails is told, and the
    others are taken. Of a folder, the files named *.run.gram are meant.
    """
    with open_store(store) as opened:

        def take(file: str) -> dict[str, Json]:
            run, was_there = imported(opened, file, tenant=tenant)
            if not as_json:
                show(run)
            if was_there:
                note(f"gram: {file}: {opened.name} has this run already")
            return {"id": run}

        tally = each_file(files, take, suffix=RECORDED)
    if as_json:
        show_json(tally.rows)
    tally.leave()


@command.command("prune")
@store_option
@click.option(
    "--before",
    type=Age(),
    required=True,
    help="Only runs that last changed before then, such as 30d or 2026-11-22.",
)
@click.option(
    "--status",
    multiple=True,
    type=click.Choice([each for each in get_args(RunStatus) if each != "running"]),
    default=ENDED,
    show_default=True,
    help="Only runs like this.",
)
@click.option("--tenant", metavar="NAME", help="Only for this tenant.")
@json_option
def prune(
    store: str,
    before: datetime,
    status: tuple[RunStatus, ...],
    tenant: str | None,
    as_json: bool,
) -> None:
    """Remove runs that have ended, for good; nothing that somebody goes on with is removed."""
    with open_store(store, must_exist=True) as opened:
        removed = opened.prune(before, status=status, tenant=tenant)
    if as_json:
        show_json({"removed": removed})
    note(f"gram: {counted(removed, 'run')} removed")
