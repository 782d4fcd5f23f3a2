"""``gram worker``: take queued runs, and drive them to their ends."""

from __future__ import annotations

import logging
from typing import Any

import click

from ..inputs.file_options import mcp_option, openapi_option
from ..inputs.options import match_option, tools_option
from ..inputs.reading import read_libraries
from ..inputs.record_option import store_option
from ..process import leave_at_termination
from ..telemetry import telemetry
from ..terminal.log_lines import LogLines, log_format_option, show_logs
from ..terminal.output import is_quiet, is_verbose


@click.command("worker")
@store_option
@tools_option
@mcp_option
@openapi_option
@match_option
@click.option(
    "--at-once", type=click.IntRange(1), default=8, help="How many runs it drives at once; 8."
)
@click.option(
    "--grace",
    type=click.FloatRange(0),
    default=30.0,
    metavar="SECONDS",
    help="How long runs may still take when it is told to stop; then others go on with them; 30.",
)
@click.option(
    "--schedule",
    metavar="FILE",
    help="A file of gram with runs to submit at times; give it to all workers.",
)
@click.option(
    "--metrics",
    metavar="[HOST:]PORT",
    help="Serve metrics there, as Prometheus reads them; on this machine alone without HOST.",
)
@log_format_option
def command(
    store: str,
    tools: tuple[str, ...],
    mcp: tuple[str, ...],
    openapi: tuple[str, ...],
    schedule: str | None,
    metrics: str | None,
    log_lines: LogLines,
    **how: Any,
) -> None:
    """Take the runs that were submitted to a store, and drive them to their ends.

    Start as many as you like, on any machines: each run is driven by one at a time, and if that
    one is killed, others go on with it. A worker takes only runs whose tools it has, and the key of
    their provider, in its environment; its log says which it leaves. At SIGTERM or Ctrl-C it takes
    nothing new, and ends when its runs have. -q logs warnings alone, -v details, too.
    """
    leave_at_termination()  # until it works, which then ends what is under way
    from ...workers import Worker, read_schedules  # late, as it may be told to stop meanwhile

    level = logging.WARNING if is_quiet() else logging.INFO
    show_logs(level, log_lines)
    if is_verbose():
        logging.getLogger("interp.workers").setLevel(logging.DEBUG)
    for name in ("procrastinate", "psycopg.pool"):  # what they say, a worker says in its words
        logging.getLogger(name).addHandler(logging.NullHandler())
    library = read_libraries(tools, mcp, openapi)
    with telemetry(metrics) as made:
        worker = Worker(
            store,
            library,
            **how,
            schedules=read_schedules(schedule) if schedule else (),
            telemetry=made,
        )
        worker.work()
