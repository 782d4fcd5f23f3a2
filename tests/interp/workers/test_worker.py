"""A worker ends in time when it is told to, and says when, which run, and why."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psycopg
import pytest
from procrastinate.exceptions import ConnectorException

from interp import ConfigurationError, ToolLibrary, submit, tool
from interp.concurrency import call_in_thread
from interp.errors import StoreError
from interp.history import RunStore
from interp.history.stores import PostgresDatabase
from interp.workers import RunQueue, Worker, looking
from interp.workers.database_errors import is_of_database, stays
from interp.workers.driving import Driver
from interp.workers.worker import until_told
from tests.interp.model_server import ModelServer, tool_calls
from tests.interp.worker_processes import TALKER, TOOLS, WORKING, ended, until, worker
from tests.interp.worker_threads import at_work, working

OFFLINE = "Offline/rehearsal"


def test_a_worker_whose_tool_blocks_for_ever_ends_in_time(
    database: str, store: RunStore, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.url)
    began, go_on = threading.Event(), threading.Event()

    @tool(name="work", description="Works for some time")
    def work(seconds: float) -> str:
        began.set()
        go_on.wait()
        return "worked"

    model_server.will_say(tool_calls(("c1", "work", {"seconds": 1})))
    run = submit(WORKING, "Work.", store=store)
    worker = Worker(database, ToolLibrary.of(work), grace=0)
    try:
        with at_work(worker):
            assert began.wait(20)
    finally:
        go_on.set()
    assert store.row(run).status == "stopped"


def test_a_worker_goes_on_while_the_database_is_locked(database: str, store: RunStore) -> None:
    at = datetime.now(UTC) + timedelta(seconds=2)
    run = submit(TALKER, "Hello", store=store, model=OFFLINE, at=at)
    knows_its_queue = "SELECT 1 FROM gram_workers WHERE cardinality(queues) > 1"

    async def locked_out() -> None:
        worker = Worker(database)
        working = asyncio.create_task(worker.awork())
        await asyncio.to_thread(until, lambda: bool(store.database.execute(knows_its_queue)))
        with psycopg.connect(database) as other:
            await asyncio.to_thread(other.execute, "LOCK TABLE gram_runs")
            for _ in range(200):  # it would end here, if the worker kept the loop meanwhile
                await asyncio.sleep(0.01)
        await asyncio.to_thread(until, ended(store, run))
        worker.stop()
        await working

    asyncio.run(locked_out())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"match": "exact"}, "match is one of full, types, name, found 'exact'"),
        ({"at_once": 0}, "at_once must be at least 1"),
        ({"grace": -1}, "grace must not be negative"),
    ],
)
def test_what_a_worker_cannot_be_given_is_told(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        Worker("postgresql://nowhere/none", **options)


def test_looks_end_when_they_are_cancelled_while_one_ends(
    database: str, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "LOOK", 0)
    began, may_end, looks = threading.Event(), threading.Event(), list[int]()

    async def look(*_: object) -> None:
        looks.append(1)
        began.set()
        await call_in_thread(lambda: may_end.wait(10))

    beside = looking.Looks("w", Mock(store=store), RunQueue(PostgresDatabase(database)), ())
    monkeypatch.setattr(looking.Looks, "look", look)

    async def cancel_one() -> bool:
        keeping_on = asyncio.create_task(beside.keep_on(Mock(), Mock()))
        await asyncio.to_thread(began.wait, 10)
        keeping_on.cancel()
        may_end.set()
        await asyncio.wait({keeping_on}, timeout=10)
        return keeping_on.done()

    assert asyncio.run(cancel_one())
    beside.end()
    assert looks == [1]


TERMINATED_IN_ITS_IMPORTS = """
import os, signal, sys

class Terminates:
    def find_spec(self, name, *_):
        if name == "interp.workers":
            os.kill(os.getpid(), signal.SIGTERM)

