"""Many queued runs in hard times: killed workers, poison, wrong clocks, a database that fails over.

    python -m benchmarks.hardships [--runs 2000] [--workers 4] [--every 10] [--poison 3]

Runs are queued as in `benchmarks.killed_workers`, and workers are killed at random. The clock of
Python is an hour late in one worker, and an hour early in another. Some runs kill whichever worker
calls their tool. The database is a Postgres server that copies what it commits to a second one
before it says so; all reach it through a proxy. When half of the runs have ended, it crashes, the
second one takes its place, and the proxy leads there.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from benchmarks.killed_workers import PROGRAM, TOOLS
from benchmarks.model_server import serving
from gram import loads_one
from interp import open_store, submit
from interp.errors import StoreError
from interp.history import RunStore
from interp.machine import ModelReplied, ToolReturned
from tests.interp.postgres import PostgresServer, serving_postgres

T = TypeVar("T")

POISON = loads_one(
    """
    [poison:Agent {instruction: "Die.", model: "OpenAI/gpt-5.6-luna"} |
      [sayHello:ToolSpecification {description: "Says hello"} |
        (personName::Text)==>(::String)]]
    """
)
DEADLY = '    if context.key.startswith("poison"):\n        os.kill(os.getpid(), 9)\n'
START = """
import datetime, sys, time
shift = float(sys.argv.pop(1))
if shift:
    import procrastinate.utils, interp.execution.recorder
    now, told = time.time, lambda: now() + shift
    utc = lambda: datetime.datetime.fromtimestamp(told(), datetime.UTC)
    time.time, procrastinate.utils.utcnow, interp.execution.recorder.now = told, utc, utc
