"""What is served: agents and workflows, within limits, and the runs that are under way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from attrs import define, field, frozen
from starlette.requests import ClientDisconnect, Request

from gram import GramError, Pattern
from gram.documents import WatchedFiles
from lenses_ext import tool_spec_schema, view
from lenses_ext.language import tool_spec_of, written_signature

from ..concurrency import call_in_thread
from ..execution import Approver
from ..history.records import RecordedRun
from ..history.stores import StoredRun, store_of_a_run
from ..json_text import Json, json_or_text
from ..machine import Decided, Given, State, Status
from ..running import BeginOptions, Run, RunOptions, begin
from ..tools import ToolLibrary
from .exchanges import LOGGER
from .requests import Asked, Doors, RefusedError

T = TypeVar("T")

_NOT_IN_STATES: Final = {
    "model", "base_url", "dialect", "match", "on_tool_error", "telemetry", "observe",
}  # fmt: skip
"""The options that a run is given again where it goes on; a model only if the State names none."""


@frozen
class Served:
    """An agent or workflow that is served.

    Attributes:
        options: how it is run.
    """

    program: Pattern
    library: ToolLibrary
    options: BeginOptions

    def given(self, said: Given) -> Given:
        """What it is begun with: the arguments, where a text is a JSON object of these."""
        if not isinstance(said, str) or written_signature(self.program) is None:
            return said
        value = json_or_text(said)
        names = view(tool_spec_schema, tool_spec_of(self.program)).get("properties", {})
        is_arguments = isinstance(value, dict) and bool(value) and value.keys() <= names.keys()
        return cast(Given, value) if is_arguments else said

    def begun(self, asked: Asked, record: str | None) -> Run | State:
        """Begin a run, or take up one that waited; a State is of one that waits or has ended."""
        options: BeginOptions = {**self.options, "record": record}
        if asked.conversation is None:
            given, context = self.given(asked.said), asked.messages[:-1]
            return begin(self.program, given, self.library, context, **options)
        if record is None:
            raise RefusedError(
                "conversations are not kept here: the server was started without --record",
                code="unsupported",
                param="conversation",
            )
        if (waited := self._waited(record, asked.conversation)) is not None:
            return waited
        options["conversation"] = asked.conversation
        return begin(self.program, self.given(asked.said_since), self.library, **options)

    def called(self, arguments: Mapping[str, Json], record: str | None) -> Run:
        """Begin a run as a call of a tool; see `begun`."""
        options: BeginOptions = {**self.options, "record": record}
        return begin(self.program, arguments, self.library, **options)

    def decided(self, run: str, approve: Approver, record: str) -> Run | State:
        """Go on with a kept run, where a person may have decided about the calls that wait."""
        with store_of_a_run(record) as store:
            log, kept = StoredRun.of(store, run)
        if kept.state.status is Status.DONE:
            return kept.state
        return self._going_on(log, kept, approve)

    def _waited(self, record: str, conversation: str) -> Run | State | None:
        """The last turn of a conversation, if it waits for a person or one has decided since."""
        with store_of_a_run(record) as store:
            run = store.conversation(conversation).unfinished_turn()
            if run is None:
                return None
            log, kept = StoredRun.of(store, run)
        if kept.state.asks or kept.state.status is Status.DONE:
            return kept.state
        if not any(isinstance(each, Decided) for each in kept.state.events[-2:]):
            return None  # it failed or was cut; a new turn has what was done in it
        return self._going_on(log, kept)

    def _going_on(self, log: StoredRun, kept: RecordedRun, approve: Approver | None = None) -> Run:
        options = {name: each for name, each in self.options.items() if name in _NOT_IN_STATES}
        if kept.state.model or not options.get("model"):
            options.pop("model", None)
        options |= {"record": log, "approve": approve}
        return Run(kept.state, self.library, **cast(RunOptions, options))


@define
class Serving:
    """What is served, and within which limits.

    Attributes:
        agents: the agents and workflows by their names; a reload puts others in their place.
        doors: who may come in.
        record: the store that each run is kept in, or None.
        shows_tools: whether clients see calls of tools, as events of their own.
        at_once: how many runs may be under way.
        most_bytes: how long a body may be.
        body_seconds: how long it may take to arrive.
        grace: how many seconds runs may still take when the server stops.
        metrics: gives the metrics as Prometheus reads them, or None.
        beside: what works while the server does.
        going: the runs that are under way.
    """

    agents: Mapping[str, Served]
    doors: Doors = Doors()
    record: str | None = None
    shows_tools: bool = False
    at_once: int = 64
    most_bytes: int = 32_000_000
    body_seconds: float = 30.0
    grace: float = 30.0
    metrics: Callable[[], bytes] | None = None
    beside: Callable[[Serving], Awaitable[None]] | None = None
    going: set[asyncio.Task[Any]] = field(factory=set, init=False)

    async def body(self, request: Request) -> bytes:
        """The body of a request."""
        body = bytearray()
        try:
            async with asyncio.timeout(self.body_seconds):
                async for part in request.stream():
                    body += part
                    if len(body) > self.most_bytes:
                        told = f"the body has more than {self.most_bytes:,} bytes"
                        raise RefusedError(told, status=413, code="body_too_large")
        except TimeoutError:
            told = f"the body did not arrive within {self.body_seconds:g} s"
            raise RefusedError(told, status=408, code="body_too_slow") from None
        return bytes(body)

    @asynccontextmanager
    async def living(self) -> AsyncIterator[None]:
        """What is done beside requests; at the end, runs that go on without a client may end."""
        beside = asyncio.ensure_future(self.beside(self)) if self.beside else None
        try:
            yield
        finally:
            if beside:
                beside.cancel()
            if self.going:
                await asyncio.wait(self.going, timeout=self.grace)
            for task in (left := [*self.going]):
                task.cancel()
            if left:
                await asyncio.wait(left)


async def while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Do something for a client; it is cancelled when the client has gone.

    Raises:
        ClientDisconnect: the client has gone.
    """
    working, gone = asyncio.ensure_future(work), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait([working, gone], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return await working
    finally:
        for each in (working, gone):
            each.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


_PAUSE: Final = 0.5  # seconds between two looks at the files

Read = Callable[[], tuple[Mapping[str, Served], Iterable[Path]]]
"""Reads the programs; gives their agents, and the files that these were read from."""


def reloading(read: Read, files: Iterable[Path]) -> Callable[[Serving], Awaitable[None]]:
    """What looks for changes beside a server."""
    watched = WatchedFiles(files)

    async def look(serving: Serving) -> None:
        refused = ""  # why the program is not taken; what mends it may be in a file not known yet
        while True:
            await asyncio.sleep(_PAUSE)
            if not (watched.have_changed() or refused):
                continue
            try:
                watched.expect_regular()
                agents, found = await call_in_thread(read)
            except (GramError, OSError) as error:
                told = "the changed program is not taken: %s"
                if str(error) != refused:
                    LOGGER.warning(told, error, extra={"event": "reload_refused"})
                refused = str(error)
                continue
            serving.agents, refused = agents, ""
            watched.are(found)
            LOGGER.info("serves %s", ", ".join(agents), extra={"event": "reloaded"})

    return look
