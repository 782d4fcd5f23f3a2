"""``gram worker``: take queued runs, and drive them to their ends."""

from __future__ import annotations

import logging

import click
from attrs import frozen

from lenses_ext.schemas import Match

from ..inputs.declaring import given_by, option, options_of
from ..inputs.libraries import ToolOptions
from ..inputs.options import match_option
from ..inputs.record_option import store_option
from ..process import leave_at_termination
from ..telemetry import telemetry
from ..terminal.log_lines import LogLines, log_format_option, show_logs
from ..terminal.output import is_quiet, is_verbose


@frozen(kw_only=True, slots=False)
class Options(ToolOptions):
    """The options of ``gram worker``."""

    store: str = given_by(store_option)
    match: Match = match_option
    at_once: int = option("How many runs it drives at once; 8.", default=8)
    grace: float = option(
        "How long runs may take when it is told to stop; then others go on with them; 30.",
        "SECONDS",
        type=click.FloatRange(0),
        default=30.0,
    )
    schedule: str | None = option(
        "Runs to submit at times, in gram; give it to all workers.", "FILE"
    )
    metrics: str | None = option(
        "Serve metrics for Prometheus there; without HOST, on this machine alone.", "[HOST:]PORT"
    )
    log_lines: LogLines = given_by(log_format_option)


@click.command("worker")
@options_of(Options)
def command(options: Options) -> None:
    """Take the runs that were submitted to a store, and drive them to their ends.

    Start as many as you like, on any machines: each run is driven by one at a time, and if that
    one is killed, others go on with it. A worker takes only runs whose tools it has, and the key of
    their provider, in its environment; its log says which it leaves. At SIGTERM or Ctrl-C it takes
    nothing new, and ends when its runs have. -q logs warnings alone, -v details, too.
    """
    leave_at_termination()  # until it works, which then ends what is under way
    from ...workers import Worker, read_schedules  # late, as it may be told to stop meanwhile

    level = logging.WARNING if is_quiet() else logging.INFO
    show_logs(level, options.log_lines)
    if is_verbose():
        logging.getLogger("interp.workers").setLevel(logging.DEBUG)
    for name in ("procrastinate", "psycopg.pool"):  # what they say, a worker says in its words
        logging.getLogger(name).addHandler(logging.NullHandler())
    library = options.library()
    with telemetry(options.metrics) as made:
        worker = Worker(
            options.store,
            library,
            match=options.match,
            at_once=options.at_once,
            grace=options.grace,
            schedules=read_schedules(options.schedule) if options.schedule else (),
            telemetry=made,
        )
        worker.work()
