"""Workers as processes of their own, and programs and tools for them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gram import loads_one
from interp.history import RunStore
from tests.interp.cli.process import at, without_keys
from tests.interp.forked import COMMANDS
from tests.interp.forking import Forked
from tests.interp.model_server import ModelServer
from tests.interp.worker_threads import address_of
from tests.paths import ROOT

GREETER = loads_one("""
[greeter:Agent {instruction: "Greet. Use `sayHello`.", model: "Offline/rehearsal"} |
  [sayHello:ToolSpecification {
    description: "Returns a friendly greeting message for the given name"
  } | (personName::Text {default: "world"})==>(::String)]]
""")
TALKER = loads_one('[talker:Agent {instruction: "Talk.", model: "OpenAI/gpt-5.6-luna"}]')
WORKING = loads_one("""
[working:Agent {instruction: "Work.", model: "OpenAI/gpt-5.6-luna"} |
  [work:ToolSpecification {description: "Works for some time"} | (seconds::Number)==>(::String)]]
""")
TOOLS = """
import os, time
from interp import ToolContext, tool

@tool(name="work", description="Works for some time")
def work(seconds: float, context: ToolContext) -> str:
    with open(os.environ["WORK_LOG"], "a") as file:
        file.write(f"begins {context.key}\\n")
    time.sleep(seconds)
    return "worked"
"""


class WorkerProcess:
    """A process of ``gram worker``.

    Attributes:
        process: the process.
    """

    def __init__(self, process: Forked) -> None:
        self.process = process

    def stop(self, seconds: float = 20) -> int:
        """Tell it to stop, wait until it has ended, and give its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def kill(self) -> None:
        """Kill it, as a crash would."""
        self.process.kill()
        self.process.wait(10)


@contextmanager
def worker(
    store: RunStore | str,
    *options: str,
    server: ModelServer | None = None,
    log: Path | None = None,
    told: Path | None = None,
    **variables: str,
) -> Iterator[WorkerProcess]:
    """A worker that is killed in the end.

    Args:
        store: its store, or where that is.
        options: the options of the command.
        server: the server of its models.
        log: the file that the tool ``work`` writes to.
        told: the file that gets what the worker logs.
        **variables: variables of its environment.
    """
    environment = {**without_keys(), "PYTHONPATH": str(ROOT), **(at(server) if server else {})}
    environment |= variables
    if log is not None:
        environment["WORK_LOG"] = str(log)
    with Path(os.devnull).open("r+b") as nothing, (told or Path(os.devnull)).open("ab") as logged:
        process = Forked(
            COMMANDS,
            ["worker", "--record", address_of(store), *options],
            environment=environment,
            cwd=ROOT,
            streams=(nothing, nothing, logged if "SHOW_WORKERS" not in os.environ else 2),
        )
    try:
        yield WorkerProcess(process)
    finally:
        process.kill()
        process.wait(10)


def until(holds: Callable[[], bool], seconds: float = 60) -> float:
    """Wait until something holds; returns the seconds that it took."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < seconds, "waited for too long"
        time.sleep(0.05)
    return time.monotonic() - began


def ended(store: RunStore, *runs: str) -> Callable[[], bool]:
    """Whether runs are done."""
    return lambda: all(store.row(run).status == "done" for run in runs)


def ended_without_waits(store: RunStore, *runs: str) -> Callable[[], bool]:
    """Whether runs are done; whenever it is asked, the times have come for which runs wait."""

    def look() -> bool:
        for change in (
            "gram_buckets SET not_before = 0",
            "gram_runs SET due = 0 WHERE status = 'queued'",
            "procrastinate_jobs SET scheduled_at = now() WHERE status = 'todo'",
        ):
            store.database.execute(f"UPDATE {change}")
        return ended(store, *runs)()

    return look


def let_time_pass(store: RunStore) -> None:
    """Leave the store as workers find it some time after others died, or were frozen."""
    for change in (
        "gram_runs SET leased_until = 0 WHERE status = 'running'",
        "procrastinate_workers SET last_heartbeat = now() - interval '1 minute'",
        "gram_workers SET seen = 0",
    ):
        store.database.execute(f"UPDATE {change}")
