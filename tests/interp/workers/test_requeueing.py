"""Runs that have stopped are given back to workers, once each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import interp
from gram import dumps, loads_one
from interp import Limits, ScriptedModel, ToolLibrary, run
from interp.errors import StoreError
from interp.history import RunStore
from interp.machine import CallFailed
from interp.workers import Requeue, RunQueue, cancel_run, requeue_of, requeue_run
from lenses_ext import agent_instruction, put
from tests.interp.cli.process import gram
from tests.interp.model_server import Answer, ModelServer, tool_calls
from tests.interp.worker_processes import GREETER, TALKER, WORKING, ended, until
from tests.interp.worker_threads import some_work, working

FLOW = loads_one("""
[flow:Workflow | (seconds::Number)==>(::String), ()-->(work)-->(),
  [work:ToolSpecification {description: "Works for some time"} | (seconds::Number)==>(::String)]]
""")


@interp.tool(name="work", description="Works for some time")
def broken(seconds: float) -> str:
    raise interp.ToolError("no disk")


def failed_flow(store: RunStore) -> str:
    """A run that has failed, because a step of it did."""
    with pytest.raises(interp.WorkflowError):
        run(FLOW, {"seconds": 0}, ToolLibrary.of(broken), record=store)
    return next(store.rows(status=["failed"])).id


def stopped_by_its_model(store: RunStore, conversation: str | None = None) -> str:
    with pytest.raises(interp.ModelError):
        run(TALKER, "Hello", model=ScriptedModel([]), record=store, conversation=conversation)
    return next(store.rows()).id


def is_queued(store: RunStore, run: str) -> bool:
    """Whether workers have the run: also for a moment after it has ended."""
    return RunQueue.of(store).due(run) is not None


def test_a_run_stopped_by_its_model_goes_on(store: RunStore, model_server: ModelServer) -> None:
    model_server.will_say(Answer({"error": {"message": "no such key"}}, 400), "Hi.")
    stopped = interp.submit(TALKER, "Hello", store=store)
    with working(store):
        until(lambda: store.row(stopped).status == "failed" and not is_queued(store, stopped))
        assert requeue_run(store, stopped) == stopped
        until(ended(store, stopped))
    assert store.recorded(stopped).content == "Hi."
    with pytest.raises(StoreError, match="is done: only what has stopped is given back"):
        requeue_run(store, stopped)


def test_a_run_is_given_back_once(store: RunStore) -> None:
    stopped = stopped_by_its_model(store)
    plan = requeue_of(store, stopped)
    assert requeue_run(store, stopped) == stopped
    with pytest.raises(StoreError, match="workers go on with it already"):
        requeue_run(store, stopped)
    assert plan.carry_out() == stopped  # of two that plan it at once, it has one job
    assert store.database.execute("SELECT queueing_lock FROM procrastinate_jobs") == [(stopped,)]


def test_a_run_at_a_limit_needs_a_higher_one(store: RunStore, model_server: ModelServer) -> None:
    call = tool_calls(("c1", "work", {"seconds": 0}))
    model_server.will_say(call, call, "Done.")
    calling = ScriptedModel([{"role": "assistant", "tool_calls": call["tool_calls"]}] * 2)
    once, library = Limits(iterations=1), ToolLibrary.of(broken)
    with pytest.raises(interp.LimitError):
        run(WORKING, "Work.", library, model=calling, limits=once, record=store)
    (limited,) = [row.id for row in store.rows(status=["limited"])]
    with pytest.raises(interp.ValidationError, match=r"stops at the same limit again: .*1 round"):
        requeue_run(store, limited)
    requeue_run(store, limited, limits=Limits(iterations=5))
    with working(store, some_work):
        until(ended(store, limited))


def test_a_run_that_has_failed_is_forked_before_what_failed_it(store: RunStore) -> None:
    old = failed_flow(store)
    new = requeue_run(store, old)
    assert (new, store.row(new).facts.parent) == (f"{old}.again-1", old)
    assert not any(isinstance(each, CallFailed) for each in store.recorded(new).events)
    with working(store, some_work):
        until(ended(store, new))
    assert store.row(old).status == "failed"
    with pytest.raises(StoreError, match=rf"was given back already, as run {old}.again-1"):
        requeue_run(store, old)


def test_a_fork_that_fails_again_has_the_next_number(store: RunStore) -> None:
    old = failed_flow(store)
    new = requeue_run(store, old)
    cancel_run(store, new)
    with pytest.raises(StoreError, match="is cancelled: only what has stopped"):
        requeue_run(store, new)
    store.database.execute("UPDATE gram_runs SET status = 'failed' WHERE id = ?", new)
    assert requeue_run(store, new, FLOW) == f"{old}.again-2"


def test_another_program_gets_what_is_the_same_in_both(store: RunStore) -> None:
    stopped = stopped_by_its_model(store)
    new = requeue_run(store, stopped, put(agent_instruction, "Talk more.", TALKER))
    assert store.recorded(new).first.agent.value.properties["instruction"] == "Talk more."
    assert (store.row(new).status, store.row(stopped).status) == ("queued", "stopped")


def test_a_turn_whose_conversation_has_gone_on_is_not_given_back(store: RunStore) -> None:
    stopped = stopped_by_its_model(store, conversation="talk")
    run(TALKER, "Again", model=ScriptedModel(["Yes."]), record=store, conversation="talk")
    with pytest.raises(StoreError, match="its conversation has gone on without it"):
        requeue_run(store, stopped)


def test_the_command_shows_what_it_would_do_before_i(database: str, store: RunStore) -> None:
    failed, stopped = failed_flow(store), stopped_by_its_model(store)

    def requeue(*arguments: str) -> tuple[int, str, str]:
        done = gram("runs", "requeue", *arguments, "--record", database)
        return done.returncode, done.stdout, done.stderr

    would = (0, f"{failed}  failed     forked as {failed}.again-1 after 0 events  ")
    told = requeue("--status", "failed", "--since", "1h", "--tool", "work")
    assert (told[0], told[1][: len(would[1])]) == would, told
    assert told[2] == "gram: 1 run would be given back; -i does it\n"
    none = ("", "gram: 0 runs would be given back\n")
    assert requeue("--tool", "another")[1:] == none
    assert json.loads(requeue(failed, stopped, "-i", "--json")[1]) == [
        {"id": f"{failed}.again-1", "parent": failed},
        {"id": stopped, "parent": None},
    ]
    again = requeue(stopped, "-i")
    assert (again[0], "workers go on with it already" in again[2]) == (1, True)
    assert "give runs, or filters" in requeue()[2]


def test_what_was_given_back_is_told_though_the_next_fails(
    database: str, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed, stopped = failed_flow(store), stopped_by_its_model(store)

    def failing(each: Requeue) -> None:
        if each.row.id == stopped:
            raise StoreError("the disk is full")

    monkeypatch.setattr(Requeue, "carry_out", failing)
    done = gram("runs", "requeue", f"{database}#{failed}", stopped, "-i", "--record", database)
    assert (done.returncode, done.stdout[: len(failed)]) == (2, failed)


def test_models_are_found_by_their_provider_or_name(store: RunStore) -> None:
    plan = requeue_of(store, stopped_by_its_model(store))
    assert plan.asked("openai")
    assert plan.asked("OpenAI/gpt-5.6-luna")
    assert not plan.asked("OpenAI/x")


def test_submitting_under_an_id_that_has_ended_says_so(database: str, tmp_path: Path) -> None:
    program = tmp_path / "greeter.gram"
    program.write_text(dumps(GREETER), "utf-8")
    submitted = ("submit", str(program), "Hello", "--id", "order-7", "--record", database)
    assert gram(*submitted).stdout == "order-7\n"
    assert gram(*submitted).stdout == "order-7\n"  # the same again is queued once
    with working(database), interp.open_store(database) as store:
        until(ended(store, "order-7"))
    done = gram(*submitted)
    assert (done.returncode, done.stdout) == (1, "")
    assert "run order-7 is done already: nothing is queued" in done.stderr
