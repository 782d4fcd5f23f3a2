"""How many runs workers drive a second, and what the database does for it.

    python -m benchmarks.workers [--runs 200] [--at-once 1]

A model takes 50 ms to answer. Each run asks it, calls a tool, and asks it again. One worker, then
four, on a Postgres server of their own, with fsync on.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.killed_workers import LEFT, PROGRAM, TOOLS
from benchmarks.model_server import serving
from benchmarks.stores import keep_on_disk
from interp import open_store, submit
from interp.history import RunStore
from tests.interp.postgres import serving_postgres

DELAY = 0.05
COUNTS = """
SELECT pg_current_wal_lsn() - '0/0'::pg_lsn, xact_commit, tup_inserted, tup_updated, tup_deleted
FROM pg_stat_database WHERE datname = current_database()
"""
NAMES = ("bytes of WAL", "transactions", "rows put in", "rows changed", "rows removed")
CONNECTIONS = "SELECT count(*) - 1 FROM pg_stat_activity WHERE datname = current_database()"
HOT = """
SELECT relname, n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables
WHERE n_tup_upd > 0 ORDER BY n_tup_upd DESC
"""


def counts(store: RunStore) -> list[int]:
    """What the database has done so far."""
    time.sleep(1.5)  # the server writes its statistics with some delay
    store.database.execute("SELECT pg_stat_clear_snapshot()")
    return [int(each) for each in store.database.execute(COUNTS)[0]]


def say(what: str, before: list[int], after: list[int], each: float, per: str) -> None:
    """Print what the database has done between two counts."""
    done = ", ".join(
        f"{(new - old) / each:.1f} {name}"
        for name, old, new in zip(NAMES, before, after, strict=True)
    )
    print(f"  {what}, {per}: {done}", flush=True)


@contextmanager
def working(address: str, url: str, folder: str, workers: int, at_once: int) -> Iterator[None]:
    """Workers that run while the context is open, from when each is known to the store."""
    tools = Path(folder, "tools.py")
    tools.write_text(TOOLS, "utf-8")
    command = [
        *(sys.executable, "-c", "from interp.cli import main; main()", "worker", "-q"),
        *("--record", address, "--tools", str(tools), "--at-once", str(at_once)),
    ]
    environment = {
        **os.environ,
        "OPENAI_BASE_URL": url,
        "OPENAI_API_KEY": "none",
        "LEDGER": str(Path(folder, "ledger")),
    }
    processes = [subprocess.Popen(command, env=environment) for _ in range(workers)]
    try:
        yield
    finally:
        for each in processes:
            each.terminate()
        for each in processes:
            each.wait()


def drive(address: str, url: str, runs: int, workers: int, at_once: int) -> float:
    """Have workers drive runs; returns how many they end a second, from when all are there."""
    alive = "SELECT count(*) FROM gram_workers"
    with tempfile.TemporaryDirectory() as folder, open_store(address) as store:
        submit(PROGRAM, "Greet a guest.", store=store)  # makes the tables
        with working(address, url, folder, workers, at_once):
            until(store, LEFT, 0)
            until(store, alive, workers)
            ((connections,),) = store.database.execute(CONNECTIONS)
            print(f"  {connections / workers:.1f} connections a worker")
            before = counts(store)
            time.sleep(10)
            say("idle", before, counts(store), 11.5 * workers, "a worker and second")
        until(store, alive, 0)
        before = counts(store)
        for number in range(runs):
            submit(PROGRAM, f"Greet guest {number}.", store=store)
        after = counts(store)
        say("submitting", before, after, runs, "a run")
        with working(address, url, folder, workers, at_once):
            until(store, alive, workers)
            left, began = store.database.execute(LEFT)[0][0], time.perf_counter()
            until(store, LEFT, 0)
            seconds = time.perf_counter() - began
            say("driving", after, counts(store), runs, "a run")
            for name, changed, hot in store.database.execute(HOT):
                print(f"    changes of {name}: {changed}, of them HOT {hot}")
            print(f"  {left} runs in {seconds:.1f} s: {left / seconds:.1f} a second", flush=True)
            return float(left / seconds)


def until(store: RunStore, sql: str, wanted: int) -> None:
    """Wait until a number is found."""
    ends = time.monotonic() + 120
    while store.database.execute(sql)[0][0] != wanted:
        assert time.monotonic() < ends, sql
        time.sleep(0.2)


def main() -> None:
    """One worker, then four."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=1)
    given = parser.parse_args()
    found = []
    with serving_postgres() as server, serving(DELAY) as url:
        for workers in (1, 4):
            with server.database() as address:
                keep_on_disk(address)
                print(f"workers: {workers}, each {given.at_once} runs at once")
                found.append(drive(address, url, given.runs * workers, workers, given.at_once))
    print(f"four beside one: {found[1] / found[0]:.2f} times")


if __name__ == "__main__":
    main()