from interp.cli import main
main()
"""
SHIFTS = (-3600, 3600)
LEFT = "SELECT count(*) FROM gram_runs WHERE status NOT IN ('done', 'failed', 'limited')"
_LONGEST = 7200.0  # seconds
_AGAIN = 60.0  # seconds in which the database may be away


class Standby(PostgresServer):
    """A copy of a server, which has each commit before the server tells of it."""

    def __init__(self, first: PostgresServer, folder: Path) -> None:
        self.folder, self._user = folder, first._user
        if self._user:
            shutil.chown(folder, self._user)
        self._call("pg_basebackup", f"--host={first.folder}", "--username=postgres", "-R")
        with (folder / "data/postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(f"unix_socket_directories = '{folder}'\nsynchronous_standby_names = ''\n")
        self.start()
        first._tell("ALTER SYSTEM SET synchronous_standby_names = '*'")
        first._tell("SELECT pg_reload_conf()")

    def promote(self) -> None:
        """Become the server."""
        self._call("pg_ctl", "--wait", "promote")


class Proxy:
    """Leads connections of a port to the socket of a server."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self._open: set[socket.socket] = set()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def lead_to(self, target: Path) -> None:
        """Lead to another server, and break what leads to the one before."""
        self.target = target
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def passes(self, source: socket.socket) -> bool:
        """Whether what comes from there goes on; else the connection breaks."""
        return True

    def _accept(self) -> None:
        while True:
            client, _ = self._listening.accept()
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(f"{self.target}/.s.PGSQL.5432")
            except OSError:
                client.close()
                continue
            self._open |= {client, server}
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self._copy, args=(one, other), daemon=True).start()

    def _copy(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while (data := one.recv(65536)) and self.passes(one):
                other.sendall(data)
        for each in (one, other):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        one.close()
        self._open.discard(one)


def carry_out(runs: int, workers: int, every: float, poison: int) -> None:
    """Queue runs, have workers drive them through all of it, and print what became of them."""
    with (
        tempfile.TemporaryDirectory(prefix="gram-") as folder,
        tempfile.TemporaryDirectory(prefix="gram-pg-") as copy,
        serving_postgres() as server,
        serving() as url,
        server.database() as address,
    ):
        standby = Standby(server, Path(copy))
        proxy = Proxy(server.folder)
        name = address.partition("@/")[2].partition("?")[0]
        led = f"postgresql://postgres@127.0.0.1:{proxy.port}/{name}"
        try:
            with open_store(led) as store:
                told = _carried_out(store, led, folder, url, (server, standby, proxy), locals())
                print(told, flush=True)
        finally:
            with suppress(subprocess.CalledProcessError):
                standby.stop()
            server.start()  # so that its database can be dropped


def _carried_out(
    store: RunStore,
    address: str,
    folder: str,
    url: str,
    servers: tuple[PostgresServer, Standby, Proxy],
    given: dict[str, int | float],
) -> str:
    runs, count, every = int(given["runs"]), int(given["workers"]), float(given["every"])
    server, standby, proxy = servers
    tools, ledger = Path(folder, "tools.py"), Path(folder, "ledger")
    tools.write_text(TOOLS.replace("    return", f"{DEADLY}    return"), "utf-8")
    plain = {**os.environ, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none", "LEDGER": str(ledger)}
    began = time.monotonic()
    ids = [submit(PROGRAM, f"Greet guest {n}.", store=store) for n in range(runs)]
    deadly = [
        submit(POISON, "Die.", store=store, run_id=f"poison-{n}", priority=1)
        for n in range(int(given["poison"]))
    ]
    submitting = time.monotonic() - began

    def started(index: int) -> subprocess.Popen[bytes]:
        shift = SHIFTS[index] if index < len(SHIFTS) else 0
        command = [sys.executable, "-c", START, str(shift), "worker", "-q"]
        where = ["--record", address, "--tools", str(tools), "--at-once", "8"]
        return subprocess.Popen([*command, *where], env=plain)

    processes = [started(index) for index in range(count)]
    chance, kills, deaths, failed_over = random.Random(0), 0, 0, 0.0
    try:
        began = time.monotonic()
        next_kill = began + chance.expovariate(1 / every)
        while left := _again(lambda: store.database.execute(LEFT))[0][0]:
            assert time.monotonic() - began < _LONGEST, f"stuck with {left} left"
            time.sleep(0.5)
            for index, process in enumerate(processes):
                if process.poll() is not None:
                    processes[index], deaths = started(index), deaths + 1
            if time.monotonic() > next_kill:
                index, kills = chance.randrange(count), kills + 1
                processes[index].kill()
                processes[index].wait()
                processes[index] = started(index)
                next_kill = time.monotonic() + chance.expovariate(1 / every)
            if left < runs / 2 and not failed_over:
                at = time.monotonic()
                server.stop()
                standby.promote()
                proxy.lead_to(standby.folder)
                _again(lambda: store.database.execute("SELECT 1"))
                failed_over = time.monotonic() - at
        seconds = time.monotonic() - began
    finally:
        for process in processes:
            process.kill()
            process.wait()
    called = Counter(ledger.read_text("ascii").split())
    lost, repeated = list[str](), list[str]()
    for run in ids:
        kept, row = store.recorded(run), store.row(run)
        events = Counter(
            (type(step.event), step.event.at)
            for step in kept.steps
            if isinstance(step.event, ModelReplied | ToolReturned)
        )
        if len(events) != 3 or row.status != "done" or not called[f"{run}/0/0"]:
            lost.append(f"{run} ({row.status}: {row.reason})")
        if max(events.values(), default=0) > 1:
            repeated.append(run)
    again = sum(called[f"{run}/0/0"] - 1 for run in ids if called[f"{run}/0/0"])
    ends = [f"{store.row(run).status}, {called[f'{run}/0/0']} deaths" for run in deadly]
    return (
        f"{runs} runs submitted in {submitting:.0f} s, ended in {seconds:.0f} s "
        f"({runs / seconds:.1f}/s); {kills} workers killed, {deaths} died by poison; "
        f"away while failing over {failed_over:.1f} s\n"
        f"poison: {'; '.join(ends)}\n"
        f"lost: {', '.join(lost) or 'none'}; recorded twice: {len(repeated)}; "
        f"tool calls made again: {again}"
    )


def _again(ask: object) -> list[tuple[int, ...]]:
    until = time.monotonic() + _AGAIN
    while True:
        try:
            found: list[tuple[int, ...]] = ask()  # type: ignore[operator]  # a function
            return found
        except StoreError:
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


def main() -> None:
    """Carry it out, and print what became of the runs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--every", type=float, default=10.0)
    parser.add_argument("--poison", type=int, default=3)
    given = parser.parse_args()
    carry_out(given.runs, given.workers, given.every, given.poison)


if __name__ == "__main__":
    main()
