"""``gram submit``: queue a run for workers."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime

import click
from attrs import converters, frozen

from ...history.stores import open_store
from ...workers import IS_OVER, submit
from ..failures import Refused
from ..inputs.declaring import agent_option, given_by, json_option, option, options_of
from ..inputs.files import read_program
from ..inputs.given_messages import attach_option, input_option, said_to
from ..inputs.options import POLICIES, KeptRunOptions, fallback_option, read_limits
from ..inputs.record_option import store_option
from ..telemetry import telemetry
from ..terminal.output import show, show_json


def _time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise click.UsageError(
            f"--not-before {text}: write a time such as 2027-01-31T08:00 or 2027-01-31T08:00+01:00"
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


@frozen(kw_only=True, slots=False)
class Options(KeptRunOptions):
    """The options of ``gram submit``."""

    store: str = given_by(store_option)
    as_json: bool = given_by(json_option)
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
        converter=converters.optional(_time),
    )
    agent: str | None = given_by(agent_option)
    attach: tuple[str, ...] = attach_option
    fallback: tuple[str, ...] = fallback_option


@click.command("submit")
@click.argument("file")
@click.argument("message", required=False)
@options_of(Options)
def command(file: str, message: str | None, options: Options) -> None:
    """Queue a run of the agent in FILE for the workers of a store, and print its id.

    The run is in the store when the id is printed. A worker that has its tools takes it: see
    gram worker. MESSAGE may be - for standard input, or @FILE for the text of a file.
    """
    words = [] if message is None else [message]
    (said,) = said_to(file, words, options.input, options.attach, reads_stdin=False)
    document = read_program(file)
    with open_store(options.store) as opened, telemetry() as made:
        known = [] if options.id is None else opened.rows(beginning=options.id, status=IS_OVER)
        over = next((row.status for row in known if row.id == options.id), None)
        with made.submitting(options.agent or file) if made else nullcontext():
            run = submit(
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
                limits=read_limits(options.limits),
                policy=POLICIES[options.approve or "all"],
            )
    if over is not None:
        raise Refused(
            f"run {run} is {over} already: nothing is queued\n"
            f"  hint: give another --id; gram runs requeue {run} gives back one that has stopped"
        )
    if options.as_json:
        show_json({"run": run})
    else:
        show(run)