sys.meta_path.insert(0, Terminates())
from interp.cli import main
main()
"""


def test_a_worker_that_is_told_to_stop_before_it_works_ends_well(database: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TERMINATED_IN_ITS_IMPORTS, "worker", "--record", database],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_signal_ends_work_in_time_though_it_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    told, for_ever, ends = threading.Event(), threading.Event(), [float("inf")]

    def stop() -> None:
        told.set()
        ends[0] = time.monotonic() + 0.1

    threading.Timer(0.05, lambda: signal.raise_signal(signal.SIGTERM)).start()
    before = signal.getsignal(signal.SIGTERM)
    is_over = until_told(lambda: for_ever.wait(60) and None, stop, lambda: ends[0])

    assert (is_over, told.is_set()) == (False, True)
    assert signal.getsignal(signal.SIGTERM) is before
    for_ever.set()


@pytest.mark.parametrize("table", ["gram_workers", "procrastinate_jobs"])
def test_a_worker_ends_when_the_database_refuses_what_it_asks(store: RunStore, table: str) -> None:
    with working(store) as raised:
        until(ended(store, submit(TALKER, "Hello", store=store, model=OFFLINE)))
        store.database.execute(f"ALTER TABLE {table} RENAME TO other")
        until(lambda: bool(raised), 5)
    (error,) = raised
    assert isinstance(error, StoreError)
    assert f'"{table}" does not exist' in str(error)
    assert "hint: the user may not do this, or tables are missing" in str(error)


def test_a_run_without_entries_does_not_keep_a_worker_from_others(store: RunStore) -> None:
    spoiled = submit(TALKER, "Hello", store=store, model=OFFLINE)
    store.database.execute("DELETE FROM gram_entries WHERE run = ?", spoiled)
    with working(store):
        until(ended(store, submit(TALKER, "Hello", store=store, model=OFFLINE)))


def test_a_queued_run_that_was_removed_leaves_no_job(store: RunStore) -> None:
    removed, other = (submit(TALKER, "Hi", store=store, model=OFFLINE) for _ in range(2))
    store.database.execute("DELETE FROM gram_runs WHERE id = ?", removed)
    with working(store):
        until(ended(store, other))
        until(lambda: not store.database.execute("SELECT 1 FROM procrastinate_jobs"))


def test_what_fails_once_without_the_database_is_tried_again_and_no_outage(
    store: RunStore, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    going, failed = Driver.go_on, list[str]()

    async def fail_once(driver: Driver, run: str) -> None:
        if not failed:
            failed.append(run)
            raise StoreError("there is no such run")
        await going(driver, run)

    monkeypatch.setattr(Driver, "go_on", fail_once)
    with caplog.at_level(logging.INFO, "interp.workers"), working(store):
        until(ended(store, submit(TALKER, "Hello", store=store, model=OFFLINE)))

    assert failed
    assert "cannot work" not in caplog.text


@pytest.mark.parametrize(
    ("sqlstates", "is_ours", "will_stay"),
    [
        ("42501 42P01", True, True),  # no permission, no such table
        ("53100 25006 57P01 40P01", True, False),  # disk full, read-only, shut down, deadlock
        ("22P05", False, False),  # a character that it cannot keep
    ],
)
def test_database_errors_are_told_apart(sqlstates: str, is_ours: bool, will_stay: bool) -> None:
    for each in sqlstates.split():
        error = StoreError("no")
        error.__cause__ = psycopg.errors.lookup(each)("no")
        assert (is_of_database(error), stays(error)) == (is_ours, will_stay)


def test_errors_without_a_code_are_told_apart() -> None:
    errors = (psycopg.OperationalError("refused"), psycopg.DataError("a NUL"), ValueError("no"))
    assert [*map(is_of_database, errors)] == [True, False, False]
    assert not any(map(stays, errors))
    assert not is_of_database(StoreError("there is no run x"))


# --- what it logs


def lines(file: Path, event: str) -> list[dict[str, Any]]:
    """The lines of a log that tell of an event."""
    told = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [line for line in told if line.get("event") == event]


def test_a_run_of_a_worker_that_was_killed_is_told_of_with_its_process(
    store: RunStore, model_server: ModelServer, tmp_path: Path
) -> None:
    told, log, tools = tmp_path / "log", tmp_path / "work", tmp_path / "tools.py"
    tools.write_text(TOOLS)
    model_server.will_say(tool_calls(("c1", "work", {"seconds": 1})), "done")
    run = submit(WORKING, "Go", store=store)
    with worker(store, "--tools", str(tools), server=model_server, log=log) as first:
        until(log.exists)
        first.kill()
        died = first.process.pid
    options = ("--tools", str(tools), "--log-format", "json")

    with worker(store, *options, server=model_server, log=log, told=told):
        until(ended(store, run))

    (line,) = lines(told, "run_taken_over")
    assert (line["level"], line["run"]) == ("WARNING", run)
    assert f"process {died} of " in line["message"]


def test_a_line_says_when_which_run_and_worker_and_what_a_tool_raised_without_keys(
    store: RunStore, model_server: ModelServer, tmp_path: Path
) -> None:
    told, tools, key = tmp_path / "log", tmp_path / "tools.py", "sk-1234567890abcdefgh"
    tools.write_text(
        "from interp import tool\n\n\n"
        '@tool(name="work", description="Works for some time")\n'
        "def work(seconds: float) -> str:\n"
        f'    raise ValueError("refused\\n2026-01-01T00:00:00.000Z INFO all is well, {key}")\n'
    )
    model_server.will_say(tool_calls(("c1", "work", {"seconds": 2})), "done")
    run = submit(WORKING, "Go", store=store, conversation="talk")

    with worker(store, "--tools", str(tools), server=model_server, told=told, SOME_API_KEY=key):
        until(ended(store, run))
        until(lambda: "run_done" in told.read_text("utf-8"))

    text = told.read_text("utf-8")
    time = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
    of_it = rf"run={run} conversation=talk worker=\S+"
    assert re.search(rf"{time} INFO event=run_done {of_it} working: done$", text, re.MULTILINE)
    assert re.search(rf"WARNING event=tool_failed {of_it} failed: ", text)
    assert "\n    2026-01-01T00:00:00.000Z INFO all is well, [redacted]" in text
    assert key not in text


def test_an_unreachable_provider_is_told_with_its_address(store: RunStore, tmp_path: Path) -> None:
    told = tmp_path / "log"
    run = submit(TALKER, "Hi", store=store)
    address = "http://127.0.0.1:9/v1"
    with worker(store, "--log-format", "json", told=told, OPENAI_BASE_URL=address):
        until(lambda: bool(lines(told, "provider_down")))
    first = lines(told, "provider_down")[0]
    assert (first["level"], first["run"]) == ("WARNING", run)
    assert f"cannot connect to {address}" in first["message"]


def test_an_outage_of_the_database_is_told_once_with_its_cause(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    blank = ConnectorException()
    blank.__cause__ = psycopg.OperationalError("connection refused\n\tIs the server running?")
    worker = Worker(database)

    with caplog.at_level(logging.INFO, "interp.workers"):
        for look in (blank, blank, blank, None, None):
            worker._looked(look)

    name = worker.store.name
    assert [each.message for each in caplog.records] == [
        f"cannot work, and tries again: {name}: connection refused Is the server running?",
        f"{name} answers again, after 0 s",
    ]
