"""Limits on requests hold for all workers of a store together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any, TypeAlias

import pytest

from gram import ArgumentError
from interp import ConfigurationError, submit
from interp.history import RunStore
from interp.history.stores import PostgresDatabase
from interp.workers import RunQueue, SharedLimit, set_shared_limits, shared_limits
from interp.workers.limits import Permission, SharedLimits
from interp.workers.looking import forget_dead, overview, seen, workers_now
from interp.workers.queue import LaterError
from tests.interp.cli.process import forked as gram
from tests.interp.model_server import Answer, ModelServer, completion
from tests.interp.worker_processes import TALKER, ended, ended_without_waits, until
from tests.interp.worker_threads import working


@pytest.fixture
def two(database: str, store: RunStore) -> Iterator[tuple[SharedLimits, SharedLimits]]:
    """The limits of a store, as two workers keep to them."""
    for name in ("one", "other"):
        seen(RunQueue.of(store).database, name, name)
    one, other = (SharedLimits(PostgresDatabase(database), name) for name in ("one", "other"))
    yield one, other
    one.database.close()
    other.database.close()


def ask(limits: SharedLimits, *names: str) -> Permission:
    return asyncio.run(limits.ask(names))


Two: TypeAlias = tuple[SharedLimits, SharedLimits]


@pytest.mark.parametrize("called", [shared_limits, workers_now, overview])
def test_what_is_no_store_is_refused_by_the_function(called: Any) -> None:
    with pytest.raises(ArgumentError, match=f"^{called.__name__}: store must be a RunStore"):
        called("postgresql://localhost/runs")


def test_no_more_requests_are_under_way_at_once_than_may_be(store: RunStore, two: Two) -> None:
    set_shared_limits(store, {"OpenAI": SharedLimit(at_once=3)})

    async def use(one: SharedLimits, other: SharedLimits) -> None:
        asked = [limits.ask(["OpenAI", "OpenAI/x"]) for limits in (one, other) * 10]
        found = await asyncio.gather(*asked)
        granted = [each for each in found if each.wait == 0]
        assert len(granted) == 3
        await one.ended(granted[0])
        await other.ended(granted[0])  # each ends its own: one of these two numbers is not its
        assert (await other.ask(["OpenAI"])).wait == 0

    asyncio.run(use(*two))


@pytest.mark.parametrize(
    "passes",
    [
        "UPDATE gram_workers SET seen = seen - 60 WHERE id = 'one'",
        "UPDATE gram_requests SET since = since - 3601 RETURNING name",
    ],
    ids=["its worker is dead", "it never ends"],
)
def test_what_a_worker_had_under_way_counts_no_more(store: RunStore, two: Two, passes: str) -> None:
    set_shared_limits(store, {"tenant:acme": SharedLimit(at_once=1)})
    assert ask(two[0], "tenant:acme").wait == 0
    assert ask(two[1], "tenant:acme").wait > 0
    store.database.execute(passes)
    assert ask(two[1], "tenant:acme").wait == 0
    if "gram_requests" not in passes:
        forget_dead(RunQueue.of(store).database)
        assert store.database.execute("SELECT worker FROM gram_requests") == [("other",)]


def test_beginnings_are_spread_over_the_minute(store: RunStore, two: Two) -> None:
    set_shared_limits(store, {"OpenAI": SharedLimit(per_minute=600)})
    began, granted = time.monotonic(), 0
    while granted < 30:
        for limits in two:
            found = ask(limits, "OpenAI")
            granted += found.wait == 0
            time.sleep(min(found.wait, 0.05))
    # at ten a second; the least time is a measure
    assert time.monotonic() - began >= 1.8


def test_when_a_provider_says_when_to_ask_again_all_wait(two: Two) -> None:
    two[0].hold_back("OpenAI", 30)
    two[0].hold_back("OpenAI", 2)  # said of an earlier request: the longer time holds
    assert 20 < ask(two[1], "OpenAI", "OpenAI/x").wait <= 30
    assert ask(two[1], "Anthropic").wait == 0


@pytest.mark.parametrize("seconds", [1e12, float("inf")])
def test_a_provider_is_left_alone_for_an_hour_at_most(two: Two, seconds: float) -> None:
    two[0].hold_back("OpenAI", seconds)
    assert 3500 < ask(two[1], "OpenAI").wait <= 3600
    assert LaterError("later", seconds).seconds == 3600


def test_a_request_that_is_cancelled_counts_no_more(store: RunStore, two: Two) -> None:
    one, _ = two
    set_shared_limits(store, {"OpenAI": SharedLimit(at_once=1000)})

    async def asked() -> None:
        await one.ended(await one.ask(["OpenAI"]))

    async def use() -> None:
        began = time.monotonic()
        await asked()
        took = time.monotonic() - began
        for part in range(40):
            task = asyncio.create_task(asked())
            await asyncio.sleep(took * part / 32)
            task.cancel()
            await asyncio.wait({task})
        await asyncio.to_thread(one.settle)

    asyncio.run(use())
    assert store.database.execute("SELECT number FROM gram_requests") == []


def test_a_model_that_does_not_answer_is_asked_by_one_at_a_time(store: RunStore, two: Two) -> None:
    one, other = two
    first, again = one.failed("OpenAI/x", "down"), other.failed("OpenAI/x", "down")
    assert first == (5.0, True)
    assert (again[0] <= 5, again[1]) == (True, False)  # both had asked before
    left_alone = ask(other, "OpenAI", "OpenAI/x")
    assert (left_alone.wait > 4, left_alone.is_held) == (True, True)
    assert ask(other, "OpenAI", "OpenAI/y").wait == 0
    assert shared_limits(store)["OpenAI/x"].is_down

    passed = "UPDATE gram_buckets SET not_before = 0, probed = probed - ? RETURNING name"
    store.database.execute(passed, 0)
    assert ask(one, "OpenAI/x").is_probe
    assert ask(other, "OpenAI/x").is_held
    store.database.execute(passed, 31)  # whoever asked has died
    assert ask(other, "OpenAI/x").is_probe
    assert other.failed("OpenAI/x", "down") == (10.0, False)
    assert one.is_held(["OpenAI/x"])

    store.database.execute(passed, 0)
    assert ask(one, "OpenAI/x").is_probe
    one.answered("OpenAI/x")
    assert not ask(other, "OpenAI/x").is_probe
    assert shared_limits(store) == {}


def test_no_run_fails_while_its_model_is_down(store: RunStore, model_server: ModelServer) -> None:
    down = Answer({"error": {"message": "down"}}, 503)
    model_server.will_say(*[down] * 3, *["Hi."] * 6)
    runs = [submit(TALKER, "Hello", store=store) for _ in range(6)]
    with working(store, at_once=2):
        until(ended_without_waits(store, *runs))
    assert len(model_server.requests) == 3 + 6


def test_a_run_alone_never_answered_fails(store: RunStore, model_server: ModelServer) -> None:
    model_server.will_say(*[Answer({"error": {"message": "down"}}, 500)] * 3, "Hi.")
    poison = submit(TALKER, "Poison", store=store)
    store.database.execute("UPDATE gram_runs SET attempts = 4 RETURNING id")
    with working(store, at_once=1):
        until(lambda: store.row(poison).status == "failed")
        until(ended_without_waits(store, submit(TALKER, "Hello", store=store)))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"at_once": 0}, "must be more than 0"),
        ({"per_minute": -1.0}, "must be more than 0"),
        ({"at_once": 2**31}, "at most 2147483647"),
        ({"per_minute": float("nan")}, "at most 2147483647"),
    ],
)
def test_a_limit_is_more_than_nothing_and_can_be_kept(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        SharedLimit(**wrong)


def test_workers_keep_to_a_limit_together(store: RunStore, model_server: ModelServer) -> None:
    model_server.will_say(*[Answer(completion({"content": "Hi."}), silence=0.5)] * 6)
    runs = [submit(TALKER, "Hello", store=store, tenant="acme") for _ in range(6)]
    under_way = list[int]()

    def all_ended() -> bool:
        under_way.append(store.database.value("SELECT count(*) FROM gram_requests"))
        return ended(store, *runs)()

    set_shared_limits(store, {"tenant:acme": SharedLimit(at_once=2)})
    with working(store), working(store):
        seconds = until(all_ended)

    assert max(under_way) == 2
    assert seconds > 6 * 0.5 / 2


def test_a_429_keeps_all_workers_from_asking(store: RunStore, model_server: ModelServer) -> None:
    busy = Answer({"error": {"message": "slow down"}}, 429, {"retry-after": "2"})
    model_server.will_say(busy, *["Hi."] * 3)
    first = submit(TALKER, "Hello", store=store)
    with working(store), working(store):
        until(lambda: len(model_server.requests) == 1)
        began = time.monotonic()
        others = [submit(TALKER, "Hello", store=store) for _ in range(2)]
        until(lambda: len(model_server.requests) > 1)
        waited = time.monotonic() - began
        until(ended(store, first, *others))
    assert waited > 1
    assert len(model_server.requests) == 4


def test_limits_are_listed_changed_and_removed(store: RunStore, two: Two) -> None:
    limit = SharedLimit(at_once=3, per_minute=600)
    set_shared_limits(store, {"openai": limit, "tenant:acme": SharedLimit(at_once=1)})
    ask(two[0], "OpenAI", "tenant:acme")
    two[0].hold_back("Anthropic", 30)

    found = shared_limits(store)
    assert list(found) == ["Anthropic", "OpenAI", "tenant:acme"]
    assert (found["OpenAI"].limit, found["OpenAI"].under_way) == (limit, 1)
    assert 20 < found["Anthropic"].wait <= 30
    set_shared_limits(store, {"OPENAI": SharedLimit(at_once=9), "tenant:acme": None})
    found = shared_limits(store)
    assert list(found) == ["Anthropic", "OpenAI"]
    set_shared_limits(store, {"Anthropic": None})
    assert list(shared_limits(store)) == ["OpenAI"]
    assert found["OpenAI"].limit == SharedLimit(at_once=9)


def test_the_command_lists_sets_and_removes_limits(database: str) -> None:
    def limits(*arguments: str) -> tuple[int, str, str]:
        done = gram("limits", *arguments, "--record", database)
        return done.returncode, done.stdout, done.stderr

    code, _, said = limits("list")
    assert (code, "there is no store of runs" in said) == (2, True)
    set_both = limits("set", "openai/gpt-5.6-luna", "--at-most", "3", "--per-minute", "600")
    assert set_both == (0, "", "")
    shown = "OpenAI/gpt-5.6-luna  3 at once (0 under way), 600 a minute\n"
    assert limits("list") == (0, shown, "")
    code, _, said = limits("remove", "OpenAI/gpt-5.6-lun")
    assert (code, "did you mean OpenAI/gpt-5.6-luna?" in said) == (1, True)
    assert limits("remove", "OpenAI/gpt-5.6-luna") == (0, "", "")
    assert limits("list") == (0, "", "gram: there are no limits\n")
    assert limits("list", "--json") == (0, "[]\n", "")
