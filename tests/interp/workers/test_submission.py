"""What is submitted is in the store, checked, once."""

from __future__ import annotations

import re
import sys
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

import interp
from gram import GramError, loads_one
from gram.extras import install
from interp import ScriptedModel, ToolLibrary, begin, submit, tool
from interp.errors import StoreError
from interp.history import RunStore
from interp.history.records import RecordedRun
from interp.machine import start
from interp.workers import Worker, read_schedules, why_queued
from interp.workers.submission import queue_of, submit_due, why_not
from lenses_ext import Model
from tests.interp.cli.process import KEY, gram
from tests.interp.model_server import ModelServer
from tests.interp.worker_processes import GREETER, TALKER, WORKING, ended, until, worker
from tests.interp.worker_threads import at_work, some_work, working
from tests.paths import EXAMPLES, tables

HELLO = str(EXAMPLES / "hello_world.gram")


def jobs(store: RunStore) -> int:
    return int(store.database.execute("SELECT count(*) FROM procrastinate_jobs")[0][0])


def test_a_submitted_run_is_queued_with_what_was_said_of_it(store: RunStore) -> None:
    run = submit(
        GREETER, "Hi.", store=store, conversation="talk", tenant="acme", priority=3,
        limits=interp.Limits(iterations=2),
    )  # fmt: skip
    row, first = store.row(run), store.recorded(run).first
    assert (row.status, row.facts.agent, row.facts.conversation) == ("queued", "greeter", "talk")
    assert (row.facts.tenant, row.facts.priority) == ("acme", 3)
    assert first.limits.iterations == 2
    assert first.context[-1].content == "Hi."
    assert jobs(store) == 1


def test_a_queue_of_another_format_is_refused(store: RunStore) -> None:
    submit(GREETER, "Hi.", store=store)
    store.database.execute("UPDATE gram_workers_format SET format = 99")
    with pytest.raises(StoreError, match=r"the queue of its workers has format 99, and .* knows 1"):
        submit(GREETER, "Hi.", store=store)


def test_a_run_is_in_the_store_with_its_job_or_not_at_all(store: RunStore) -> None:
    submit(GREETER, "Hi.", store=store, run_id="first")
    store.database.execute("ALTER TABLE procrastinate_jobs RENAME TO other")
    with pytest.raises(StoreError, match='"procrastinate_jobs" does not exist'):
        submit(GREETER, "Hi.", store=store, run_id="second")
    store.database.execute("ALTER TABLE other RENAME TO procrastinate_jobs")
    assert [row.id for row in store.rows()] == ["first"]
    assert submit(GREETER, "Hi.", store=store, run_id="second") == "second"
    assert jobs(store) == 2


def test_the_same_submission_is_one_run_and_a_lost_job_is_put_in_again(store: RunStore) -> None:
    for _ in range(2):
        for _ in range(2):
            assert submit(GREETER, "Hi.", store=store, run_id="order-7") == "order-7"
            assert jobs(store) == 1
        store.database.execute("DELETE FROM procrastinate_jobs")
    assert [row.id for row in store.rows()] == ["order-7"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"program": TALKER}, "the program, the input or an option differs"),
        ({"user_input": "Bye."}, "the program, the input or an option differs"),
        ({"tenant": "acme"}, "the tenant differs"),
        ({"priority": 0}, "the priority differs"),
        ({"conversation": "talk", "at": None}, "the conversation, the time differ"),
    ],
)
def test_an_id_names_one_submission(store: RunStore, change: dict[str, Any], said: str) -> None:
    at = datetime.now(UTC) + timedelta(days=1)
    given: dict[str, Any] = {"program": GREETER, "user_input": "Hi.", "priority": 3, "at": at}
    for _ in range(2):
        submit(**given, store=store, run_id="order-7")
    with pytest.raises(StoreError, match=f"was submitted under this id: {said}\n"):
        submit(**{**given, **change}, store=store, run_id="order-7")
    assert jobs(store) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"program": loads_one('[a:Agent {model: "OpenAI/x"}]')}, "instruction"),
        ({"user_input": " "}, "empty"),
        ({"model": "Nobody/x"}, "Nobody"),
        ({"model": "Offline/other"}, "the offline model is Offline/rehearsal"),
        ({"at": datetime(2027, 1, 1)}, "at needs a time zone"),
        ({"run_id": "a b"}, "run_id is 1 to 100 letters"),
        ({"priority": 10**9}, "priority is from -1000000 to 1000000"),
        ({"handler": None}, "handler is no option that is kept"),
        ({"model": ScriptedModel(["x"])}, "model must be"),
    ],
)
def test_what_cannot_run_is_not_queued(store: RunStore, change: dict[str, Any], said: str) -> None:
    with pytest.raises(GramError, match=said):
        submit(**{"program": GREETER, "user_input": "Hi.", **change}, store=store)
    assert list(store.rows()) == []


