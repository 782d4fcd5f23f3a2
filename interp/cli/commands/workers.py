"""``gram workers``: who works on the runs of a store, on what, and what waits."""

from __future__ import annotations

import click
from attrs import asdict

from gram.words import counted

from ...history.stores import open_store
from ...workers import Overview, WorkerNow, overview, workers_now
from ..failures import Refused
from ..inputs.declaring import json_option
from ..inputs.record_option import store_option
from ..terminal.output import note, show, show_json


@click.command("workers")
@store_option
@click.option(
    "--health",
    is_flag=True,
    help="Exit with 1 unless a worker lives, and no run has waited for longer than --oldest.",
)
@click.option("--on", "machine", metavar="HOST", help="Only workers of this machine.")
@click.option(
    "--oldest",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="How long a run may wait that could begin; without it, for any time.",
)
@json_option
def command(
    store: str, health: bool, machine: str | None, oldest: float | None, as_json: bool
) -> None:
    """Say which workers of a store live, on what they work, and what waits.

    Why a run waits, gram runs list says.
    """
    if oldest is not None and not health:
        raise click.UsageError("--oldest is for --health")
    with open_store(store, must_exist=True) as opened:
        found = [
            each
            for each in workers_now(opened)
            if machine is None or each.name.partition("/")[0] == machine
        ]
        now = overview(opened)
    if as_json:
        rest = {name: value for name, value in asdict(now).items() if name != "statuses"}
        show_json({"workers": [asdict(each) for each in found], "runs": now.statuses, **rest})
    else:
        _tell(found, now)
    if not health:
        return
    if not found:
        raise Refused("no worker lives" + (f" on {machine}" if machine else ""))
    if oldest is not None and now.seconds > oldest:
        raise Refused(f"run {now.oldest} has waited for {now.seconds:.0f} s")


def _tell(workers: list[WorkerNow], now: Overview) -> None:
    for each in workers:
        runs = ", ".join(each.runs) or "nothing to do"
        show(f"{each.name}  {counted(len(each.runs), 'run')}: {runs}")
        for reason in each.leaves:
            show(f"    leaves: {reason}")
    if not workers:
        note("gram: no worker lives")
    statuses = ", ".join(f"{count} {status}" for status, count in sorted(now.statuses.items()))
    note(f"gram: {statuses or 'no runs under way'}")
    if now.oldest is not None:
        waits = f"{counted(now.waiting, 'run')} could go on"
        note(f"gram: {waits}; the oldest, {now.oldest}, has waited for {now.seconds:.0f} s")
