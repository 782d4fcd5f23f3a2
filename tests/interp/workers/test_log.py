"""What a worker logs: lines that say when, how bad, which run, and why."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest

from interp import submit
from interp.history import RunStore
from interp.workers import Worker
from tests.interp.model_server import ModelServer, tool_calls
from tests.interp.worker_processes import TALKER, TOOLS, WORKING, ended, until, worker


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
    import psycopg
    from procrastinate.exceptions import ConnectorException

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
