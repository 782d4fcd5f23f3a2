"""Workers as processes: what they take, and what becomes of it when they are stopped."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import interp
from benchmarks.killed_workers import carry_out
from interp import ScriptedModel, ToolLibrary, ask_all, submit
from interp.execution import Begun
from interp.history import RunStore
from interp.history.records import note_line
from interp.history.stores import StoredRun
from interp.machine import Request, pending
from interp.workers import RunQueue, cancel_run, decide_run, overview
from interp.workers.driving import Driver
from interp.workers.looking import seen
from interp.workers.queue import LaterError
from tests.interp import worker_processes
from tests.interp.cli.process import forked as gram
from tests.interp.forked import PYTHON
from tests.interp.model_server import Answer, ModelServer, completion, tool_calls
from tests.interp.postgres import PostgresServer
from tests.interp.worker_processes import GREETER, TALKER, WORKING, ended, until, worker
from tests.interp.worker_threads import some_work, working


@pytest.fixture
def tools(tmp_path: Path) -> str:
    file = tmp_path / "tools.py"
    file.write_text(worker_processes.TOOLS, "utf-8")
    return str(file)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "work.log"


def lines(log: Path) -> list[str]:
    return log.read_text("utf-8").splitlines() if log.exists() else []


def late(words: str, seconds: float) -> Answer:
    return Answer(completion({"content": words}), silence=seconds)


def will_work(server: ModelServer, seconds: float) -> None:
    """The model calls the tool, then says that it is done."""
    server.will_say(tool_calls(("c1", "work", {"seconds": seconds})), "Done.")


def test_a_worker_drives_what_is_submitted_before_and_while_it_runs(store: RunStore) -> None:
    before = submit(GREETER, "Hello, I am Alice", store=store)
    with worker(store) as working:
        until(ended(store, before))
        while_it_runs = submit(GREETER, "Hello, I am Bob", store=store)
        until(ended(store, while_it_runs))
        assert working.stop() == 0
    said = [store.recorded(run).state.context[-1].content for run in (before, while_it_runs)]
    assert said == ["Hello, Alice! Nice to meet you.", "Hello, Bob! Nice to meet you."]


def test_a_job_delivered_twice_is_done_once(store: RunStore, model_server: ModelServer) -> None:
    model_server.will_say(*[late("Hi.", 1)] * 3)
    run = submit(TALKER, "Hello", store=store)
    (queue,) = store.database.execute("SELECT queue FROM gram_runs")[0]
    again = (
        "INSERT INTO procrastinate_jobs (queue_name, task_name, args) "
        "VALUES (?, 'gram.go_on', jsonb_build_object('run', ?::text)) RETURNING id"
    )
    store.database.execute(again, queue, run)
    with working(store), working(store):
        until(ended(store, run))
        store.database.execute(again, queue, run)  # and once more when it is over
        until(lambda: not store.database.execute("SELECT id FROM procrastinate_jobs"))
    assert len(model_server.requests) == 1


def test_a_worker_told_to_stop_takes_no_more(store: RunStore, model_server: ModelServer) -> None:
    model_server.will_say(late("Hi.", 2))
    first = submit(TALKER, "Hello", store=store)
    with worker(store, "--at-once", "1", server=model_server) as working:
        until(lambda: len(model_server.requests) == 1)
        second = submit(TALKER, "Hello", store=store)
        assert working.stop() == 0
    assert store.row(first).status == "done"
    assert store.row(second).status == "queued"


def test_what_outlasts_the_grace_goes_to_others(store: RunStore, model_server: ModelServer) -> None:
    model_server.will_say(late("Late.", 30), "Hi.")
    run = submit(TALKER, "Hello", store=store)
    with worker(store, "--grace", "0.5", server=model_server) as stopped:
        until(lambda: len(model_server.requests) == 1)
        assert stopped.stop() == 0
    assert store.row(run).status == "stopped"
    with working(store):
        assert until(ended(store, run)) < 15
    assert store.recorded(run).state.context[-1].content == "Hi."


@pytest.mark.nightly
def test_the_runs_of_a_killed_worker_are_taken_over_within_30_seconds(
    store: RunStore, model_server: ModelServer, tools: str, log: Path
) -> None:
    will_work(model_server, 60)
    run = submit(WORKING, "Work.", store=store)
    with worker(store, "--tools", tools, server=model_server, log=log) as killed:
        until(lambda: bool(lines(log)))
        # A name of another machine: its death can only be told by its silence.
        store.database.execute("UPDATE gram_runs SET owner = 'elsewhere/1/1/x' RETURNING id")
        with worker(store, "--tools", tools, server=model_server, log=log):
            killed.kill()
            seconds = until(lambda: len(lines(log)) == 2)
    assert seconds < 30
    assert lines(log) == [f"begins {run}/0/0"] * 2
    assert len(model_server.requests) == 1  # what the model had said was recorded


def test_a_frozen_worker_records_nothing_late(store: RunStore, model_server: ModelServer) -> None:
    model_server.will_say(late("Late.", 3), "Hi.", "Again.")
    run = submit(TALKER, "Hello", store=store)
    with worker(store, server=model_server) as frozen:
        until(lambda: len(model_server.requests) == 1)
        frozen.process.send_signal(signal.SIGSTOP)
        worker_processes.let_time_pass(store)
        with working(store):
            until(ended(store, run))
            frozen.process.send_signal(signal.SIGCONT)
        until(ended(store, submit(TALKER, "Hello", store=store)))
        assert frozen.stop() == 0

    (reply,) = [step.event for step in store.recorded(run).steps]
    assert reply.message.content == "Hi."


OFFLINE = "Offline/rehearsal"


def test_runs_of_higher_priority_come_first(store: RunStore, model_server: ModelServer) -> None:
    model_server.will_say(*["Hi."] * 3)
    runs = [submit(TALKER, f"priority {each}", store=store, priority=each) for each in (0, -5, 7)]
    with working(store, at_once=1):
        until(ended(store, *runs))
    said = [each["messages"][-1]["content"] for each in model_server.requests]
    assert said == ["priority 7", "priority 0", "priority -5"]


def test_a_run_begins_at_its_time(store: RunStore) -> None:
    at = datetime.now(UTC) + timedelta(seconds=2)
    run = submit(GREETER, "Hello", store=store, at=at)
    with working(store):
        until(ended(store, run))
    assert store.recorded(run).notes[0].time >= at - timedelta(milliseconds=1)  # as it is written


def test_turns_of_a_conversation_are_in_order(store: RunStore, model_server: ModelServer) -> None:
    model_server.will_say(*[late(f"answer {n}", 0.3) for n in range(4)])
    talk = {"store": store, "conversation": "talk"}
    runs = [submit(TALKER, f"turn {n}", priority=n, **talk) for n in range(4)]
    with working(store), working(store):
        until(ended(store, *runs))
    said = [[each["content"] for each in asked["messages"]] for asked in model_server.requests]
    expected = ["Talk."]
    for n, messages in enumerate(said):
        expected.append(f"turn {n}")
        assert messages == expected
        expected.append(f"answer {n}")


def test_a_run_comes_back_when_it_is_approved(store: RunStore, model_server: ModelServer) -> None:
    will_work(model_server, 0)
    run = submit(WORKING, "Work.", store=store, policy=ask_all, conversation="talk")
    with working(store, some_work, at_once=1):
        until(lambda: store.row(run).status == "waiting")
        until(ended(store, submit(TALKER, "Hello", store=store, model=OFFLINE)))
        later = [
            submit(TALKER, "And?", store=store, model=OFFLINE, conversation="talk")
            for _ in range(2)
        ]
        assert overview(store).oldest is None  # its next turns cannot go on either
        assert not store.recorded(run).tools_used
        decide_run(store, run, True)
        until(ended(store, run, *later))
    assert [each.result for each in store.recorded(run).tools_used] == ["worked"]


def test_failures_that_may_pass_are_tried_again(store: RunStore, model_server: ModelServer) -> None:
    down = Answer({"error": {"message": "down"}}, 503)
    model_server.will_say(*[down] * 3, "Hi.", Answer({"error": {"message": "no"}}, 400))
    passes = submit(TALKER, "Hello", store=store)
    with working(store, at_once=1):
        until(worker_processes.ended_without_waits(store, passes))
        stays = submit(TALKER, "Hello", store=store)
        until(lambda: store.row(stays).status == "failed")
    assert "no" in (store.row(stays).reason or "")
    assert len(model_server.requests) == 5


NO_HEAD = """
UPDATE gram_entries SET text = '["[:Nonsense]"]' WHERE run = ? AND seq = 0 RETURNING run
"""
NO_EVENT = "INSERT INTO gram_entries VALUES (?, 1, 0, '[:Nonsense]') RETURNING run"


@pytest.mark.parametrize(("spoil", "conversation"), [(NO_HEAD, "talk"), (NO_EVENT, None)])
def test_unreadable_runs_have_failed(store: RunStore, spoil: str, conversation: str | None) -> None:
    unreadable, found_later, readable = (
        submit(GREETER, f"Hello, I am {name}", store=store, conversation=conversation)
        for name in ("Alice", "Bob", "Carol")
    )
    for run in (unreadable, found_later):
        store.database.execute(spoil, run)
    with working(store):
        until(ended(store, readable))
        until(lambda: {store.row(run).status for run in (unreadable, found_later)} == {"failed"})
    assert "Nonsense" in (store.row(unreadable).reason or "")


def test_a_turn_that_was_stopped_by_hand_keeps_no_submitted_turn_waiting(store: RunStore) -> None:
    with pytest.raises(interp.ModelError):
        interp.run(TALKER, "One", model=ScriptedModel([]), record=store, conversation="talk")
    (by_hand,) = store.rows()
    assert by_hand.status == "stopped"
    turn = submit(TALKER, "Hello", store=store, conversation="talk", model=OFFLINE)
    with working(store):
        until(ended(store, turn))


def test_a_submitted_turn_is_taken_again_soon_behind_one_run_by_hand(store: RunStore) -> None:
    class Submitting:
        def complete(self, request: Request) -> str:
            turn = submit(TALKER, "Hello", store=store, conversation="talk", model=OFFLINE)
            queue = RunQueue.of(store)
            driver = Driver(store, queue, ToolLibrary(), "full", Mock())
            with pytest.raises(LaterError, match="goes first") as later:
                asyncio.run(driver.go_on(turn))
            return f"{later.value.seconds}"

    said = interp.run(TALKER, "One", model=Submitting(), record=store, conversation="talk")

    assert float(said.content) <= 2


def test_turns_whose_conversation_has_gone_on_fail_and_keep_none_waiting(store: RunStore) -> None:
    talk: Any = {"store": store, "conversation": "talk", "model": OFFLINE}
    turns = [submit(TALKER, f"Late {n}", **talk) for n in range(2)]
    for run in turns:
        (asking,) = pending(store.recorded(run).state)
        claim = store.claim(run)
        claim.append(note_line(Begun(asking.at)))
        claim.let_go("stopped", interp.Usage(None, None))
    interp.run(TALKER, "By hand", model=ScriptedModel(["Yes."]), record=store, conversation="talk")
    following = submit(TALKER, "Hello", **talk)
    submit(TALKER, "Hello again", **talk)
    assert overview(store).waiting == 1
    assert overview(store).oldest == following
    with working(store):
        until(ended(store, following))
        until(lambda: {store.row(run).status for run in turns} == {"failed"})

    assert "has gone on since" in (store.row(turns[0]).reason or "")


GREETS = interp.hello_world_tool_library
ENDINGS: dict[str, Callable[[RunStore, str, str], object]] = {
    "cancelled": lambda store, _, run: cancel_run(store, run),
    "resumed by the command": lambda _, database, run: gram("resume", run, GRAM_RECORD=database),
    "resumed in a store": lambda store, _, run: interp.resume_run(run, GREETS, record=store),
    "resumed at an address": lambda _, at, run: interp.resume_run(run, GREETS, record=at),
}


@pytest.mark.parametrize("end", ENDINGS.values(), ids=ENDINGS)
def test_a_turn_follows_at_once_when_the_one_before_it_has_ended(
    store: RunStore, database: str, end: Callable[[RunStore, str, str], object]
) -> None:
    first, second = (submit(GREETER, "Hi", store=store, conversation="talk") for _ in range(2))
    store.database.execute("DELETE FROM procrastinate_jobs")  # both were taken, and were over
    end(store, database, first)
    assert store.row(first).status in ("cancelled", "done")
    assert store.database.execute("SELECT queueing_lock FROM procrastinate_jobs") == [(second,)]


def test_a_run_goes_on_at_once_when_it_is_decided(store: RunStore, database: str) -> None:
    run = submit(WORKING, "Work for 1 s.", store=store, policy=ask_all, model=OFFLINE)
    store.database.execute("DELETE FROM procrastinate_jobs")
    log, kept = StoredRun.of(store, run)
    with suppress(interp.ApprovalNeeded):
        interp.Run(kept.state, ToolLibrary.of(some_work), record=log).finish()
    decide_run(store, run, False)
    assert store.database.execute("SELECT queueing_lock FROM procrastinate_jobs") == [(run,)]


def test_jobs_are_put_in_again_by_one_worker_for_all(store: RunStore) -> None:
    database = RunQueue.of(store).database
    submit(TALKER, "Hello", store=store, model=OFFLINE)

    def looks(*names: str) -> list[bool]:
        return [seen(database, each, each)[1] for each in names]

    assert looks("a", "b", "a") == [True, False, False]
    store.database.execute("UPDATE gram_workers SET looked = looked - 2")
    assert looks("b", "a") == [True, False]
    store.database.execute("UPDATE gram_workers SET looked = looked + 3600")
    assert looks("a")[0]


def test_the_job_of_a_worker_that_is_silent_is_put_in_again(store: RunStore) -> None:
    run = submit(TALKER, "Hello", store=store, model=OFFLINE)
    silent = "(last_heartbeat) VALUES (now() - interval '7 seconds') RETURNING id"
    ((number,),) = store.database.execute(f"INSERT INTO procrastinate_workers {silent}")
    taken = "UPDATE procrastinate_jobs SET status = 'doing', worker_id = ? RETURNING id"
    store.database.execute(taken, number)
    with working(store):
        until(ended(store, run))
        until(lambda: not store.database.execute("SELECT 1 FROM procrastinate_jobs"))


def test_a_run_has_one_job_that_is_put_forward_but_never_back(store: RunStore) -> None:
    run = submit(TALKER, "Hello", store=store, at=datetime.now(UTC) + timedelta(hours=1))
    queue, times = RunQueue.of(store), list[float]()

    def seconds() -> float:
        sql = "SELECT extract(epoch FROM scheduled_at - now())::float8 FROM procrastinate_jobs"
        ((found,),) = store.database.execute(sql)
        return float(found)

    for after in (0, 9000, 60):
        queue.put(run, after)
        times.append(round(seconds() / 60))
        store.database.execute("UPDATE gram_runs SET due = 0")
    assert times == [60, 60, 1]


def test_a_worker_that_the_database_refuses_ends(store: RunStore) -> None:
    submit(GREETER, "Hello", store=store)
    store.database.execute("ALTER TABLE gram_limits RENAME COLUMN at_once TO another")
    with worker(store) as refused:
        assert refused.process.wait(20) == 2


def test_workers_go_on_when_the_database_was_away(
    postgres: PostgresServer, database: str, store: RunStore
) -> None:
    with worker(store) as working:
        until(ended(store, submit(GREETER, "Hello", store=store)))
        postgres.restart()
        with interp.open_store(database) as again:
            run = submit(GREETER, "Hello", store=again)
            until(ended(again, run))
        assert working.stop() == 0


# --- runs that kill their workers: they fail in the end, and the runs beside them do not


DEADLY_TOOLS = worker_processes.TOOLS.replace(
    "    time.sleep(seconds)\n",
    '    if context.key.startswith("deadly"):\n        os._exit(1)\n    time.sleep(seconds)\n',
)


@pytest.mark.nightly
def test_a_run_that_kills_five_workers_fails_and_the_one_beside_it_is_done(
    store: RunStore, model_server: ModelServer, tmp_path: Path
) -> None:
    tools, log = tmp_path / "tools.py", tmp_path / "work.log"
    tools.write_text(DEADLY_TOOLS, "utf-8")
    calls = tool_calls(("c1", "work", {"seconds": 6}))
    model_server.will_say(calls, calls, "Done.")
    submit(WORKING, "Work.", store=store, run_id="beside")

    def all_ended() -> bool:
        return {store.row(run).status for run in ("beside", "deadly")} <= {"done", "failed"}

    with worker(store, "--tools", str(tools), server=model_server, log=log) as first:
        until(log.exists)
        submit(WORKING, "Work.", store=store, run_id="deadly")
        assert first.process.wait(60) == 1
    for _ in range(8):
        if all_ended():
            break
        worker_processes.let_time_pass(store)
        with worker(store, "--tools", str(tools), server=model_server, log=log) as working:
            until(lambda process=working.process: process.poll() is not None or all_ended())

    begun = log.read_text("utf-8").splitlines()
    assert begun.count("begins deadly/0/0") == 5
    assert begun.count("begins beside/0/0") > 1
    assert store.row("beside").status == "done"
    reason = "its worker died 5 times at the same place: work at position (0, 0)"
    assert (store.row("deadly").status, store.row("deadly").reason) == ("failed", reason)


def test_deaths_are_counted_once_each_and_anew_after_an_event(store: RunStore) -> None:
    run = submit(TALKER, "Hello", store=store)
    queue, dead = RunQueue.of(store), "elsewhere/1/1/x"

    def dies() -> None:  # as a claim leaves the run that nobody renews
        left = "status = 'running', fence = fence + 1, leased_until = 0, owner = ?"
        store.database.execute(f"UPDATE gram_runs SET {left} WHERE id = ?", dead, run)

    assert queue.deaths(run, 0, dead) == 0
    dies()
    assert [queue.deaths(run, 0, dead), queue.deaths(run, 0, dead)] == [1, 1]
    dies()
    assert queue.deaths(run, 0, dead) == 2
    assert queue.deaths(run, 1, dead) == 0
    dies()
    assert queue.deaths(run, 1, dead) == 1


@pytest.mark.parametrize("runs", [10, pytest.param(200, marks=pytest.mark.nightly)])
def test_no_run_is_lost_or_recorded_twice_when_workers_are_killed(
    database: str, runs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", PYTHON.written(tmp_path / "python"))
    report = carry_out(database, runs=runs, workers=2, every=1.5, at_once=1)
    assert report.kills > 0
    assert (report.lost, report.repeated) == ([], [])
