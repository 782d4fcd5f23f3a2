"""The application: its addresses, and how each request is read, run and answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from time import time
from typing import Final, TypeAlias

from attrs import define, field
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gram.suggestions import did_you_mean

from ..json_text import Json, read_json
from .asked import Asked, read_chat, read_response
from .doors import Doors, Guarded
from .exchanges import Exchange, Served
from .refusals import RefusedError
from .replies import ChatReply, Reply, ResponseReply

CONVERSATION: Final = "X-Gram-Conversation"
"""The header that names the conversation of a request to Chat Completions."""

_BUSY: Final = 1.0  # seconds after which a client may ask again

Reading: TypeAlias = Callable[[Json, "str | None"], Asked]
Making: TypeAlias = Callable[[str, Asked], Reply]


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
    _going: set[asyncio.Task[None]] = field(factory=set, init=False)
    _started: int = field(factory=lambda: int(time()), init=False)

    def app(self) -> Starlette:
        """The application."""
        behind = [Middleware(Guarded, self.doors, _refused)]
        if self.doors.origins:
            origins = [*self.doors.origins]
            behind.append(Middleware(CORSMiddleware, origins, ["*"], ["*"]))
        return Starlette(
            routes=[
                Route("/health", self._health),
                Route("/metrics", self._metrics),
                Route("/v1/models", self._models),
                Route("/v1/models/{name:path}", self._model),
                Route(
                    "/v1/chat/completions", self._answering(read_chat, ChatReply), methods=["POST"]
                ),
                Route(
                    "/v1/responses", self._answering(read_response, ResponseReply), methods=["POST"]
                ),
            ],
            middleware=behind,
            exception_handlers={
                RefusedError: lambda _, error: _refused(RefusedError.of(error)),
                HTTPException: _not_there,
            },
            lifespan=self._living,
        )

    # --- what there is

    async def _health(self, _: Request) -> Response:
        return JSONResponse({"status": "ok", "agents": [*self.agents], "running": len(self._going)})

    async def _metrics(self, _: Request) -> Response:
        if self.metrics is None:
            raise RefusedError("metrics need prometheus-client", status=404, code="not_found")
        return Response(self.metrics(), media_type="text/plain; version=0.0.4")

    async def _models(self, _: Request) -> Response:
        return JSONResponse({"object": "list", "data": [*map(self._as_model, self.agents)]})

    async def _model(self, request: Request) -> Response:
        name = request.path_params["name"]
        self._served(name)
        return JSONResponse(self._as_model(name))

    def _as_model(self, name: str) -> Json:
        described = self.agents[name].program.value.properties.get("description")
        model = {"id": name, "object": "model", "created": self._started, "owned_by": "gram"}
        return {**model, "description": described}

    def _served(self, name: str) -> Served:
        if (served := self.agents.get(name)) is not None:
            return served
        hint = did_you_mean(name, self.agents) or f"there are {', '.join(self.agents)}"
        raise RefusedError(
            f"there is no model {name}; {hint}", status=404, code="model_not_found", param="model"
        )

    # --- answering

    def _answering(self, read: Reading, reply: Making) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            named = request.headers.get(CONVERSATION) or None
            asked = read(await self._body(request), named)
            served = self._served(asked.model)
            exchange = self.begin(served, asked, reply)
            if not asked.streams:
                return await _whole(request, exchange)
            first = await exchange.first()
            return _Events(exchange, first)

        return answer

    def begin(self, served: Served, asked: Asked, reply: Making) -> Exchange:
        """Begin an exchange.

        Raises:
            RefusedError: too many runs are under way.
        """
        if len(self._going) >= self.at_once:
            raise RefusedError(
                f"{self.at_once} runs are under way: ask again in a moment",
                status=429,
                code="rate_limit_exceeded",
                retry_after=_BUSY,
            )
        exchange = Exchange(served, asked, self.record, reply, shows_tools=self.shows_tools)
        self._going.add(exchange.task)
        exchange.task.add_done_callback(self._going.discard)
        return exchange

    async def _body(self, request: Request) -> Json:
        """The JSON of a request.

        Raises:
            RefusedError: it is too long, too slow or no JSON.
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
        try:
            return read_json(body.decode())
        except ValueError as error:
            raise RefusedError(f"the body is not JSON: {error}", code="invalid_json") from None

    # --- living

    @asynccontextmanager
    async def _living(self, _: Starlette) -> AsyncIterator[None]:
        """What is done beside requests; at the end, runs that go on without a client may end."""
        beside = asyncio.ensure_future(self.beside(self)) if self.beside else None
        try:
            yield
        finally:
            if beside:
                beside.cancel()
            if self._going:
                await asyncio.wait(self._going, timeout=self.grace)
            for task in (left := [*self._going]):
                task.cancel()
            if left:
                await asyncio.wait(left)


class _Events(StreamingResponse):
    """The events of an exchange, which is let go when its client has gone."""

    def __init__(self, exchange: Exchange, first: str) -> None:
        headers = {"X-Gram-Run": exchange.run, "Cache-Control": "no-store"}
        super().__init__(exchange.events(first), headers=headers, media_type="text/event-stream")
        self._exchange = exchange

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._exchange.leave()


async def _whole(request: Request, exchange: Exchange) -> Response:
    """The whole answer of an exchange, which is let go when its client has gone."""
    end, gone = asyncio.ensure_future(exchange.end()), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait([end, gone], return_when=asyncio.FIRST_COMPLETED)
        if not end.done():
            raise ClientDisconnect
        answer = await end
    finally:
        for each in (end, gone):
            each.cancel()
        exchange.leave()
    return JSONResponse(exchange.reply.whole(answer), headers={"X-Gram-Run": exchange.run})


async def _gone(request: Request) -> None:
    """Wait until the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _refused(error: RefusedError) -> Response:
    return JSONResponse({"error": error.error}, error.status, error.headers)


def _not_there(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException), "it is the handler of these"
    told = f"{request.method} {request.url.path}: {error.detail}"
    return _refused(RefusedError(told, status=error.status_code, code="not_found"))
