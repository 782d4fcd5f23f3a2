"""What the database does for a thousand workers and a million runs, with rows put in by SQL.

    python -m benchmarks.scaling [--runs 1000000] [--claimed 8000] [--workers 1000]
                                 [--listeners 200]

A Postgres server of its own, with fsync on. The workers are not there: what each asks every few
seconds is asked here, in a store as full as theirs would be.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

import psycopg
from psycopg_pool import AsyncConnectionPool

from benchmarks.records import AGENT
from benchmarks.stores import keep_on_disk, say, timed
from interp import open_store
from interp.history import RunStore
from interp.history.stores import PostgresDatabase, StoredRun
from interp.machine import start
from interp.workers.looking import seen
from interp.workers.queue import SQL, make_worker_tables
from tests.interp.postgres import PostgresServer, serving_postgres

AsyncPool: TypeAlias = "AsyncConnectionPool[Any]"
CLOCK = "extract(epoch FROM now())::double precision"
RUNS = f"""
INSERT INTO gram_runs (id, status, agent, model, filename, program, priority, created, changed,
                       fence, owner, leased_until, input_tokens, output_tokens)
SELECT %s || n, %s, 'greeter', 'OpenAI/gpt-5.6-luna', '', repeat('a', 64), 0,
       {CLOCK} - n / 10.0 - %s, {CLOCK} - n / 10.0 - %s, 1, %s, {CLOCK} + %s, 120, 24
FROM generate_series(1, %s) AS n
"""
HEADS = """
INSERT INTO gram_entries (run, seq, fence, text)
SELECT id, 0, 0, (SELECT text FROM gram_entries WHERE run = %s AND seq = 0)
FROM gram_runs WHERE id <> %s ON CONFLICT DO NOTHING
"""
WORK = """
UPDATE gram_runs SET queue = 'q' WHERE status = 'running'
"""
JOBS = """
INSERT INTO procrastinate_jobs (queue_name, task_name, queueing_lock, status, worker_id)
SELECT 'q', 'gram.go_on', id, 'doing',
       (SELECT min(id) + row_number() OVER () % 1000 FROM procrastinate_workers)
