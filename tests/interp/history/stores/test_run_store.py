"""A store keeps many runs, and each has one owner at a time."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import re
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from threading import Barrier
from typing import Any

import psycopg
import pytest
from attrs import evolve

from gram import GramError
from interp import ConfigurationError, ValidationError, load, open_store
from interp.errors import RunTakenError, StoreError
from interp.execution import Begun
from interp.history import RunFacts, RunStore
from interp.history.stores import StoredRun, database as of_stores
from interp.machine import start
from interp.machine.messages import Usage
from tests.interp.history.interrupts import interrupted_at
from tests.paths import EXAMPLES, tables, without_rights

ADDRESSES = tables("runs.toml")

FACTS = RunFacts("counter", "A/b", "a.gram", "hash")


def made(store: RunStore, *runs: str) -> None:
    for each in runs:
        store.create(each, "(:Run)", FACTS)


def test_a_run_is_made_once(store: RunStore) -> None:
    made(store, "one")
    with pytest.raises(StoreError, match="it has a run one already"):
        store.create("one", "(:Other)", FACTS)
    assert store.entries("one") == ["(:Run)"]


def test_a_run_that_is_claimed_cannot_be_claimed_by_others(store: RunStore, address: str) -> None:
    made(store, "one")
    claim = store.claim("one")
    with open_store(address) as other, pytest.raises(RunTakenError, match="another process goes"):
        other.claim("one")
    claim.let_go("stopped", Usage(1, 2))
    with open_store(address) as other:
        assert other.claim("one").fence == claim.fence + 1


def test_an_owner_that_lost_its_claim_writes_nothing_more(store: RunStore, address: str) -> None:
    made(store, "one")
    old = store.claim("one")
    old.append("(:Old)")
    with open_store(address) as other:
        new = other.take_over("one")
        with pytest.raises(RunTakenError, match="was taken over"):
            old.append("(:Late)")
        with pytest.raises(RunTakenError, match="was taken over"):
            old.let_go("done", Usage(0, 0))
        new.append("(:New)")
    assert not old.is_held
    assert store.entries("one") == ["(:Run)", "(:Old)", "(:New)"]


def forked(do: Callable[[], int]) -> int:
    """Do something in a process that is forked here, and ends at once; returns its exit code."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(do())
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


FORKS = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def unheard(store: RunStore) -> None:
    claim = store.claim("one")
    store.ready().execute("UPDATE gram_runs SET leased_until = leased_until - 60")
    assert claim.is_held


def forgotten(store: RunStore) -> None:
    store.claim("one")
    gc.collect()


def died(store: RunStore) -> None:
    store.close()
    assert forked(lambda: store.claim("one").fence) == 1


@FORKS
@pytest.mark.parametrize("ends", [unheard, forgotten, died])
def test_a_dead_owner_is_not_waited_for(store: RunStore, ends: Callable[[RunStore], None]) -> None:
    made(store, "one")
    ends(store)
    assert store.row("one").status == "stopped"
    assert store.claim("one").fence == 2


def test_claims_are_renewed_together_while_they_are_held(store: RunStore) -> None:
    names = [f"run-{n}" for n in range(4)]
    made(store, *names)
    held = [store.claim(name) for name in names]
    held[0].let_go("stopped", Usage(None, None))
    taken = store.take_over(names[1])
    store.ready().execute("UPDATE gram_runs SET leased_until = 1")

    for each in held:
        each.renew()

    assert {row.id for row in store.rows(status=["running"])} == set(names[2:])
    assert [each.run for each in held if not each.is_held] == names[:2]
    assert taken.is_held
    left = "SELECT leased_until FROM gram_runs WHERE id = ?"
    assert store.ready().execute(left, names[0]) == [(1.0,)]  # nobody has it


