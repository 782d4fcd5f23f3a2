"""A worker takes only runs that it can drive, and says why it leaves the others."""

from __future__ import annotations

import pytest

from gram import loads_one
from interp import RunStore, ToolLibrary, Worker, start, submit, tool
from interp.workers import looking, why_queued
from interp.workers.needs import queue_of, why_not
from lenses_ext import Model
from tests.interp.model_server import ModelServer
from tests.interp.worker_processes import TALKER, WORKING, ended, until
from tests.interp.worker_threads import at_work


@tool(name="work", description="Works for long")
def other_work(seconds: float) -> str:
    return "worked"


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "LOOK", 0.05)


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
    assert said.startswith('no worker takes it: tool "work" differs: ')  # no place in another run


def test_a_tool_that_is_an_agent_of_a_worker_is_left_to_workers_that_have_its_code(
    database: str, store: RunStore
) -> None:
    agent = loads_one(
        """
        [work:Agent {
          description: "Works for some time", instruction: "Work.", model: "OpenAI/gpt-5.6-luna"
        } | (seconds::Number)==>(::String)]
        """
    )
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
    queues = {queue_of(start(loads_one(each), "Hello")[0]) for each in pairs}
    assert len(queues) == 2


def test_runs_that_need_the_same_have_one_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    talking, _ = start(TALKER, "Hello")
    again, _ = start(TALKER, "Bye", model=Model("openai", "another"))
    elsewhere, _ = start(TALKER, "Hello", model=Model("Anthropic", "claude"))
    nowhere, _ = start(loads_one('[a:Agent {instruction: "Hi.", model: "No/x"}]'), "Hello")
    working, _ = start(WORKING, "Hello")

    queues = [queue_of(each) for each in (talking, again, elsewhere, nowhere, working)]
    assert queues[0] == queues[1]
    assert len(set(queues)) == 4
    reasons = [why_not(each, ToolLibrary.of(other_work), "types") for each in (talking, working)]
    assert reasons == [None, None]
    assert 'unknown provider "No"' in (why_not(nowhere, ToolLibrary.of(), "full") or "")
