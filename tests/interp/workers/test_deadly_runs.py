"""Runs that kill their workers: they fail in the end, and the runs beside them do not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from interp import submit
from interp.history import RunStore
from interp.workers import RunQueue, postgres_of
from tests.interp.model_server import ModelServer, tool_calls
from tests.interp.worker_processes import TALKER, TOOLS, WORKING, let_time_pass, until, worker

DEADLY_TOOLS = TOOLS.replace(
    "    time.sleep(seconds)\n",
    '    if context.key.startswith("deadly"):\n        os._exit(1)\n    time.sleep(seconds)\n',
)


def have_ended(store: RunStore, *runs: str) -> Callable[[], bool]:
    return lambda: all(store.row(run).status in ("done", "failed") for run in runs)


@pytest.mark.nightly
def test_a_run_that_kills_five_workers_fails_and_the_one_beside_it_is_done(
    database: str, store: RunStore, model_server: ModelServer, tmp_path: Path
) -> None:
    tools, log = tmp_path / "tools.py", tmp_path / "work.log"
    tools.write_text(DEADLY_TOOLS, "utf-8")
    calls = tool_calls(("c1", "work", {"seconds": 6}))
    model_server.will_say(calls, calls, "Done.")
    submit(WORKING, "Work.", store=store, run_id="beside")
    all_ended = have_ended(store, "beside", "deadly")
    with worker(database, "--tools", str(tools), server=model_server, log=log) as first:
        until(log.exists)
        submit(WORKING, "Work.", store=store, run_id="deadly")
        assert first.process.wait(60) == 1
    for _ in range(8):
        if all_ended():
            break
        let_time_pass(store)
        with worker(database, "--tools", str(tools), server=model_server, log=log) as working:
            until(lambda process=working.process: process.poll() is not None or all_ended())

    begun = log.read_text("utf-8").splitlines()
    assert begun.count("begins deadly/0/0") == 5
    assert begun.count("begins beside/0/0") > 1
    assert store.row("beside").status == "done"
    reason = "its worker died 5 times at the same place: work at position (0, 0)"
    assert (store.row("deadly").status, store.row("deadly").reason) == ("failed", reason)


DEAD = "elsewhere/1/1/x"


def test_deaths_are_counted_once_each_and_anew_after_an_event(
    database: str, store: RunStore
) -> None:
    run = submit(TALKER, "Hello", store=store)
    queue = RunQueue(postgres_of(store))

    def dies() -> None:  # as a claim leaves the run that nobody renews
        left = "status = 'running', fence = fence + 1, leased_until = 0, owner = ?"
        store.database.execute(f"UPDATE gram_runs SET {left} WHERE id = ?", DEAD, run)

    assert queue.deaths(run, 0, DEAD) == 0
    dies()
    assert [queue.deaths(run, 0, DEAD), queue.deaths(run, 0, DEAD)] == [1, 1]
    dies()
    assert queue.deaths(run, 0, DEAD) == 2
    assert queue.deaths(run, 1, DEAD) == 0
    dies()
    assert queue.deaths(run, 1, DEAD) == 1
