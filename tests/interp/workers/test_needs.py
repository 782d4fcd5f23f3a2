"""A worker takes only runs that it can drive, and says why it leaves the others."""

from __future__ import annotations

import pytest

from gram import loads_one
from interp import ModelError, ScriptedModel, ToolLibrary, begin, submit, tool
from interp.history import RunStore
from interp.history.records import RecordedRun
from interp.machine import start
from interp.workers import Worker, why_queued
from interp.workers.submission import queue_of, why_not
from lenses_ext import Model
from tests.interp.model_server import ModelServer
from tests.interp.worker_processes import GREETER, TALKER, WORKING, ended, until
from tests.interp.worker_threads import at_work, some_work, working


@tool(name="work", description="Works for long")
def other_work(seconds: float) -> str:
    return "worked"


NO_TOOL = 'tool "work" is not in the library'


def test_a_run_waits_for_a_worker_that_has_the_key_of_its_provider(
    database: str, store: RunStore, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    model_server.will_say("Hi.")
    run = submit(TALKER, "Hello", store=store)
    assert why_queued(store, [run]) == {run: "no worker is there"}
    with at_work(Worker(database)):
        until(lambda: "OPENAI_API_KEY is not set" in why_queued(store, [run]).get(run, ""))
        until(ended(store, submit(TALKER, "Hello", store=store, model="Offline/rehearsal")))
        assert store.row(run).status == "queued"
        monkeypatch.setenv("OPENAI_BASE_URL", model_server.url)  # which needs no key
        with at_work(Worker(database)):
            until(ended(store, run))
    assert why_queued(store, [run]) == {}


def test_a_run_says_how_the_tool_of_a_worker_differs(database: str, store: RunStore) -> None:
    run = submit(WORKING, "Work.", store=store, model="Offline/rehearsal")
    with at_work(Worker(database, ToolLibrary.of(other_work))):
        until(lambda: "implementation 'Works for long'" in why_queued(store, [run]).get(run, ""))
        said = why_queued(store, [run])[run]
    assert said.startswith("no worker takes it: ")
    assert 'tool "work" differs: ' in said


def test_a_tool_that_is_an_agent_of_a_worker_is_left_to_workers_that_have_its_code(
    database: str, store: RunStore
) -> None:
    agent = loads_one("""
    [work:Agent {description: "Works for some time", instruction: "Work.", model: "OpenAI/x"} |
      (seconds::Number)==>(::String)]
    """)
    run = submit(WORKING, "Work.", store=store, model="Offline/rehearsal")
    with at_work(Worker(database, ToolLibrary.of(agent))):
        until(lambda: "write it into the program" in why_queued(store, [run]).get(run, ""))


def test_tools_of_one_name_that_differ_are_all_needed() -> None:
    two = """
    [pair:Workflow | (one)-->(other),
      [one:Agent {instruction: "One.", model: "Offline/rehearsal"} |
        [work:ToolSpecification {description: "FIRST"} | (a::String)==>(::String)]],
      [other:Agent {instruction: "Two.", model: "Offline/rehearsal"} |
        [work:ToolSpecification {description: "SECOND"} | (a::String)==>(::String)]]]
    """
    pairs = [two, two.replace("FIRST", "Another")]
    assert len({queue_of(start(loads_one(each), "Hello")[0]) for each in pairs}) == 2


def test_runs_that_need_the_same_have_one_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    talking, again = (start(TALKER, said).state for said in ("Hello", "Bye"))
    elsewhere = start(TALKER, "Hello", model=Model("Anthropic", "claude")).state
    nowhere = start(loads_one('[a:Agent {instruction: "Hi.", model: "No/x"}]'), "Hello").state
    working = start(WORKING, "Hello").state

    queues = [queue_of(each) for each in (talking, again, elsewhere, nowhere, working)]
    assert queues[0] == queues[1]
    assert len({*queues, queue_of(working, ["work"])}) == 5  # with a tool of its own
    runs = [RecordedRun(each, (), "", None, ()) for each in (talking, working, nowhere)]
    reasons = [why_not(each, ToolLibrary.of(other_work), "types") for each in runs]
    assert reasons[:2] == [None, None]
    assert 'unknown provider "No"' in (reasons[2] or "")


@tool(name="sayHello")
def own_hello(personName: str = "world") -> str:  # noqa: N803  # the name in the program
    """Returns a friendly greeting message for the given name"""
    return f"Own hello, {personName}!"


def test_a_built_in_tool_is_not_run_in_place_of_a_run_s_own(database: str, store: RunStore) -> None:
    own, said = ToolLibrary.of(own_hello), "Hello, I am Alice"
    by_hand = begin(GREETER, said, own, model=ScriptedModel([]), record=store)
    with pytest.raises(ModelError):
        by_hand.finish()
    run = submit(GREETER, said, store=store, run_id=by_hand.state.run_id)
    with working(database):
        until(lambda: "its own sayHello, not the built-in" in why_queued(store, [run]).get(run, ""))
        with at_work(Worker(database, own)):
            until(ended(store, run))
    assert store.recorded(run).tools_used[0].result == "Own hello, Alice!"


def test_a_run_that_cannot_be_driven_is_left_to_others(database: str, store: RunStore) -> None:
    offline = "Offline/rehearsal"
    greets = submit(GREETER, "Hello, I am Alice", store=store, run_id="first")
    works = submit(WORKING, "Work for 1 s.", store=store, model=offline, run_id="second")
    put = "UPDATE {} SET {} = (SELECT queue FROM gram_runs WHERE id = ?) WHERE {} = ? RETURNING 1"
    store.database.execute(put.format("gram_runs", "queue", "id"), greets, works)
    moved = put.format("procrastinate_jobs", "queue_name", "queueing_lock")
    assert store.database.execute(moved, greets, works)
    with working(database):
        until(lambda: NO_TOOL in why_queued(store, [works]).get(works, ""))
        row = store.row(works)
        assert (row.status, NO_TOOL in (row.reason or "")) == ("queued", True)
        with working(database, some_work):
            until(ended(store, greets, works))
