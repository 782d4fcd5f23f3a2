"""Runs that are driven in processes of their own, which are killed."""

from __future__ import annotations

import asyncio
import hashlib
import multiprocessing
import os
from multiprocessing.context import ForkServerContext
from pathlib import Path
from random import Random

import pytest

from gram import loads
from interp import Message, Run, ToolContext, ToolLibrary, open_store, tool
from interp.errors import RunTakenError
from interp.history import RunStore
from interp.history.stores import StoredRun
from interp.history.stores.leases import Lease
from interp.machine import CallModel, Request, start
from interp.machine.messages import AssistantRole, FunctionRole, ToolCall
from interp.programs import the_agent

PROGRAM = loads("""
[job:Workflow | one, two, three, last, (one)-->(last), (two)-->(last), (three)-->(last)]
[work:Tool {description: "Works."} | (what::String)==>(::String)]
[one:Agent {instruction: "1", model: "A/b"} | work]
[two:Agent {instruction: "2", model: "A/b"} | work]
[three:Agent {instruction: "3", model: "A/b"} | work]
[last:Agent {instruction: "4", model: "A/b"} | work]
""")


class Crash:
    """Counts the points of a run, and ends the process at one of them; at none if that is 0."""

    def __init__(self, point: int = 0) -> None:
        self.point = point
        self.passed = 0

    def here(self) -> None:
        self.passed += 1
        if self.passed == self.point:
            os._exit(9)


class Worker:
    """The model and the tools of the program, which note what they begin.

    Args:
        log: the file that each line is added to at once.
        crash: ends the process.
        seed: what the latencies are drawn from; None for no latency.
    """

    def __init__(self, log: Path, crash: Crash, seed: int | None = None) -> None:
        self._log, self._crash = log, crash
        self._random = None if seed is None else Random(seed)

        @tool
        async def work(what: str, context: ToolContext) -> str:
            """Works."""
            self._note(context.key.partition("/")[2])
            await self._wait()
            self._crash.here()
            return what.upper()

        self.library = ToolLibrary.of(work)

    def complete(self, request: Request) -> Message:
        """A reply that depends on the request alone: first a call, then its result."""
        return asyncio.run(self.acomplete(request))

    async def acomplete(self, request: Request) -> Message:
        """The same without blocking."""
        self._note(asked(request))
        await self._wait()
        self._crash.here()
        last = request.messages[-1]
        if isinstance(last.role, FunctionRole):
            return Message(AssistantRole, f"{request.instruction}: {last.content}")
        said = f'{{"what": "{request.instruction} {len(last.content)}"}}'
        return Message(AssistantRole, "", [ToolCall("1", "work", said)])

    def _note(self, what: str) -> None:
        self._crash.here()
        with self._log.open("a") as file:
            file.write(f"{what}\n")

    async def _wait(self) -> None:
        if self._random:
            await asyncio.sleep(self._random.random() * 0.02)


def asked(request: Request) -> str:
    """A name for a request."""
    said = "|".join(each.content for each in request.messages)
    return hashlib.sha256(f"{request.instruction}|{said}".encode()).hexdigest()[:12]


def answered(store: RunStore, run: str) -> set[str]:
    """The names of what a run has the answers to."""
    effects = (each.effect for each in store.recorded(run).steps)
    return {
        asked(each.request) if isinstance(each, CallModel) else "/".join(map(str, each.at))
        for each in effects
        if each is not None
    }


def submitted(store: RunStore) -> str:
    """A run that is in the store, and that nobody has begun."""
    state, _, _ = start(the_agent(PROGRAM, None, by="submitted"), "go")
    run = os.urandom(8).hex()
    StoredRun(store, run).begin(state.with_run_id(run), ())
    return run


def drive(address: str, run: str, log: Path, point: int = 0, seed: int | None = None) -> int:
    """Go on with a run to its end; returns how many points it passed.

    What a killed process had sent to a server is carried out after its death, perhaps just after
    the run was read here; then it is read again.
    """
    try:
        return _driven(address, run, log, point, seed)
    except RunTakenError as error:
        if "has gone on with it since it was read" not in str(error):
            raise
    return _driven(address, run, log, point, seed)


def _driven(address: str, run: str, log: Path, point: int, seed: int | None) -> int:
    crash = Crash(point)
    worker = Worker(log, crash, seed)
    append = Lease.append

    def watched(lease: Lease, *entries: str) -> None:
        crash.here()
        append(lease, *entries)
        crash.here()

    with pytest.MonkeyPatch.context() as patch, open_store(address) as store:
        patch.setattr(Lease, "append", watched)  # to end the process around it
        kept_in, kept = StoredRun.of(store, run)
        Run(kept.state, worker.library, model=worker, record=kept_in).finish()
    return crash.passed


def forking() -> ForkServerContext:
    """Starts processes in which all that a run needs is loaded."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.interp.history.stores.crashing", "psycopg", "sqlite3"])
    return context
