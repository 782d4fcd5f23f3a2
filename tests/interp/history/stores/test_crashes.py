"""What is recorded is never done again, and what was in flight may be, whatever ends a process."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from random import Random

import pytest

from benchmarks.hardships import Proxy
from interp import Run, ToolLibrary, open_store, resume_run, tool
from interp.errors import RunTakenError, StoreError
from interp.history import RunFacts, RunStore
from interp.history.stores import StoredRun
from interp.history.stores.leases import LEASE
from interp.machine import State
from interp.machine.messages import Usage
from tests.interp.history.stores.crashing import Crash, Worker, answered, drive, forking, submitted
from tests.interp.postgres import PostgresServer
from tests.interp.worker_processes import until


def lines(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> State:
    """How the run ends that nothing disturbs."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with open_store(folder / "runs.db") as store:
        run = submitted(store)
        drive(store.name, run, folder / "log")
        return store.recorded(run).state


@pytest.mark.parametrize("every", [13, pytest.param(1, marks=pytest.mark.nightly)])
def test_a_crash_at_any_point_repeats_nothing_that_is_recorded(
    store: RunStore, address: str, tmp_path: Path, expected: State, every: int
) -> None:
    """Before and after each effect, in it, and before and after each entry of it is written.

    Thirteen has no part in common with the six points of an effect: each of them has its turn.
    """
    first = submitted(store)
    points = drive(address, first, tmp_path / "first.log")
    assert store.recorded(first).state == expected
    processes = forking()
    begin = 4 if address.endswith(".db") and every > 1 else 1  # other points than in Postgres
    for point in range(begin, points + 1, every):
        run, log = submitted(store), tmp_path / f"{point}.log"
        killed = processes.Process(target=drive, args=(address, run, log, point))
        killed.start()
        killed.join()
        assert killed.exitcode == 9
        done, begun = answered(store, run), len(lines(log))

        drive(address, run, log)

        assert done.isdisjoint(lines(log)[begun:])
        assert store.recorded(run).state == expected
        assert store.row(run).status == "done"
    assert points == 72  # 12 effects: begun, done, and two entries each with a point around it


@pytest.mark.parametrize("least", [3, pytest.param(100, marks=pytest.mark.nightly)])
def test_runs_that_are_killed_at_random_end_as_if_nothing_had_happened(
    store: RunStore, address: str, tmp_path: Path, expected: State, least: int
) -> None:
    """Branches at once, and latencies in any order: after each kill another process goes on."""
    processes, random, kills, runs = forking(), Random(7), 0, 0
    while kills < least:
        run, log, seed = submitted(store), tmp_path / f"{runs}.log", random.random()
        runs += 1
        is_done = False
        while not is_done:
            done, begun = answered(store, run), len(lines(log))
            args = (address, run, log, 0, int(seed * 1000))
            process = processes.Process(target=drive, args=args)
            process.start()
            more = begun + random.randrange(1, 6)  # so that each process gets some way
            while process.is_alive() and len(lines(log)) < more:
                time.sleep(0.002)
            process.join(random.random() * 0.02)
            if process.exitcode is None:
                process.kill()  # which may be too late
                kills += 1
            process.join()
            assert process.exitcode in (0, -signal.SIGKILL)
            assert done.isdisjoint(lines(log)[begun:])
            is_done = process.exitcode == 0
        assert store.recorded(run).state == expected


def _held_in_a_tool(address: str, run: str, folder: str) -> None:
    """Go on with a run until a tool runs, which waits for a file."""

    @tool
    async def work(what: str) -> str:
        """Works."""
        Path(folder, "in the tool").touch()
        while not Path(folder, "go on").exists():
            time.sleep(0.01)  # as a process that is stopped: nothing of it goes on
        return what.upper()

    worker = Worker(Path(folder, "log"), Crash())
    with suppress(RunTakenError):
        resume_run(run, ToolLibrary.of(work), model=worker, record=address)
        return
    Path(folder, "refused").touch()


def _stop(pid: int, address: str) -> None:
    """Stop a process, but not while it holds the lock of a file, which nobody could take then."""
    os.kill(pid, signal.SIGSTOP)
    while address.endswith(".db") and _is_locked(address):
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.01)
        os.kill(pid, signal.SIGSTOP)