FROM gram_runs WHERE status = 'running'
"""
WORKERS = "INSERT INTO procrastinate_workers SELECT FROM generate_series(1, 1000)"
STALLED = """
SELECT job.id FROM procrastinate_jobs AS job LEFT JOIN procrastinate_workers AS stalled
ON stalled.id = worker_id AND last_heartbeat < now() - interval '6 hours'
WHERE status = 'doing' AND (worker_id IS NULL OR stalled.id IS NOT NULL)
"""
RENEWED = """
SELECT n_tup_upd, n_tup_hot_upd, n_dead_tup, pg_current_wal_lsn() - '0/0'::pg_lsn
FROM pg_stat_user_tables WHERE relname = 'gram_runs'
"""


def filled(store: RunStore, runs: int, claimed: int) -> None:
    """Put runs that have ended, and runs that are claimed, into a store."""
    state, _, _ = start(AGENT, "go")
    one = str(uuid4())
    StoredRun(store, one).begin(state, [])
    a_day = 86400.0
    store.database.execute(RUNS, "done-", "done", a_day, a_day, None, 0.0, runs)
    store.database.execute(RUNS, "claimed-", "running", 0.0, 0.0, "elsewhere", 3600.0, claimed)
    store.database.execute(HEADS, one, one)
    for each in (WORK, WORKERS, JOBS):
        store.database.execute(f"{each} RETURNING 1")
    store.database.execute("VACUUM ANALYZE")


def renewals(store: RunStore, leases: int = 500) -> None:
    """What the renewals of claims change, while they are held for some time."""
    state, _, _ = start(AGENT, "go")
    for number in range(leases):
        StoredRun(store, f"held-{number}").begin(state, [])
    held = [store.claim(f"held-{number}") for number in range(leases)]
    time.sleep(1.5)
    ((changed, hot, _, written),) = store.database.execute(RENEWED)
    time.sleep(20)
    store.database.execute("SELECT pg_stat_clear_snapshot()")
    ((changed_then, hot_then, dead, written_then),) = store.database.execute(RENEWED)
    times = int(changed_then - changed)
    print(
        f"  {times} renewals of {len(held)} claims in 20 s: {int(hot_then - hot)} of them HOT, "
        f"{int(written_then - written) / max(1, times):.0f} bytes of WAL each, "
        f"{dead} dead rows at the end"
    )


def processor_time(folder: Path) -> float:
    """The seconds of processor time that a server has used, with the processes that live."""
    postmaster = (folder / "data/postmaster.pid").read_text("ascii").split()[0]
    ticks = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            fields = file.read_text("ascii", "replace").rpartition(")")[2].split()
            if postmaster in (file.parent.name, fields[1]):
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


async def notifications(server: PostgresServer, address: str, listeners: int) -> None:
    """What a notification costs the server, and what it costs that those who hear it ask."""
    every = [f"only_{number}" for number in range(listeners)]
    async with AsyncConnectionPool(address, min_size=8, max_size=8, open=False) as pool:
        await heard(server, pool, address, listeners, ["nobody"])
        await heard(server, pool, address, listeners, every[:8])
        await heard(server, pool, address, listeners, every)


async def heard(
    server: PostgresServer, pool: AsyncPool, address: str, listeners: int, channels: list[str]
) -> None:
    """Notify some of the listeners, who ask for a job then, again and again."""
    fetch = "SELECT * FROM procrastinate_fetch_job_v2(ARRAY['q'], NULL)"
    times, asked = 50, 0

    async def listen(channel: str) -> None:
        nonlocal asked
        async with await psycopg.AsyncConnection.connect(address, autocommit=True) as connection:
            await connection.execute(f"LISTEN {channel}")
            async for _ in connection.notifies():
                async with pool.connection() as asking:
                    await asking.execute(fetch)
                asked += 1

    tasks = [asyncio.create_task(listen(f"only_{number}")) for number in range(listeners)]
    await asyncio.sleep(5)
    before, began = processor_time(server.folder), time.perf_counter()
    for number in range(times):
        async with pool.connection() as connection:
            for channel in channels:
                await connection.execute("SELECT pg_notify(%s, %s)", (channel, str(number)))
    wanted = 0 if channels == ["nobody"] else times * len(channels)
    while asked < wanted:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.5)
    used = (processor_time(server.folder) - before) / times
    took = (time.perf_counter() - began - 0.5) / times
    print(
        f"  a notification that {wanted // times} of {listeners} listeners answer: "
        f"{1000 * used:.1f} ms of the server's processor time, {1000 * took:.1f} ms",
        flush=True,
    )
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


def main() -> None:
    """Fill a store, and time what workers ask of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--claimed", type=int, default=8000)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--listeners", type=int, default=200)
    given = parser.parse_args()
    with serving_postgres() as server, server.database() as address, open_store(address) as store:
        keep_on_disk(address)
        store.ready()
        database = store.database
        assert isinstance(database, PostgresDatabase)
        make_worker_tables(database)
        asyncio.run(notifications(server, address, given.listeners))
        renewals(store)
        began = time.perf_counter()
        filled(store, given.runs, given.claimed)
        print(f"  {given.runs} runs put in, in {time.perf_counter() - began:.0f} s", flush=True)
        for number in range(given.workers):
            seen(database, f"w-{number}", f"w{number}", ["q"])
        state, _, _ = start(AGENT, "go")
        log = StoredRun(store, str(uuid4()))
        log.begin(state, [])

        def held() -> None:
            with log.held():
                pass

        say("a claim, and letting go", timed(held, 100, 10))
        say("a page of 100 runs", timed(lambda: list(store.rows(limit=100)), 10, 1))
        told = timed(lambda: seen(database, "w-7", "w7", ["q"]), 50, 5)
        say("a worker says that it lives", told)
        found = timed(lambda: database.execute(SQL["queues"]), 50, 5)
        say("a worker looks for new queues", found)
        stalled = timed(lambda: store.database.execute(STALLED), 20, 2)
        say("a look for jobs of dead workers", stalled)
        ended = datetime.now(UTC) - timedelta(seconds=86400 + (given.runs - 10_000) / 10)
        began, used = time.perf_counter(), time.process_time()
        removed = store.prune(ended)
        seconds = time.perf_counter() - began, time.process_time() - used
        say(f"prune, {removed} of {given.runs} runs", seconds)


if __name__ == "__main__":
    main()
