"""What operators see of workers: ``workers`` says who lives, ``limits`` what all keep to."""

from __future__ import annotations

import click
from attrs import asdict, frozen

from gram.words import counted, did_you_mean

from ...history.stores import open_store
from ...workers import (
    LimitNow,
    Overview,
    SharedLimit,
    WorkerNow,
    limit_name,
    overview,
    set_shared_limits,
    shared_limits,
    workers_now,
)
from ..failures import Refused
from ..inputs.declaring import given_by, json_option, option, options_of
from ..inputs.record_option import store_option
from ..terminal.output import note, show, show_json


@frozen(kw_only=True, slots=False)
class _Options:
    store: str = given_by(store_option)
    health: bool = option(
        "Exit with 1 unless a worker lives and no run waits longer than --oldest."
    )
    machine: str | None = option("Only workers of this machine.", "HOST", name="--on")
    oldest: float | None = option(
        "How long a run may wait that could begin; without it, for any time.", "SECONDS"
    )
    as_json: bool = given_by(json_option)


@click.command("workers")
@options_of(_Options)
def workers_command(options: _Options) -> None:
    """Say which workers of a store live, on what they work, and what waits.

    Why a run waits, gram runs list says.
    """
    if options.oldest is not None and not options.health:
        raise click.UsageError("--oldest is for --health")
    with open_store(options.store, must_exist=True) as opened:
        found = [
            each
            for each in workers_now(opened)
            if options.machine in (None, each.name.partition("/")[0])
        ]
        now = overview(opened)
    if options.as_json:
        rest = {name: value for name, value in asdict(now).items() if name != "statuses"}
        show_json({"workers": [asdict(each) for each in found], "runs": now.statuses, **rest})
    else:
        _tell(found, now)
    if options.health and not found:
        raise Refused("no worker lives" + (f" on {options.machine}" if options.machine else ""))
    if options.oldest is not None and now.seconds > options.oldest:
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


@click.group("limits")
def limits_command() -> None:
    """List, set and remove the limits on requests that all workers of a store keep to.

    A limit is of a provider (OpenAI), a model (OpenAI/gpt-5.6-luna) or a tenant (tenant:NAME).
    """


@limits_command.command("list")
@store_option
@json_option
def list_limits(store: str, as_json: bool) -> None:
    """List limits, what counts for them now, and who has asked to be left alone for a time."""
    with open_store(store, must_exist=True) as opened:
        found = shared_limits(opened)
    if as_json:
        rows = {name: asdict(now) for name, now in found.items()}
        show_json([{"name": name, **row.pop("limit"), **row} for name, row in rows.items()])
        return
    for name, now in found.items():
        show(f"{name}  {', '.join(_parts(now))}")
    if not found:
        note("gram: there are no limits")


def _parts(now: LimitNow) -> list[str]:
    parts = []
    if now.limit.at_once is not None:
        parts.append(f"{now.limit.at_once} at once ({now.under_way} under way)")
    if now.limit.per_minute is not None:
        parts.append(f"{now.limit.per_minute:g} a minute")
    if now.is_down:
        parts.append(f"does not answer; one request asks it in {now.wait:.0f} s")
    elif now.wait:
        parts.append(f"asked for {now.wait:.0f} s without requests")
    return parts


@limits_command.command("set")
@click.argument("name")
@store_option
@click.option("--at-most", type=click.IntRange(1), help="How many requests may go on at once.")
@click.option(
    "--per-minute",
    type=click.FloatRange(0, min_open=True),
    help="How many requests may begin in a minute.",
)
def set_limit(name: str, store: str, at_most: int | None, per_minute: float | None) -> None:
    """Set the limit of NAME, in place of the one that it had."""
    if at_most is None and per_minute is None:
        raise click.UsageError("give --at-most, --per-minute or both; gram limits remove removes")
    with open_store(store) as opened:
        set_shared_limits(opened, {name: SharedLimit(at_most, per_minute)})


@limits_command.command("remove")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@store_option
def remove_limits(names: tuple[str, ...], store: str) -> None:
    """Remove the limits of these names; exits with 1 if one of them has none."""
    with open_store(store, must_exist=True) as opened:
        known = shared_limits(opened)
        for name in names:
            if limit_name(name) not in known:
                hint = did_you_mean(name, known) or "gram limits list shows those that there are"
                raise Refused(f"there is no limit of {name}; {hint}")
        set_shared_limits(opened, dict.fromkeys(names))