def _is_locked(address: str) -> bool:
    time.sleep(0.05)  # until the process has stopped
    with closing(sqlite3.connect(address, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        return False


def test_an_owner_that_was_stopped_and_goes_on_later_records_nothing(
    store: RunStore, address: str, tmp_path: Path, expected: State
) -> None:
    run = submitted(store)
    old = forking().Process(target=_held_in_a_tool, args=(address, run, str(tmp_path)))
    old.start()
    until((tmp_path / "in the tool").exists)
    _stop(old.pid or 0, address)
    with pytest.raises(RunTakenError, match="another process goes on with it"):
        drive(address, run, tmp_path / "log")
    passed = "UPDATE gram_runs SET leased_until = leased_until - ?"
    store.ready().execute(passed, LEASE)

    drive(address, run, tmp_path / "log")
    entries = store.entries(run)
    (tmp_path / "go on").touch()
    os.kill(old.pid or 0, signal.SIGCONT)
    old.join()

    assert (tmp_path / "refused").exists()
    assert store.entries(run) == entries
    assert store.recorded(run).state == expected


def test_of_two_that_race_for_a_run_one_gets_it(
    store: RunStore, address: str, tmp_path: Path, expected: State
) -> None:
    for number in range(2):
        run, log = submitted(store), tmp_path / f"{number}.log"
        both = [forking().Process(target=drive, args=(address, run, log)) for _ in range(2)]
        for each in both:
            each.start()
        for each in both:
            each.join()
        assert sorted(lines(log)) == sorted(set(lines(log)))
        assert len(lines(log)) == 12
        assert store.recorded(run).state == expected


def test_a_full_disk_keeps_what_was_recorded_for_later(tmp_path: Path, expected: State) -> None:
    address, log = str(tmp_path / "full.db"), tmp_path / "log"
    with open_store(address) as store:
        run = submitted(store)
        worker = Worker(log, Crash())
        log_of_run, kept = StoredRun.of(store, run)
        pages = store.ready().execute("PRAGMA page_count")[0][0]
        store.ready().execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match=r"full\.db: the disk is full"):
            _finish(store, kept.state, worker, log_of_run)
        whole = store.entries(run)
        store.ready().execute(f"PRAGMA max_page_count = {pages + 1000}")
        begun, done = len(lines(log)), answered(store, run)

        drive(address, run, log)

        assert store.entries(run)[: len(whole)] == whole
        assert done.isdisjoint(lines(log)[begun:])
        assert store.recorded(run).state == expected


def _finish(store: RunStore, state: State, worker: Worker, log: StoredRun) -> None:
    for _ in range(100):  # until a page is full
        going_on = Run(state, worker.library, model=worker, record=log)
        going_on.finish()
        store.create(os.urandom(8).hex(), "x" * 1000, store.row(log.id).facts)


def test_a_file_that_is_locked_for_a_while_is_waited_for(tmp_path: Path, expected: State) -> None:
    address = str(tmp_path / "locked.db")
    with open_store(address) as store:
        run = submitted(store)
    other = sqlite3.connect(address, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.3, lambda: (other.execute("COMMIT"), other.close())).start()
    drive(address, run, tmp_path / "log")
    with open_store(address) as store:
        assert store.recorded(run).state == expected


class Cut(Proxy):
    """A way to the server that breaks, once ``cut`` is set, after it carried out a request.

    Whoever asked does not hear of that.
    """

    def __init__(self, target: Path) -> None:
        self.cut = threading.Event()
        super().__init__(target)

    def passes(self, source: socket.socket) -> bool:
        """Whether what comes from there goes on."""
        is_broken = source.family == socket.AF_UNIX and self.cut.is_set()
        if is_broken:
            self.cut.clear()
        return not is_broken


def test_a_connection_that_is_lost_inside_a_commit_loses_and_doubles_nothing(
    postgres: PostgresServer, database: str
) -> None:
    way, name = Cut(postgres.folder), database.partition("@/")[2].partition("?")[0]
    with open_store(f"postgresql://postgres@127.0.0.1:{way.port}/{name}") as store:
        store.create("one", "(:Run)", RunFacts("a"))
        for number in range(3):
            way.cut.set()
            claim = store.claim("one")
            way.cut.set()
            claim.append(f"(:A {{n: {number}}})", f"(:B {{n: {number}}})")
            way.cut.set()
            claim.append(f"(:C {{n: {number}}})")
            way.cut.set()
            claim.let_go("stopped", Usage(0, 0))
        entries = store.entries("one")

    assert entries == ["(:Run)", *(f"(:{c} {{n: {n}}})" for n in range(3) for c in "ABC")]


def test_runs_go_on_while_the_server_is_restarted(
    postgres: PostgresServer, database: str, tmp_path: Path, expected: State
) -> None:
    with open_store(database) as store:
        runs = [submitted(store) for _ in range(6)]
    logs = {run: tmp_path / f"{run}.log" for run in runs}
    failed: list[BaseException] = []

    def go_on(some: list[str]) -> None:
        try:
            for run in some:
                while True:
                    try:
                        drive(database, run, logs[run], seed=1)
                        break
                    except StoreError:  # a process that cannot reach the server is begun again
                        time.sleep(0.1)
        except BaseException as error:  # noqa: BLE001  # told by the test
            failed.append(error)

    threads = [threading.Thread(target=go_on, args=[runs[n::3]]) for n in range(3)]
    for each in threads:
        each.start()
    for _ in range(2):
        time.sleep(0.2)
        postgres.restart()
    for each in threads:
        each.join()

    assert failed == []
    with open_store(database) as store:
        assert all(store.recorded(run).state == expected for run in runs)
    assert all(len(lines(log)) == 12 for log in logs.values())