def test_what_several_threads_write_at_once_is_all_kept(store: RunStore) -> None:
    log = StoredRun(store, "one")
    log.begin(start(load(EXAMPLES / "hello_world.gram"), "hello")[0], [])
    with log.held(), ThreadPoolExecutor(4) as threads:
        for n in range(40):
            threads.submit(log.note, Begun((n,)))
    assert len(store.entries("one")) == 41


def test_a_statement_that_is_carried_out_twice_does_the_same(store: RunStore) -> None:
    made(store, "one")
    claim = store.claim("one")
    claim.append("(:A)")
    claim.size -= 1
    claim.append("(:A)")
    claim.let_go("done", Usage(1, 2))
    claim.let_go("done", Usage(1, 2))
    assert store.entries("one") == ["(:Run)", "(:A)"]


def test_lists_are_filtered_the_newest_first_and_read_in_pages(store: RunStore) -> None:
    for n in range(130):
        facts = RunFacts(f"agent{n % 2}", tenant="acme" if n % 3 else None)
        store.create(f"{n:03}", "(:Run)", facts)
    claim = store.claim("007")
    done = store.claim("009")
    done.let_go("done", Usage(3, None))

    assert [row.id for row in store.rows()] == [f"{n:03}" for n in reversed(range(130))]
    assert [row.id for row in store.rows(limit=3)] == ["129", "128", "127"]
    assert [row.id for row in store.rows(status=["running"])] == [claim.run]
    assert [row.usage for row in store.rows(status=["done"])] == [Usage(3, None)]
    assert {row.facts.agent for row in store.rows(agent="agent1")} == {"agent1"}
    assert len(list(store.rows(agent="agent1"))) == 65
    assert len(list(store.rows(tenant="acme"))) == 86
    assert [row.id for row in store.rows(beginning="12", limit=2)] == ["129", "128"]
    hour = timedelta(hours=1)
    assert not list(store.rows(since=datetime.now(UTC) + hour))
    assert not list(store.rows(before=datetime.now(UTC) - hour))


def test_only_runs_that_have_ended_are_pruned(store: RunStore) -> None:
    made(store, "a", "b", "c")
    store.claim("a").let_go("done", Usage(0, 0))
    assert store.prune(datetime.now(UTC) - timedelta(hours=1)) == 0
    assert store.prune(datetime.now(UTC) + timedelta(hours=1)) == 1
    assert sorted(row.id for row in store.rows()) == ["b", "c"]
    assert store.entries("b") == ["(:Run)"]
    assert store.ready().execute("SELECT count(*) FROM gram_entries") == [(2,)]


def test_runs_are_rows_of_a_table(store: RunStore) -> None:
    store.create("one", "(:Run)", evolve(FACTS, tenant="acme"))
    store.create("two", "(:Run)", FACTS, usage=Usage(3, 4), reason="a limit")

    rows = [row.to_json() for row in store.rows()]

    assert json.loads(json.dumps(rows)) == rows
    assert [(row["id"], row["status"], row["tenant"], row["reason"]) for row in rows] == [
        ("two", "stopped", None, "a limit"),
        ("one", "stopped", "acme", None),
    ]
    assert rows[0].keys() == rows[1].keys()
    assert '"total_tokens": 7' in json.dumps(rows[0]["usage"])
    assert (rows[1]["agent"], rows[1]["file"], rows[1]["entry_count"]) == ("counter", "a.gram", 1)


def test_a_run_that_is_not_there_is_named(store: RunStore) -> None:
    for look in (store.claim, store.entries, store.row, store.take_over):
        with pytest.raises(StoreError, match="there is no run nobody"):
            look("nobody")


def test_a_store_is_made_once_by_those_who_open_it_at_the_same_time(address: str) -> None:
    together = Barrier(6)

    def make(run: str) -> None:
        with open_store(address) as store:
            store.database.execute("SELECT 1")  # it is connected
            together.wait()
            made(store, run)

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(make, "abcdef"))
    with open_store(address) as store:
        assert len(list(store.rows())) == 6


