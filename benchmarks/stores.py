"""What a store of runs costs: recording, claiming, opening, reading, a next turn, and bytes.

    python -m benchmarks.stores [--messages 1000000]

Each figure is taken on sqlite3 and on a Postgres server of its own, with fsync on. A median of
elapsed time holds the waiting for the disk; beside it is the processor time of this process.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

from benchmarks.records import AGENT, UNLIMITED, add
from interp import (
    AgentError,
    AssistantRole,
    Message,
    ScriptedModel,
    ToolLibrary,
    Usage,
    open_store,
    resume_run,
    run,
)
from interp.execution import Begun, Folded
from interp.history import RunStore
from interp.history.stores import StoredRun
from interp.machine import CallTool, ModelReplied, ToolReturned, start
from tests.interp.postgres import serving_postgres

LIBRARY = ToolLibrary.of(add)
CALL = {"name": "add", "arguments": '{"x": 1}'}
ROUND = [
    {"content": "", "tool_calls": [{"id": "c", "function": CALL}]},
    "It is two, as it was to be expected.",
]
NO_STORE = """
import json, sys, time
import gram, lenses_ext, interp
from interp import ScriptedModel, run
agent = gram.loads_one('[a:Agent {instruction: "Greet.", model: "A/b"}]')
run(agent, "hello", model=ScriptedModel(["Hello."]))
drivers = ("sqlite3", "psycopg", "procrastinate", "interp.history.stores", "interp.workers")
print(json.dumps([len(sys.modules), [name for name in drivers if name in sys.modules]]))
"""
CONVERSATIONS = 1000
MESSAGE = '(:%s {content: "What was said %s, and a little more beside it."})'


def timed(function: Callable[[], Any], times: int, warm_up: int = 0) -> tuple[float, float]:
    """The median of the elapsed time, and of the processor time, of one call, in seconds."""
    elapsed, processor = [], []
    for _ in range(warm_up):
        function()
    gc.collect()
    for _ in range(times):
        began, used = time.perf_counter(), time.process_time()
        function()
        elapsed.append(time.perf_counter() - began)
        processor.append(time.process_time() - used)
    return median(elapsed), median(processor)


def say(what: str, seconds: tuple[float, float]) -> None:
    """Print the times of one thing."""
    elapsed, processor = (each * 1e3 for each in seconds)
    print(f"  {what:<46} {elapsed:9.2f} ms   {processor:8.2f} ms of CPU", flush=True)


def recording(store: RunStore) -> None:
    """An effect, which is a note that it has begun and the event of its end."""
    state, (request,), _ = start(AGENT, "go")
    log = StoredRun(store, str(uuid4()))
    log.begin(state, [])
    reply = ModelReplied((3,), Message(AssistantRole, "a word " * 40), Usage(10, 5), False, "stop")
    call = CallTool((3, 0), "add", '{"x": 1}')
    replied = Folded(reply, request, state)
    result = ToolReturned((3, 0), json.dumps({"text": "a word " * 40}))
    returned = Folded(result, call, state)

    def model() -> None:
        log.note(Begun((3,)))
        log.append(replied, 0.5)

    def tool() -> None:
        log.note(Begun((3, 0)))
        log.append(returned, 0.5)

    def once() -> None:
        log.note(Begun((3, 0)))
        log.append(returned, 0.5)

    with log.held():
        say("an effect: a request of the model", timed(model, 300, 20))
        say("an effect: a call of a tool", timed(tool, 300, 20))
        say("an effect: a call of a tool marked once", timed(once, 300, 20))


def claiming(store: RunStore) -> None:
    """Making a run, claiming it, and letting it go."""
    state, _, _ = start(AGENT, "go")

    def make() -> None:
        StoredRun(store, str(uuid4())).begin(state, [])

    def claim() -> None:
        taken.append(store.claim(log.id))
        taken.pop().let_go("stopped", Usage(1, 1))

    taken = list[Any]()
    log = StoredRun(store, str(uuid4()))
    log.begin(state, [])
    say("making a run", timed(make, 100, 10))
    say("a claim, and letting go", timed(claim, 100, 10))


def opening(address: str) -> None:
    """Opening a store that is there."""

    def opened() -> None:
        with open_store(address) as store:
            store.ready()

    opened()
    say("opening a store", timed(opened, 20))


def reading(store: RunStore) -> None:
    """A run of 10,000 entries, read as it is when somebody goes on with it."""
    replies = (each for _ in range(10_000 // 4) for each in ROUND[:1])
    try:
        response = run(
            AGENT, "go", LIBRARY, model=ScriptedModel(replies), limits=UNLIMITED, record=store
        )
        raise AssertionError(response)
    except AgentError:
        (row,) = store.rows(limit=1)
    print(f"  the run to resume has {row.entries} entries")
    say("resuming it: all is read", timed(lambda: StoredRun.of(store, row.id), 3))
    last = ScriptedModel(["done"])
    began, used = time.perf_counter(), time.process_time()
    assert resume_run(row.id, LIBRARY, model=last, record=store).content == "done"
    say("resuming it to its end", (time.perf_counter() - began, time.process_time() - used))


def turns(store: RunStore, messages: int) -> None:
    """The next turn of a conversation, in a store without and with many other messages."""

    def turn(name: str) -> Callable[[], None]:
        def take() -> None:
            model = ScriptedModel(["Hello."])
            run(AGENT, "hello", LIBRARY, model=model, record=store, conversation=name)

        return take

    def fresh() -> Callable[[], None]:
        names = (f"new-{uuid4()}" for _ in iter(int, 1))
        return lambda: turn(next(names))()

    say("a first turn, in a store of few messages", timed(fresh(), 50, 5))
    each = messages // CONVERSATIONS
    fill(store, 100, "early", 1)
    fill(store, each, "long", 1)
    say("a turn after 100 to 150 messages", timed(turn("early-0"), 20, 2))
    say(f"a turn after {each} messages", timed(turn("long-0"), 5, 1))
    began = time.perf_counter()
    fill(store, each, "filled")
    print(f"  {each * CONVERSATIONS} messages put in, in {time.perf_counter() - began:.0f} s")
    fill(store, 100, "late", 1)
    say(f"a first turn, beside {each * CONVERSATIONS} messages", timed(fresh(), 50, 5))
    say("a turn after 100 to 150 messages", timed(turn("late-0"), 20, 2))
    say(f"a turn after {each} messages", timed(turn("filled-7"), 5, 1))


def fill(store: RunStore, each: int, name: str, count: int = CONVERSATIONS) -> None:
    """Put messages into conversations, by SQL."""
    lines = [MESSAGE % (("User", "Assistant")[n % 2], n) for n in range(each)]

    def put(execute: Any) -> None:
        for number in range(count):
            said = f"{name}-{number}"
            for first in range(0, each, 250):
                part = lines[first : first + 250]
                values = [
                    value for seq, line in enumerate(part, first) for value in (said, seq, line)
                ]
                marks = ", ".join(["(?, ?, ?)"] * len(part))
                execute(
                    f"INSERT INTO gram_messages (conversation, seq, text) VALUES {marks}", *values
                )
            execute(
                "INSERT INTO gram_conversations (name, size, run) VALUES (?, ?, '')", said, each
            )

    store.ready().together(put)
    if hasattr(store.database, "address"):
        store.database.execute("ANALYZE")


def sizes(store: RunStore, size: Callable[[], int], runs: int = 500) -> None:
    """The bytes that a run of two requests and one call takes."""
    before = size()
    for _ in range(runs):
        run(AGENT, "go", LIBRARY, model=ScriptedModel(ROUND), record=store)
    (row,) = store.rows(limit=1)
    took = (size() - before) / runs
    ((text,),) = store.database.execute(
        "SELECT avg(length(text)) FROM gram_entries WHERE run = ?", row.id
    )
    print(
        f"  a run of {row.entries} entries takes {took:.0f} bytes, "
        f"{took / row.entries:.0f} an entry"
    )
    print(f"  of which the text of an entry is {float(text):.0f}")


@contextmanager
def databases() -> Iterator[dict[str, tuple[str, Callable[[RunStore], int]]]]:
    """The addresses of an empty store in each database, with what tells its size."""
    with tempfile.TemporaryDirectory() as folder, serving_postgres() as server:
        file = Path(folder, "runs.db")

        def of_file(store: RunStore) -> int:
            store.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return file.stat().st_size

        def of_tables(store: RunStore) -> int:
            ((found,),) = store.database.execute(
                "SELECT sum(pg_total_relation_size(oid)) FROM pg_class "
                "WHERE relkind = 'r' AND relname LIKE 'gram_%'"
            )
            return int(found)

        with server.database() as address:
            keep_on_disk(address)
            yield {"sqlite3": (str(file), of_file), "Postgres": (address, of_tables)}


def keep_on_disk(address: str) -> None:
    """Have the server of a test wait for the disk, as a real one does."""
    with open_store(address) as store:
        store.database.execute("ALTER SYSTEM SET fsync = on")
        store.database.execute("SELECT pg_reload_conf()")
    time.sleep(0.5)
    with open_store(address) as store:
        assert store.database.execute("SHOW fsync") == [("on",)]


def disk() -> None:
    """What waiting for the disk takes that the databases write to."""
    with tempfile.TemporaryFile() as file:

        def write() -> None:
            file.seek(0)
            file.write(bytes(8192))
            file.flush()
            os.fdatasync(file.fileno())

        say("the disk: 8 kB and fdatasync", timed(write, 200, 20))


def without_a_store() -> None:
    """A run without a store: what it imports, and what it takes."""
    told = subprocess.run([sys.executable, "-c", NO_STORE], stdout=subprocess.PIPE, check=True)
    modules, drivers = json.loads(told.stdout)
    print(f"without a store: {modules} modules, of stores and drivers {drivers}")

    def go() -> None:
        run(AGENT, "go", LIBRARY, model=ScriptedModel(ROUND))

    say("a run", timed(go, 500, 50))


def main() -> None:
    """Measure all, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--messages", type=int, default=1_000_000)
    given = parser.parse_args()
    without_a_store()
    disk()
    with databases() as found:
        for name, (address, size) in found.items():
            print(f"{name}:")
            opening(address)
            with open_store(address) as store:
                recording(store)
                claiming(store)
                sizes(store, lambda size=size, store=store: size(store))
                reading(store)
                turns(store, given.messages)


if __name__ == "__main__":
    main()
