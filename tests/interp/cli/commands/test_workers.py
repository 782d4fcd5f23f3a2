"""``gram workers`` and ``gram runs list --watch``: who works, on what, and what waits."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gram import dumps
from interp import open_store, submit
from tests.interp.cli.process import gram
from tests.interp.cli.typing_at import Terminal
from tests.interp.model_server import Answer, ModelServer, completion
from tests.interp.worker_processes import GREETER, TALKER, until, worker


def workers(database: str, *options: str) -> tuple[int, str, str]:
    done = gram("workers", *options, "--record", database)
    return done.returncode, done.stdout, done.stderr


def test_it_says_who_lives_on_what_and_what_waits(database: str, model_server: ModelServer) -> None:
    model_server.will_say(Answer(completion({"content": "Hi."}), silence=60))
    with open_store(database) as store:
        first = submit(TALKER, "Hello", store=store)
        with worker(database, "--at-once", "1", server=model_server) as working:
            until(lambda: bool(model_server.requests))
            second = submit(TALKER, "Hello", store=store)
            found = json.loads(workers(database, "--json")[1])
            code, said, told = workers(database, "--health")
            working.kill()

    ((one,), statuses) = found["workers"], found["runs"]
    assert (one["runs"], found["waiting"], found["oldest"]) == ([first], 1, second)
    assert statuses == {"running": 1, "queued": 1}
    assert (code, f"1 run: {first}" in said) == (0, True)
    assert "1 run could go on; the oldest" in told


def test_health_is_a_code_for_a_supervisor(database: str) -> None:
    assert workers(database, "--health")[0] == 2  # there is no store
    with open_store(database) as store:
        store.ready()
    assert workers(database, "--health")[0] == 1  # no worker lives
    with worker(database):
        until(lambda: workers(database, "--health")[0] == 0)
        assert workers(database, "--health", "--on", "elsewhere")[0] == 1
        with open_store(database) as store:
            run = submit(TALKER, "Hello", store=store, model="OpenAI/no-key")
            store.database.execute("UPDATE gram_runs SET created = created - 600 WHERE id = ?", run)
        code, _, told = workers(database, "--health", "--oldest", "300")
    assert (code, f"run {run} has waited for 60" in told) == (1, True)


def test_a_run_whose_process_has_died_says_so_at_once(database: str) -> None:
    with open_store(database) as store:
        run = submit(GREETER, "Hello", store=store)
        if (pid := os.fork()) == 0:
            with open_store(database) as other:
                os._exit(0 if other.claim(run).is_held else 1)
        os.waitpid(pid, 0)
        row = store.row(run)

    assert row.status == "stopped"
    assert row.reason is not None
    assert row.reason.startswith(f"left by a dead process: process {pid} of ")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
def test_a_list_that_is_watched_shows_what_comes(database: str, tmp_path: Path) -> None:
    program = tmp_path / "greeter.gram"
    program.write_text(dumps(GREETER), "utf-8")
    with open_store(database) as store:
        first = submit(GREETER, "Hello", store=store)
        with Terminal("runs", "list", "--watch", "--record", database) as watching:
            watching.until(first)
            watching.until(submit(GREETER, "Hello", store=store))
