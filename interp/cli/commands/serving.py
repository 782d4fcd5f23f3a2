"""Commands that work until they are told to stop: ``serve`` for clients, ``worker`` for a store."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import click

from gram.extras import install
from lenses_ext.names import find_runnables
from lenses_ext.schemas import Match

from ...errors import ConfigurationError, ValidationError
from ...execution import Spending, Telemetry
from ...history.stores import Address
from ...programs import the_agent
from ...running import BeginOptions
from ...tools import ToolLibrary, bind_agent_tools
from ..inputs.declaring import Options, argument, command, option
from ..inputs.files import read_program
from ..inputs.libraries import ToolOptions
from ..inputs.options import RunningOptions, match_option
from ..inputs.record_option import expect_no_run, queue_option, record_option
from ..process import leave_at_termination, stdout_to_stderr
from ..telemetry import LogLines, show_logs, telemetry
from ..terminal.console import forbid, is_quiet, is_verbose, tell

if TYPE_CHECKING:
    from ...serving import Served


class _StoppableOptions(Options):
    """The options of commands that work until they are told to stop."""

    grace: float = option(
        "How long runs may take when it is told to stop; 30.",
        "SECONDS",
        type=click.FloatRange(0),
        default=30.0,
    )
    log_format: Literal["text", "json"] = option(
        "How the lines of the log are written, on standard error; text.", default="text"
    )


class _ServeOptions(RunningOptions, _StoppableOptions):
    as_mcp: Literal["http", "stdio"] | None = option(
        "Serve them as MCP tools: at /mcp beside the models, or to the program that starts this."
    )
    host: str = option("Where it listens; 127.0.0.1.", "ADDRESS", default="127.0.0.1")
    port: int = option("The port; 8000.", type=click.IntRange(0, 65535), default=8000)
    key_env: str | None = option("The environment variable with the key of clients.", "NAME")
    allow_host: tuple[str, ...] = option(
        "A name that clients call it by; this machine's own always count; * for any.", "NAME"
    )
    allow_origin: tuple[str, ...] = option(
        "Pages that may ask it from a browser, such as https://chat.example; * for any.", "ORIGIN"
    )
    at_once: int = option("How many runs it drives at once; 64.", default=64)
    body_bytes: int = option("How long a request may be; 32000000.", "NUMBER", default=32_000_000)
    show_tools: bool = option("Show clients calls of tools, as events.")
    reload: bool = option("Take changed programs for new runs.")
    record: str | None = record_option

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if meant := {"http", "stdio"}.intersection(self.mcp):
            raise click.UsageError(f"--mcp names a server of tools; write --as-mcp {min(meant)}")
        if self.record is not None:
            where = "many runs are kept in a store, such as runs.db or postgresql://…"
            found = Address.of(self.record)
            forbid(not found.is_store, f"--record {self.record}: {where}")
            expect_no_run(found)
        if self.record is None and (self.approve == "ask" or self.asks_before_servers):
            raise click.UsageError(
                "a run that asks before calls waits for gram runs decide: --record names its store"
            )

    @property
    def key(self) -> str | None:
        key = os.environ.get(self.key_env, "").strip() if self.key_env else None
        if key == "":
            raise ConfigurationError(f"--key-env {self.key_env}: the variable is not set, or empty")
        return key


@command("serve")
def serve_command(options: _ServeOptions, files: tuple[str, ...] = argument("FILE...")) -> None:
    """Serve the agents and workflows of FILEs as the models of an OpenAI-compatible server.

    Clients ask http://127.0.0.1:8000/v1, by Chat Completions or the Responses API, and name an
    agent as the model. Each request is a new conversation of what its messages say. With --record,
    each run is kept in a store, and requests may name conversations that go on there. At SIGTERM or
    Ctrl-C it takes nothing new, and ends when its runs have.

    With --as-mcp they are the tools of an MCP server, too, by streamable HTTP at
    http://127.0.0.1:8000/mcp; or they are nothing but that, over standard input and output.
    """
    leave_at_termination()
    key, as_mcp = options.key, options.as_mcp
    level = logging.WARNING if is_quiet() else logging.INFO
    lines = LogLines(as_json=options.log_format == "json")
    show_logs(logging.DEBUG if options.debug else level, lines, ["mcp", "uvicorn"])
    if not all(map(find_spec, ("starlette", "uvicorn"))):
        raise ConfigurationError(f"serving needs starlette and uvicorn\n  hint: {install('serve')}")
    if as_mcp and find_spec("mcp") is None:
        raise ConfigurationError(f"--as-mcp needs the package mcp\n  hint: {install('mcp')}")
    from ...serving import LOOPBACK, Doors, Serving, reloading, serve, serve_stdio

    spending = Spending()
    readers, shown_metrics = _metrics()
    with telemetry(readers=readers) as made:
        with stdout_to_stderr() if as_mcp == "stdio" else nullcontext():
            read = partial(_read, files, options, options.library(), made, spending)
            agents, paths = read()
        hosts, origins = LOOPBACK | {options.host, *options.allow_host}, options.allow_origin
        serving = Serving(
            agents,
            Doors(hosts, frozenset(origins), key),
            record=options.record,
            shows_tools=options.show_tools,
            at_once=options.at_once,
            most_bytes=options.body_bytes,
            grace=options.grace,
            metrics=shown_metrics,
            beside=reloading(read, paths) if options.reload else None,
        )
        if as_mcp == "stdio":
            serve_stdio(serving)
        else:
            serve(serving, options.host, options.port, as_mcp=as_mcp is not None)
    if options.usage:
        tell(spending.text())


def _read(
    files: Iterable[str],
    options: _ServeOptions,
    library: ToolLibrary,
    made: Telemetry | None,
    spending: Spending,
) -> tuple[Mapping[str, Served], Iterable[Path]]:
    """The agents and workflows of some files, and the files that say them."""
    from ...serving import Served

    agents, paths = dict[str, Served](), list[Path]()
    for file in files:
        project = read_program(file)
        paths += (*project.documents, *project.skill_files)
        names = [each.value.identity for each in find_runnables(project)]
        if not names:
            raise ValidationError(f"{file}: there is no agent to serve")
        for name in names:
            if name in agents:
                raise ValidationError(f"{file}: another file has an agent {name}, too")
            program = the_agent(project, name, by="serve")
            own = options.made_up_tools(program, library, file) | library
            with options.hinting(file):
                bind_agent_tools(program, own, match=options.match)
            how = {**options.of_new_run, "policy": options.policy(own), "telemetry": made}
            if options.usage:
                how["observe"] = spending.count
            agents[name] = Served(program, own, cast("BeginOptions", how))
    return agents, paths


def _metrics() -> tuple[list[Any], Callable[[], bytes] | None]:
    """What reads the metrics of runs, and what shows them; nothing without prometheus-client."""
    try:
        from opentelemetry.exporter.prometheus import PrometheusMetricReader
        from prometheus_client import generate_latest
    except ImportError:
        return [], None
    return [PrometheusMetricReader()], generate_latest


class _WorkerOptions(ToolOptions, _StoppableOptions):
    store: str = queue_option
    match: Match = match_option
    at_once: int = option("How many runs it drives at once; 8.", default=8)
    schedule: str | None = option(
        "Runs to submit at times, in gram; give it to all workers.", "FILE"
    )
    metrics: str | None = option(
        "Serve metrics for Prometheus there; without HOST, on this machine alone.", "[HOST:]PORT"
    )


@command("worker")
def worker_command(options: _WorkerOptions) -> None:
    """Take the runs that were submitted to a store, and drive them to their ends.

    Start as many as you like, on any machines: each run is driven by one at a time, and if that
    one is killed, others go on with it. A worker takes only runs whose tools it has, and the key of
    their provider, in its environment; its log says which it leaves. At SIGTERM or Ctrl-C it takes
    nothing new, and ends when its runs have. -q logs warnings alone, -v details, too.
    """
    leave_at_termination()  # until it works, which then ends what is under way
    from ...workers import Worker, read_schedules  # late, as it may be told to stop meanwhile

    level = logging.WARNING if is_quiet() else logging.INFO
    show_logs(level, LogLines(as_json=options.log_format == "json"))
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
