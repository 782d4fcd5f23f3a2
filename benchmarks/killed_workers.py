"""Many queued runs over workers that are killed at random: none is lost, none is done twice.

    python -m benchmarks.killed_workers [--runs 10000] [--workers 4] [--every 10] [--record ADDRESS]

Each run asks a model, calls a tool, and asks the model again. The tool writes the key of its call
to a file. Workers are killed by SIGKILL and replaced at once. Without an address, a Postgres server
is started for it, without fsync.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import Factory, define

from benchmarks.model_server import serving
from gram import loads_one
from interp import open_store, submit
from interp.history import RunStore
from interp.machine import ModelReplied, ToolReturned

PROGRAM = loads_one(
    """
    [greeter:Agent {instruction: "Greet. Use `sayHello`.", model: "OpenAI/gpt-5.6-luna"} |
      [sayHello:ToolSpecification {description: "Says hello"} |
        (personName::Text)==>(::String)]]
    """
)
TOOLS = """
import os
from interp import ToolContext, tool

@tool(name="sayHello", description="Says hello")
def say_hello(personName: str, context: ToolContext) -> str:
    with open(os.environ["LEDGER"], "a") as file:
        file.write(f"{context.key}\\n")
    return f"Hello, {personName}!"
"""
UNDER_WAY = "SELECT id, fence FROM gram_runs WHERE status = 'running' AND owner LIKE ?"
LEFT = "SELECT count(*) FROM gram_runs WHERE status NOT IN ('done', 'failed', 'limited')"
HOLDERS = (
    "SELECT queueing_lock, worker_id FROM procrastinate_jobs "
    "WHERE status = 'doing' AND worker_id IS NOT NULL AND queueing_lock = ANY(?)"
)
_LONGEST = 3600.0  # seconds
_LOOK = 0.05  # seconds between two looks
_TO_CLAIM = 5.0  # seconds in which a worker that has a job claims its run, unless it is killed


@define
class _Caught:
    """A run that was under way in a worker that was killed.

    Attributes:
        fence: the number of its claim.
        killed: when the worker was killed.
        holders: the workers that had its job since, with the times when that was seen first.
    """

    fence: int
    killed: float
    holders: dict[int, float] = Factory(dict)

    def killed_last(self, kills: list[float], now: float) -> float:
        """When the last worker was killed that had the run, or its job and had not claimed it."""
        had_it = [each for each in self.holders.values() if self.killed < each < now - _TO_CLAIM]
        return next((each for each in kills if had_it and each > max(had_it)), self.killed)


@define
class Report:
    """What became of the runs.

    Attributes:
        runs: how many were submitted.
        seconds: how long it took from the first worker to the last run.
        submitting: how long it took to submit them.
        kills: how many workers were killed.
        caught: how many runs were under way in a worker that was killed.
        takeovers: the seconds until each of these was gone on with, from when the last worker
            that had it was killed.
        again: the seconds from the first kill, for those whose next worker was killed, too, before
            it had claimed them.
        lost: runs that did not end well.
        repeated: runs in which an answer is recorded more than once.
        called_again: calls of the tool that were made more than once; a call that was under way
            when its worker was killed may be.
    """

    runs: int
    seconds: float = 0.0
    submitting: float = 0.0
    kills: int = 0
    caught: int = 0
    takeovers: list[float] = Factory(list)
    again: list[float] = Factory(list)
    lost: list[str] = Factory(list)
    repeated: list[str] = Factory(list)
    called_again: int = 0

    def __str__(self) -> str:
        longest = max(self.takeovers, default=0.0)
        told = (
            f"runs whose next worker was killed, too, before it had claimed them: {len(self.again)}"
        )
        if self.again:
            told += f"; longest takeover {max(self.again):.1f} s after the first of these kills"
        lost = ", ".join(self.lost) or "none"
        return (
            f"{self.runs} runs submitted in {self.submitting:.0f} s, ended in {self.seconds:.0f} s "
            f"({self.runs / self.seconds:.0f}/s)\n"
            f"{self.kills} workers killed, with {self.caught} runs under way; longest takeover "
            f"{longest:.1f} s after the kill of the last worker that had the run\n"
            f"{told}\n"
            f"lost: {lost}; recorded twice: {len(self.repeated)}; "
            f"tool calls made again: {self.called_again}"
        )


def carry_out(
    address: str, *, runs: int, workers: int, every: float, at_once: int = 8, seed: int = 0
) -> Report:
    """Submit runs, have workers drive them, and kill one now and then until all have ended.

    Args:
        address: an empty store.
        runs: how many runs.
        workers: how many workers there are at a time.
        every: the seconds between two kills, on average.
        at_once: how many runs each worker drives at once.
        seed: of which worker is killed when.
    """
    report, chance = Report(runs), random.Random(seed)
    with tempfile.TemporaryDirectory() as folder, serving() as url, open_store(address) as store:
        tools, ledger = Path(folder, "tools.py"), Path(folder, "ledger")
        tools.write_text(TOOLS, "utf-8")
        began = time.monotonic()
        ids = [submit(PROGRAM, f"Greet guest {n}.", store=store) for n in range(runs)]
        report.submitting = time.monotonic() - began
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": url,
            "OPENAI_API_KEY": "none",
            "LEDGER": str(ledger),
        }
        command = [
            *(sys.executable, "-c", "from interp.cli import main; main()", "worker", "-q"),
            *("--record", address, "--tools", str(tools), "--at-once", str(at_once)),
        ]
        with _working(command, environment, workers) as processes:
            began = time.monotonic()
            _kill_until_ended(store, report, chance, every, processes, command, environment)
            report.seconds = time.monotonic() - began
        _judge(store, ids, ledger.read_text("ascii").split(), report)
    return report


def _kill_until_ended(
    store: RunStore,
    report: Report,
    chance: random.Random,
    every: float,
    processes: list[subprocess.Popen[bytes]],
    command: list[str],
    environment: dict[str, str],
) -> None:
    waiting, kills = dict[str, _Caught](), list[float]()
    began = time.monotonic()
    next_kill, left_then = began + chance.expovariate(1 / every), report.runs
    while (left := store.database.execute(LEFT)[0][0]) or waiting:
        assert time.monotonic() - began < _LONGEST, f"stuck: {report}"
        time.sleep(_LOOK)
        fences: dict[str, int] = dict(
            store.database.execute("SELECT id, fence FROM gram_runs WHERE id = ANY(?)", [*waiting])
        )
        for run, caught in list(waiting.items()):
            if fences[run] > caught.fence or store.row(run).status == "done":
                _taken_over(report, waiting.pop(run), kills)
        for run, holder in store.database.execute(HOLDERS, [*waiting]):
            waiting[run].holders.setdefault(holder, time.monotonic())
        # On a machine that is too busy for workers to get anywhere until the next kill, it waits.
        # The first kill comes as soon as runs end, so that a few on a fast machine see one, too.
        is_due = time.monotonic() > next_kill or not kills
        if is_due and left_then - left >= len(processes):
            left_then = left
            next_kill = time.monotonic() + chance.expovariate(1 / every)
            index = chance.randrange(len(processes))
            killed = processes[index]
            killed.kill()
            killed.wait()
            now = time.monotonic()
            kills.append(now)
            processes[index] = subprocess.Popen(command, env=environment)
            found = store.database.execute(UNDER_WAY, f"%/{killed.pid}/%")
            held: dict[str, int] = dict(store.database.execute(HOLDERS, [run for run, _ in found]))
            for run, fence in found:
                if run in waiting:  # taken over since the last look, and killed again
                    _taken_over(report, waiting.pop(run), kills)
                waiting[run] = _Caught(fence, now, {held[run]: now} if run in held else {})
            report.kills += 1
            report.caught += len(found)


def _taken_over(report: Report, caught: _Caught, kills: list[float]) -> None:
    """Note how long a run waited, and whether another worker was killed with its job meanwhile."""
    now = time.monotonic()
    killed_last = caught.killed_last(kills, now)
    report.takeovers.append(now - killed_last)
    if killed_last > caught.killed:
        report.again.append(now - caught.killed)


def _judge(store: RunStore, ids: list[str], ledger: list[str], report: Report) -> None:
    for run in ids:
        kept = store.recorded(run)
        events = Counter(
            (type(step.event), step.event.at)
            for step in kept.steps
            if isinstance(step.event, ModelReplied | ToolReturned)
        )
        row = store.row(run)
        if len(events) != 3 or row.status != "done":
            report.lost.append(f"{run} ({row.status}: {row.reason})")
        if max(events.values(), default=0) > 1:
            report.repeated.append(run)
    called = Counter(ledger)
    report.lost += [run for run in ids if not called[f"{run}/0/0"]]
    report.called_again = sum(times - 1 for times in called.values())


@contextmanager
def _working(
    command: list[str], environment: dict[str, str], workers: int
) -> Iterator[list[subprocess.Popen[bytes]]]:
    processes = [subprocess.Popen(command, env=environment) for _ in range(workers)]
    try:
        yield processes
    finally:
        for each in processes:
            each.kill()
            each.wait()


def main() -> None:
    """Carry it out, and print what became of the runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--every", type=float, default=10.0)
    parser.add_argument("--record")
    given = parser.parse_args()
    if given.record:
        print(carry_out(given.record, runs=given.runs, workers=given.workers, every=given.every))
        return
    from tests.interp.postgres import serving_postgres

    with serving_postgres() as server, server.database() as address:
        print(carry_out(address, runs=given.runs, workers=given.workers, every=given.every))


if __name__ == "__main__":
    main()
