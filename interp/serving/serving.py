"""What is served: the agents, the limits, and the runs that are under way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from attrs import define, field
from starlette.requests import ClientDisconnect, Request

from gram import GramError
from gram.documents import WatchedFiles

from ..concurrency import call_in_thread
from .doors import Doors, RefusedError
from .exchanges import LOGGER
from .served import Served

T = TypeVar("T")


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
    going: set[asyncio.Task[None]] = field(factory=set, init=False)

    async def body(self, request: Request) -> bytes:
        """The body of a request.

        Raises:
            RefusedError: it is too long or too slow.
        """
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
    """Wait until the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


_PAUSE: Final = 0.5  # seconds between two looks at the files

Read = Callable[[], tuple[Mapping[str, Served], Iterable[Path]]]
"""Reads the programs; gives their agents, and the files that these were read from."""


def reloading(read: Read, files: Iterable[Path]) -> Callable[[Serving], Awaitable[None]]:
    """What looks for changes beside a server.

    Args:
        read: reads the programs again.
        files: the files that they were read from.
    """
    watched = WatchedFiles(files)

    async def look(serving: Serving) -> None:
        while True:
            await asyncio.sleep(_PAUSE)
            if not watched.have_changed():
                continue
            try:
                watched.expect_regular()
                agents, found = await call_in_thread(read)
            except (GramError, OSError) as error:
                told = "the changed program is not taken: %s"
                LOGGER.warning(told, error, extra={"event": "reload_refused"})
                continue
            serving.agents = agents
            watched.are(found)
            LOGGER.info("serves %s", ", ".join(agents), extra={"event": "reloaded"})

    return look
