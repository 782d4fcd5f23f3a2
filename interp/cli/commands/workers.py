"""Runs that workers do: ``submit`` queues one, ``workers`` says who lives, ``limits`` what all
keep to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime

import click
from attrs import asdict, converters

from gram.words import counted, did_you_mean

from ... import workers
from ...history.stores import open_store
from ...machine import Limits
from ..failures import Refused
from ..inputs.declaring import agent_option, argument, command, json_option, option
from ..inputs.files import read_program
from ..inputs.given_messages import attach_option, input_option, said_to
from ..inputs.options import POLICIES, KeptRunOptions, fallback_option
from ..inputs.record_option import queue_option
from ..telemetry import telemetry
from ..terminal.console import forbid, note, show_result


@command("workers")
def workers_command(
    store: str = queue_option,
    health: bool = option(
        "Exit with 1 unless a worker lives and no run waits longer than --oldest."
    ),
    machine: str | None = option("Only workers of this machine.", "HOST", name="--on"),
    oldest: float | None = option(
        "How long a run may wait that could begin; without it, for any time.", "SECONDS"
    ),
    as_json: bool = json_option,
) -> None:
    """Say which workers of a store live, on what they work, and what waits.

    Why a run waits, gram runs list says.
    """
    forbid(oldest is not None and not health, "--oldest is for --health")
    with open_store(store, must_exist=True) as opened:
        every = workers.workers_now(opened)
        now = workers.overview(opened)
    found = [each for each in every if machine in (None, each.name.partition("/")[0])]
    runs = {"runs" if name == "statuses" else name: value for name, value in asdict(now).items()}
    value = {"workers": [asdict(each) for each in found], **runs}
    show_result(as_json, value, _lines_of(found))
    if not as_json:
        _tell(now, is_any=bool(found))
    if health and not found:
        raise Refused("no worker lives" + (f" on {machine}" if machine else ""))
    if oldest is not None and now.seconds > oldest:
        raise Refused(f"run {now.oldest} has waited for {now.seconds:.0f} s")


def _lines_of(found: list[workers.WorkerNow]) -> Iterator[str]:
    for each in found:
        runs = ", ".join(each.runs) or "nothing to do"
        yield f"{each.name}  {counted(len(each.runs), 'run')}: {runs}"
        yield from (f"    leaves: {reason}" for reason in each.leaves)


def _tell(now: workers.Overview, *, is_any: bool) -> None:
    if not is_any:
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


@command("list", limits_command)
def list_limits(store: str = queue_option, as_json: bool = json_option) -> None:
    """List limits, what counts for them now, and who has asked to be left alone for a time."""
    with open_store(store, must_exist=True) as opened:
        found = workers.shared_limits(opened)
    rows = {name: asdict(now) for name, now in found.items()}
    value = [{"name": name, **row.pop("limit"), **row} for name, row in rows.items()]
    lines = (f"{name}  {', '.join(_parts(now))}" for name, now in found.items())
    show_result(as_json, value, lines)
    if not (found or as_json):
        note("gram: there are no limits")


def _parts(now: workers.LimitNow) -> list[str]:
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


@command("set", limits_command)
def set_limit(
    name: str,
    store: str = queue_option,
    at_most: int | None = option("How many requests may go on at once."),
    per_minute: float | None = option("How many requests may begin in a minute."),
) -> None:
    """Set the limit of NAME, in place of the one that it had."""
    forbid(not (at_most or per_minute), "give --at-most, --per-minute or both")
    with open_store(store) as opened:
        workers.set_shared_limits(opened, {name: workers.SharedLimit(at_most, per_minute)})


@command("remove", limits_command)
def remove_limits(names: tuple[str, ...] = argument("NAME..."), store: str = queue_option) -> None:
    """Remove the limits of these names; exits with 1 if one of them has none."""
    with open_store(store, must_exist=True) as opened:
        known = workers.shared_limits(opened)
        for name in names:
            if workers.limit_name(name) not in known:
                hint = did_you_mean(name, known) or "gram limits list shows those that there are"
                raise Refused(f"there is no limit of {name}; {hint}")
        workers.set_shared_limits(opened, dict.fromkeys(names))


def _time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise click.UsageError(
            f"--not-before {text}: write a time such as 2027-01-31T08:00 or 2027-01-31T08:00+01:00"
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class _SubmitOptions(KeptRunOptions):
    store: str = queue_option
    as_json: bool = json_option
    input: str | None = input_option
    id: str | None = option(
        "An id for the run: submitting the same again under it queues nothing more.", "ID"
    )
    conversation: str | None = option(
        "The conversation that this is a turn of; its turns run one after the other.", "NAME"
    )
    tenant: str | None = option("Whom the run is done for.", "NAME")
    priority: int = option("Runs with a higher number are taken first; 0.", type=int, default=0)
    not_before: datetime | None = option(
        "When it may begin, such as 2027-01-31T08:00+01:00; UTC where no zone is given.",
        "TIME",
        type=str,
        converter=converters.optional(_time),
    )
    agent: str | None = agent_option
    attach: tuple[str, ...] = attach_option
    fallback: tuple[str, ...] = fallback_option


@command("submit")
def submit_command(file: str, options: _SubmitOptions, message: str | None = None) -> None:
    """Queue a run of the agent in FILE for the workers of a store, and print its id.

    The run is in the store when the id is printed. A worker that has its tools takes it: see
    gram worker. MESSAGE may be - for standard input, or @FILE for the text of a file.
    """
    words = [] if message is None else [message]
    (said,) = said_to(file, words, options.input, options.attach, reads_stdin=False)
    document = read_program(file)
    with open_store(options.store) as opened, telemetry() as made:
        rows = opened.rows(beginning=options.id, status=workers.IS_OVER) if options.id else ()
        over = next((row.status for row in rows if row.id == options.id), None)
        with made.submitting(options.agent or file) if made else nullcontext():
            run = workers.submit(
                document,
                said,
                store=opened,
                at=options.not_before,
                run_id=options.id,
                conversation=options.conversation,
                tenant=options.tenant,
                priority=options.priority,
                agent=options.agent,
                model=options.named_model,
                fallbacks=options.fallback,
                settings=options.settings or None,
                limits=Limits(**options.limits),
                policy=POLICIES[options.approve or "all"],
            )
    if over is not None:
        raise Refused(
            f"run {run} is {over} already: nothing is queued\n"
            f"  hint: give another --id; gram runs requeue {run} gives back one that has stopped"
        )
    show_result(options.as_json, {"run": run}, [run])