def test_a_run_says_why_it_waits(store: RunStore, database: str) -> None:
    first, second = (submit(GREETER, "Hi.", store=store, conversation="talk") for _ in range(2))
    later = submit(TALKER, "Hi.", store=store, at=datetime.now(UTC) + timedelta(days=1))
    plain = submit(TALKER, "Hi.", store=store)
    reasons = why_queued(store, [first, second, later, plain])
    assert reasons.pop(later).startswith("begins at ")
    turn = f"waits for another turn of its conversation: run {first}"
    assert reasons == {**dict.fromkeys((first, plain), "no worker is there"), second: turn}
    assert "no worker is there" in gram("runs", "list", "--record", database).stdout


def test_the_command_queues_a_run_and_prints_its_id(database: str, store: RunStore) -> None:
    done = gram(
        "submit", HELLO, "Hello, I am Alice", "--record", database, "--offline", "--id", "hello-1",
        "--tenant", "acme", "--limit", "iterations=3", OPENAI_API_KEY=KEY,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "hello-1\n"), done.stderr
    assert store.row("hello-1").facts.tenant == "acme"
    assert KEY not in "".join(store.entries("hello-1"))


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([HELLO, "Hi."], 4, "workers need a store on Postgres"),
        ([HELLO, "Hi.", "--record", "runs.db"], 4, "workers need a store on Postgres"),
        ([HELLO, "--record", "postgresql://x/y"], 2, "say something to the agent"),
        ([HELLO, "", "--record", "postgresql://x/y", "--not-before", "soon"], 2, "soon: write"),
    ],
)
def test_misuse_is_told(tmp_path: Path, arguments: list[str], code: int, said: str) -> None:
    done = gram("submit", *arguments, cwd=tmp_path)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert not (tmp_path / "runs.db").exists()


def test_what_has_to_be_installed_is_told(
    database: str, schedules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedules.write_text(EACH_MINUTE, "utf-8")
    record = ("--record", database)
    workers = ("procrastinate", "psycopg")  # one extra brings both
    for command, missing in (
        (("check", schedules), ["procrastinate"]),
        (("submit", HELLO, "Hi.", *record), workers),
        (("limits", "list", *record), workers),
        (("workers", *record), workers),
        (("worker", *record), workers),
    ):
        with monkeypatch.context() as patch:
            for module in missing:
                patch.setitem(sys.modules, module, None)
            done = gram(*map(str, command))
        assert done.returncode == 4
        assert install("workers") in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["submit", "worker", "workers"])
def test_help_offers_databases_alone(command: str) -> None:
    assert "--record postgresql://" in gram(command, "--help").stdout


# --- a worker takes only runs that it can drive, and says why it leaves the others


@tool(name="work", description="Works for long")
def other_work(seconds: float) -> str:
    return "worked"


NO_TOOL = 'tool "work" is not in the library'


