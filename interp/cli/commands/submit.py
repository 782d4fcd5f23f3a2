"""``gram submit``: queue a run for workers."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from typing import Any

import click

from ...execution import Telemetry
from ...history.stores import RunStore, open_store
from ...workers import IS_OVER, submit
from ..failures import Refused
from ..inputs.file_options import agent_option, json_option
from ..inputs.given_messages import attach_option, said_to
from ..inputs.options import POLICIES, SubmitOptions, options_of, read_limits
from ..inputs.reading import read_program
from ..inputs.record_option import store_option
from ..telemetry import telemetry
from ..terminal.output import show, show_json


@click.command("submit")
@click.argument("file")
@click.argument("message", required=False)
@store_option
@json_option
@click.option(
    "--input",
    "given",
    metavar="JSON|@FILE|-",
    help="Call the agent with these arguments instead of messages: a JSON object.",
)
@click.option(
    "--id",
    "run_id",
    metavar="ID",
    help="An id for the run: submitting the same again under it queues nothing more.",
)
@click.option(
    "--conversation",
    metavar="NAME",
    help="The conversation that this is a turn of; its turns run one after the other.",
)
@click.option("--tenant", metavar="NAME", help="Whom the run is done for.")
@click.option(
    "--priority", type=int, default=0, help="Runs with a higher number are taken first; 0."
)
@click.option(
    "--at",
    metavar="TIME",
    help="When it may begin, such as 2027-01-31T08:00+01:00; UTC where no zone is given.",
)
@agent_option
@attach_option
@options_of(SubmitOptions)
def command(
    file: str,
    message: str | None,
    store: str,
    as_json: bool,
    given: str | None,
    attached: tuple[str, ...],
    at: str | None,
    options: SubmitOptions,
    **kept: Any,
) -> None:
    """Queue a run of the agent in FILE for the workers of a store, and print its id.

    The run is in the store when the id is printed. A worker that has its tools takes it: see
    gram worker. MESSAGE may be - for standard input, or @FILE for the text of a file.
    """
    begins = _time(at)
    words = [] if message is None else [message]
    (said,) = said_to(file, words, given, attached, reads_stdin=False)

    document = read_program(file)
    with open_store(store) as opened, telemetry() as made, _span(made, kept["agent"] or file):
        over = _over(opened, kept["run_id"])
        run = submit(
            document,
            said,
            store=opened,
            at=begins,
            **kept,
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
    if as_json:
        show_json({"run": run})
    else:
        show(run)


def _span(telemetry: Telemetry | None, name: str) -> AbstractContextManager[None]:
    return nullcontext() if telemetry is None else telemetry.submitting(name)


def _over(store: RunStore, run: str | None) -> str | None:
    """The status of a run that workers do nothing more with; None for another."""
    rows = [] if run is None else store.rows(beginning=run, status=IS_OVER)
    return next((row.status for row in rows if row.id == run), None)


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise click.UsageError(
            f"--at {text}: write a time such as 2027-01-31T08:00 or 2027-01-31T08:00+01:00"
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