def test_a_store_of_another_format_is_refused(store: RunStore, address: str) -> None:
    made(store, "one")
    store.ready().execute("UPDATE gram_store SET format = 99")
    with open_store(address) as later, pytest.raises(StoreError, match="has format 99"):
        later.row("one")


def test_a_file_is_its_owner_s_alone_and_told_of_when_removed_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with open_store(path) as store:
        made(store, "one")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        path.unlink()
        for _ in range(2):
            with pytest.raises(StoreError, match="removed or replaced while it was in use"):
                made(store, "two")
        store.close()
        made(store, "three")  # in a new file
        assert [row.id for row in store.rows()] == ["three"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"status": "done"}, "status must be an iterable of strs, got str"),
        ({"status": ["dome"]}, "no status 'dome'; did you mean"),
        ({"since": "30d"}, "since must be a datetime or None, got str"),
        ({"beginning": None}, "beginning must be a str, got None"),
        ({"agent": 3}, "agent must be a str or None, got int"),
    ],
)
def test_a_wrong_filter_is_refused(wrong: dict[str, Any], told: str, tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.db") as store, pytest.raises(GramError, match=told):
        store.rows(**wrong)


def test_what_is_no_store_is_told(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("hello " * 1000)
    with open_store(text) as store, pytest.raises(StoreError, match="is not a store of runs"):
        made(store, "one")
    with open_store(tmp_path) as store, pytest.raises(StoreError, match="Is a directory"):
        made(store, "one")
    with pytest.raises(StoreError, match="there is no store of runs"):
        open_store(tmp_path / "typo.db", must_exist=True)
    with pytest.raises(ConfigurationError, match="no runs are kept at mysql:// addresses"):
        open_store("mysql://host/db")


def test_reading_makes_no_tables_in_the_database_of_another_program(database: str) -> None:
    with pytest.raises(StoreError, match="there is no store of runs"):
        open_store(database, must_exist=True)
    with psycopg.connect(database) as other:
        found = "SELECT 1 FROM pg_tables WHERE schemaname = current_schema()"
        assert other.execute(found).fetchall() == []


@pytest.mark.parametrize("scheme", ["postgresql", "Postgres"])
def test_the_name_of_a_server_on_a_socket_is_an_address_of_it(scheme: str) -> None:
    with open_store(f"{scheme}://me:pa55@/runs?host=/run/postgres&port=5433") as store:
        assert store.name == "postgresql:///runs?host=/run/postgres&port=5433"
    with open_store(store.name) as again:
        assert again.name == store.name


def test_a_file_locked_by_others_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interp.history.stores.database._PATIENCE", 0.1)
    path = tmp_path / "runs.db"
    with open_store(path) as store:
        made(store, "one")
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="kept the store locked"):
                made(store, "two")


def test_a_process_that_stands_still_in_a_transaction_keeps_nobody_from_going_on(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_stores, "_IDLE", of_stores._IDLE.replace("10s", "50ms"))
    with open_store(database) as store, open_store(database) as other:
        made(store, "one")
        touch, asked = "UPDATE gram_runs SET changed = changed", []

        def held() -> None:
            store.database.execute(touch)
            asked.append(1)
            if len(asked) == 1:  # the first time it stands still, while another waits for the row
                other.database.execute(touch)
            store.database.execute(touch)

        store.database.together(held)
        assert len(asked) == 2


def test_statements_are_not_prepared_where_a_pooler_forgets_them(database: str) -> None:
    forget = "DO $$ BEGIN EXECUTE 'DEALLOCATE ALL'; END $$"  # as another session would know none
    with open_store(database) as store:
        made(store, "one")
        claim = store.claim("one")
        for number in range(20):
            store.database.execute(forget)
            claim.append(f"(:A {{n: {number}}})")
        assert len(store.entries("one")) == 21


def test_a_server_that_is_not_there_is_told_without_its_password() -> None:
    store = open_store("postgresql://me:pa55word9@127.0.0.1:9/db")
    with pytest.raises(StoreError) as raised:
        made(store, "one")
    assert "postgresql://127.0.0.1:9/db: " in str(raised.value)
    assert "pa55word9" not in str(raised.value) + repr(store)


@pytest.mark.parametrize("address", ADDRESSES["passwords"])
def test_no_message_has_a_password(address: str, tmp_path: Path) -> None:
    with (
        contextlib.chdir(tmp_path),
        pytest.raises((StoreError, ConfigurationError)) as raised,
        open_store(address, must_exist=True) as store,
    ):
        made(store, "one")
    assert not re.search("pa55|word9", str(raised.value))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("told", "addresses"), ADDRESSES["addresses"].items())
