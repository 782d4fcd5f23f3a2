"""``gram limits``: the limits on requests to models that all workers of a store keep to."""

from __future__ import annotations

import click
from attrs import asdict

from gram.words import did_you_mean

from ...history.stores import open_store
from ...workers import LimitNow, SharedLimit, limit_name, set_shared_limits, shared_limits
from ..failures import Refused
from ..inputs.declaring import json_option
from ..inputs.record_option import store_option
from ..terminal.output import note, show, show_json


@click.group("limits")
def command() -> None:
    """List, set and remove the limits on requests that all workers of a store keep to.

    A limit is of a provider (OpenAI), a model (OpenAI/gpt-5.6-luna) or a tenant (tenant:NAME).
    """


@command.command("list")
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


@command.command("set")
@click.argument("name")
@store_option
@click.option(
    "--at-most", type=click.IntRange(1), help="How many requests may be under way at once."
)
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


@command.command("remove")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@store_option
def remove(names: tuple[str, ...], store: str) -> None:
    """Remove the limits of these names; exits with 1 if one of them has none."""
    with open_store(store, must_exist=True) as opened:
        known = shared_limits(opened)
        for name in names:
            if limit_name(name) not in known:
                hint = did_you_mean(name, known) or "gram limits list shows those that there are"
                raise Refused(f"there is no limit of {name}; {hint}")
        set_shared_limits(opened, dict.fromkeys(names))
