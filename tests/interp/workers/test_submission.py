"""What is submitted is in the store, checked, once."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gram import GramError, loads_one
from gram.extras import install
from interp import Limits, ScriptedModel, submit
from interp.errors import StoreError
from interp.history import RunStore
from interp.workers import why_queued
from tests.interp.cli.process import KEY, gram
from tests.interp.worker_processes import GREETER, TALKER
from tests.paths import EXAMPLES, ROOT

HELLO = str(EXAMPLES / "hello_world.gram")


def jobs(store: RunStore) -> int:
    return int(store.database.execute("SELECT count(*) FROM procrastinate_jobs")[0][0])


def test_a_submitted_run_is_queued_with_what_was_said_of_it(store: RunStore) -> None:
    run = submit(
        GREETER, "Hi.", store=store, conversation="talk", tenant="acme", priority=3,
        limits=Limits(iterations=2),
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


def test_the_same_submission_is_one_run_whose_job_is_put_in_again_if_it_was_lost(
    store: RunStore,
) -> None:
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
def test_another_run_under_the_same_id_is_refused(
    store: RunStore, change: dict[str, Any], said: str
) -> None:
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
def test_what_cannot_run_is_refused_before_it_is_queued(
    store: RunStore, change: dict[str, Any], said: str
) -> None:
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
def test_misuse_of_the_command_is_told(
    tmp_path: Path, arguments: list[str], code: int, said: str
) -> None:
    done = gram("submit", *arguments, cwd=tmp_path)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert not (tmp_path / "runs.db").exists()


def test_what_has_to_be_installed_is_told(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import sys; sys.modules['procrastinate'] = None\n"
        "from interp.cli import main; sys.argv = ['gram', *sys.argv[1:]]; main()"
    )
    submitting = subprocess.run(
        [sys.executable, "-c", code, "submit", HELLO, "Hi.", "--record", database],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "procrastinate", None)

    for done in (submitting, gram("worker", "--record", database)):
        assert done.returncode == 4
        assert install("workers") in done.stderr
        assert "Traceback" not in done.stderr