def test_an_address_of_no_store_is_refused(told: str, addresses: list[str], tmp_path: Path) -> None:
    for address in addresses:
        with contextlib.chdir(tmp_path), pytest.raises(ConfigurationError, match=told):
            open_store(address)


@FORKS
def test_a_process_that_is_forked_has_a_connection_and_claims_of_its_own(store: RunStore) -> None:
    made(store, "mine", "its")
    claim = store.claim("mine")

    def claims() -> int:
        its = store.claim("its")
        return 0 if [*store._keeper._leases] == [its] else 1

    assert forked(claims) == 0
    claim.append("(:A)")
    assert store.entries("mine") == ["(:Run)", "(:A)"]


@pytest.mark.parametrize("name", ["", "a\0b", "a\udcff", "x" * 201])
def test_a_name_that_cannot_be_kept_is_refused(store: RunStore, name: str) -> None:
    for use in (lambda: RunFacts("a", tenant=name), lambda: store.conversation(name)):
        with pytest.raises(ValidationError, match="1 to 200 characters"):
            use()


def test_what_no_database_can_look_for_is_refused(store: RunStore) -> None:
    for find in (store.row, lambda agent: list(store.rows(agent=agent))):
        with pytest.raises(GramError):
            find("a\udcff")
    assert len(store.conversation("al").page(before=10**30)) == 0


# --- files that cannot be written


@pytest.fixture
def path() -> Iterator[Path]:
    """A store with a run, in a folder that every user can reach."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "runs?#.db"
        found.parent.chmod(0o755)
        with open_store(found) as store:
            store.create("one", "(:Run)", RunFacts("counter", "A/b", "a.gram", "hash"))
        yield found


@pytest.mark.parametrize(("file", "folder"), [(0o444, 0o555), (0o666, 0o555), (0o444, 0o777)])
def test_a_store_that_cannot_be_written_is_refused(path: Path, file: int, folder: int) -> None:
    refused = pytest.raises(StoreError, match=r"Permission denied|or its folder, cannot be written")
    with without_rights(path, file, folder), open_store(path) as store, refused:
        list(store.rows())
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_an_interrupt_at_any_line_leaves_the_file_to_all(path: Path) -> None:
    """What is done together is kept or not, whole, and the store and others go on writing."""
    together = of_stores.SqliteDatabase.together.__code__
    for line in count(1):
        with open_store(path) as store, open_store(path) as other:
            each = len(store.entries("one"))
            claim = store.claim("one")
            interrupting = interrupted_at(line, lambda code: code is together)
            with interrupting as came, contextlib.suppress(KeyboardInterrupt):
                claim.append("(a)", "(b)")
            assert len(store.entries("one")) in (each, each + 2)
            assert other.database.execute("UPDATE gram_runs SET owner = NULL RETURNING id")
            assert store.database.execute("UPDATE gram_runs SET agent = ? RETURNING id", str(line))
            assert other.row("one").facts.agent == str(line)
        if not came():
            assert line > 8
            return


def test_a_store_that_cannot_be_read_is_refused(path: Path) -> None:
    refused = pytest.raises(StoreError, match="Permission denied")
    with without_rights(path, 0o000, 0o755), open_store(path) as store, refused:
        list(store.rows())