def test_a_run_waits_for_a_worker_that_has_the_key_of_its_provider(
    store: RunStore, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    model_server.will_say("Hi.")
    run = submit(TALKER, "Hello", store=store)
    assert why_queued(store, [run]) == {run: "no worker is there"}
    with working(store):
        until(lambda: "OPENAI_API_KEY is not set" in why_queued(store, [run]).get(run, ""))
        until(ended(store, submit(TALKER, "Hello", store=store, model="Offline/rehearsal")))
        assert store.row(run).status == "queued"
        monkeypatch.setenv("OPENAI_BASE_URL", model_server.url)  # which needs no key
        with working(store):
            until(ended(store, run))
    assert why_queued(store, [run]) == {}


AN_AGENT = loads_one("""
[work:Agent {description: "Works for some time", instruction: "Work.", model: "OpenAI/x"} |
  (seconds::Number)==>(::String)]
""")


@pytest.mark.parametrize(
    ("has", "said"),
    [
        (other_work, "tool \"work\" differs: .*implementation 'Works for long'"),
        (AN_AGENT, "write it into the program"),
    ],
)
def test_a_run_says_how_a_tool_differs(database: str, store: RunStore, has: Any, said: str) -> None:
    run = submit(WORKING, "Work.", store=store, model="Offline/rehearsal")
    wanted = re.compile(f"no worker takes it: .*{said}", re.DOTALL)
    with at_work(Worker(database, ToolLibrary.of(has))):
        until(lambda: bool(wanted.match(why_queued(store, [run]).get(run, ""))), 20)


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
    with pytest.raises(interp.ModelError):
        by_hand.finish()
    run = submit(GREETER, said, store=store, run_id=by_hand.state.run_id)
    with working(store):
        until(lambda: "its own sayHello, not the built-in" in why_queued(store, [run]).get(run, ""))
        with at_work(Worker(database, own)):
            until(ended(store, run))
    assert store.recorded(run).tools_used[0].result == "Own hello, Alice!"


def test_a_run_that_cannot_be_driven_is_left_to_others(store: RunStore) -> None:
    offline = "Offline/rehearsal"
    greets = submit(GREETER, "Hello, I am Alice", store=store, run_id="first")
    works = submit(WORKING, "Work for 1 s.", store=store, model=offline, run_id="second")
    put = "UPDATE {} SET {} = (SELECT queue FROM gram_runs WHERE id = ?) WHERE {} = ? RETURNING 1"
    store.database.execute(put.format("gram_runs", "queue", "id"), greets, works)
    moved = put.format("procrastinate_jobs", "queue_name", "queueing_lock")
    assert store.database.execute(moved, greets, works)
    with working(store):
        until(lambda: NO_TOOL in why_queued(store, [works]).get(works, ""))
        row = store.row(works)
        assert (row.status, NO_TOOL in (row.reason or "")) == ("queued", True)
        with working(store, some_work):
            until(ended(store, greets, works))


# --- runs that are submitted at times


EACH_MINUTE = """
{name: "What runs when"}
[greeting:Schedule {
  cron: "* * * * *", program: "hello_world.gram", input: "Hello, I am Alice",
  model: "Offline/rehearsal", tenant: "acme", priority: 2
}]
"""


MINUTE = 1_800_000_000 // 60 * 60


@pytest.fixture
def schedules(tmp_path: Path) -> Path:
    (tmp_path / "hello_world.gram").write_bytes((EXAMPLES / "hello_world.gram").read_bytes())
    return tmp_path / "schedules.gram"


def test_workers_with_schedules_run_what_was_due_last(store: RunStore, schedules: Path) -> None:
    schedules.write_text(EACH_MINUTE, "utf-8")
    with worker(store, "--schedule", str(schedules)), worker(store):
        until(lambda: bool(list(store.rows())))
        first = min(store.rows(), key=lambda row: row.id)
        until(ended(store, first.id))
    assert (first.facts.tenant, first.facts.priority) == ("acme", 2)
    assert re.fullmatch(r"greeting-\d{8}T\d{4}00Z", first.id)


def test_each_time_is_run_once_however_many_workers_have_it(
    database: str, store: RunStore, schedules: Path
) -> None:
    schedules.write_text(EACH_MINUTE, "utf-8")
    (each_minute,) = read_schedules(schedules)
    each_second = evolve(each_minute, cron="* * * * * *")
    times = ([each_second], [each_second], [])
    workers = [Worker(database, interp.hello_world_tool_library, schedules=each) for each in times]

    def done() -> list[datetime]:
        ended = sorted(row.id for row in store.rows() if row.status == "done")
        return [datetime.strptime(each, "greeting-%Y%m%dT%H%M%SZ") for each in ended]

    def three_have_ended() -> bool:
        times = done()
        return bool(times) and {times[0] + timedelta(seconds=n) for n in range(3)} <= set(times)

    with ExitStack() as working:
        for each in workers:
            working.enter_context(at_work(each))
        until(three_have_ended)


def test_a_time_that_another_file_has_submitted_is_logged(
    store: RunStore, schedules: Path, caplog: pytest.LogCaptureFixture
) -> None:
    schedules.write_text(EACH_MINUTE, "utf-8")
    (changed,) = read_schedules(schedules)
    submit(TALKER, "As it was.", store=store, run_id=changed.run_at(MINUTE))
    submit_due([changed], store, None, MINUTE + 90)
    assert {row.id for row in store.rows()} == {changed.run_at(MINUTE), changed.run_at(MINUTE + 60)}
    submit_due([changed], store, MINUTE - 1, MINUTE)
    assert "another run was submitted under this id" in caplog.text


@pytest.mark.parametrize(
    ("cron", "after", "until_then", "minutes"),
    [
        pytest.param("* * * * *", None, 90, [1], id="the last alone"),
        pytest.param("* * * * *", None, 60, [1], id="the very second"),
        pytest.param("* * * * *", 0, 180, [1, 2, 3], id="all since"),
        pytest.param("* * * * *", 60, 119, [], id="none since"),
        pytest.param("*/9 * * * *", -3600, 1700, [27], id="not those of ten minutes ago"),
        pytest.param("0 0 29 2 *", None, 90, [], id="years ago"),
    ],
)
def test_times_that_passed_are_made_up_for_ten_minutes(
    schedules: Path, cron: str, after: float | None, until_then: float, minutes: list[int]
) -> None:
    schedules.write_text(EACH_MINUTE.replace("* * * * *", cron), "utf-8")
    (schedule,) = read_schedules(schedules)
    begin = None if after is None else MINUTE + after
    found = list(schedule.times(begin, MINUTE + until_then))
    assert found == [MINUTE + 60 * each for each in minutes]


@pytest.mark.parametrize(("old", "new", "said"), tables("runs.toml")["schedules"])
def test_a_wrong_file_is_told_at_once(schedules: Path, old: str, new: str, said: str) -> None:
    schedules.write_text(EACH_MINUTE.replace(old, new) if old else new, "utf-8")
    with pytest.raises(GramError) as told:
        read_schedules(schedules)
    assert said in str(told.value)


def test_two_schedules_have_two_names(schedules: Path) -> None:
    schedules.write_text(EACH_MINUTE + EACH_MINUTE.partition("}")[2], "utf-8")
    with pytest.raises(GramError, match="there are two schedules"):
        read_schedules(schedules)
