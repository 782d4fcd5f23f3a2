"""The server: it binds its address, serves until it is told to stop, and ends in time."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from math import inf
from time import monotonic, time
from typing import Final, TypeAlias

import uvicorn
from attrs import field, frozen
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from gram.words import did_you_mean

from ..json_text import Json, read_json
from ..workers import until_told
from .exchanges import LOGGER, Exchange
from .replies import ChatReply, OpenAIReply, ResponseReply
from .requests import Asked, Doors, RefusedError, read_chat, read_response
from .serving import Served, Serving, while_there

CONVERSATION: Final = "X-Gram-Conversation"
"""The header that names the conversation of a request to Chat Completions."""

Reading: TypeAlias = Callable[[Json, "str | None"], Asked]
Making: TypeAlias = Callable[[str, Asked], OpenAIReply]


def app_of(serving: Serving, *, as_mcp: bool = False) -> Starlette:
    """The application that serves agents as models.

    Args:
        as_mcp: whether they are the tools of an MCP server, too, at ``/mcp``.
    """
    app, routes = _App(serving), list[Route]()
    living = serving.living
    if as_mcp:
        from .mcp_tools import McpOverHttp  # imported late: it needs a package of its own

        mcp = McpOverHttp(serving)
        routes.append(Route("/mcp", mcp, methods=["POST", "DELETE"]))
        living = mcp.living
    behind = [Middleware(_Guarded, serving.doors)]
    if serving.doors.origins:
        origins, shown = [*serving.doors.origins], ["X-Gram-Run", "Mcp-Session-Id"]
        behind.append(Middleware(CORSMiddleware, origins, ["*"], ["*"], expose_headers=shown))
    return Starlette(
        routes=[
            Route("/health", app.health),
            Route("/metrics", app.metrics),
            Route("/v1/models", app.models),
            Route("/v1/models/{name:path}", app.model),
            Route("/v1/chat/completions", app.answering(read_chat, ChatReply), methods=["POST"]),
            Route("/v1/responses", app.answering(read_response, ResponseReply), methods=["POST"]),
            *routes,
        ],
        middleware=behind,
        exception_handlers={
            RefusedError: lambda _, error: _refused(RefusedError.of(error)),
            HTTPException: _not_there,
            ClientDisconnect: lambda *_: Response(status_code=499),  # which nobody is sent
        },
        lifespan=lambda _: living(),
    )


@frozen
class _App:
    """What answers at each address."""

    _serving: Serving
    _started: int = field(factory=lambda: int(time()))

    async def health(self, _: Request) -> Response:
        agents, running = [*self._serving.agents], len(self._serving.going)
        return JSONResponse({"status": "ok", "agents": agents, "running": running})

    async def metrics(self, _: Request) -> Response:
        if self._serving.metrics is None:
            raise RefusedError("metrics need prometheus-client", status=404, code="not_found")
        return Response(self._serving.metrics(), media_type="text/plain; version=0.0.4")

    async def models(self, _: Request) -> Response:
        listed = [*map(self._as_model, self._serving.agents)]
        return JSONResponse({"object": "list", "data": listed})

    async def model(self, request: Request) -> Response:
        name = request.path_params["name"]
        self._served(name)
        return JSONResponse(self._as_model(name))

    def _as_model(self, name: str) -> Json:
        described = self._serving.agents[name].program.value.properties.get("description")
        model = {"id": name, "object": "model", "created": self._started, "owned_by": "gram"}
        return {**model, "description": described}

    def _served(self, name: str) -> Served:
        agents = self._serving.agents
        if (served := agents.get(name)) is not None:
            return served
        hint = did_you_mean(name, agents) or f"there are {', '.join(agents)}"
        raise RefusedError(
            f"there is no model {name}; {hint}", status=404, code="model_not_found", param="model"
        )

    def answering(self, read: Reading, reply: Making) -> Callable[[Request], Awaitable[Response]]:
        serving = self._serving

        async def answer(request: Request) -> Response:
            named = request.headers.get(CONVERSATION) or None
            asked = read(_json(await serving.body(request)), named)
            begin = partial(self._served(asked.model).begun, asked, serving.record)
            exchange = Exchange(serving, asked, begin)
            await exchange.first()
            made = reply(exchange.run, asked)
            if asked.streams:
                return _Events(exchange, made)
            whole = made.whole(await while_there(request, exchange.end()))
            return JSONResponse(whole, headers={"X-Gram-Run": exchange.run})

        return answer


class _Events(StreamingResponse):
    """The events of an exchange, which is let go when its client has gone."""

    def __init__(self, exchange: Exchange, reply: OpenAIReply) -> None:
        headers = {"X-Gram-Run": exchange.run, "Cache-Control": "no-store"}
        super().__init__(_events(exchange, reply), headers=headers, media_type="text/event-stream")
        self._exchange = exchange

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._exchange.leave()


async def _events(exchange: Exchange, reply: OpenAIReply) -> AsyncIterator[str]:
    for text in reply.begun():
        yield text
    async for kind, *what in exchange.seen():
        texts = [": the run goes on\n\n"] if kind == "silent" else getattr(reply, kind)(*what)
        for text in texts:
            yield text
    try:
        last = reply.ended(exchange.task.result())
    except RefusedError as refused:
        last = reply.failed(refused)
    for text in last:
        yield text


def _json(body: bytes) -> Json:
    try:
        return read_json(body.decode())
    except ValueError as error:
        raise RefusedError(f"the body is not JSON: {error}", code="invalid_json") from None


def _refused(error: RefusedError) -> Response:
    return JSONResponse({"error": error.error}, error.status, error.headers)


def _not_there(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException), "it is the handler of these"
    told = f"{request.method} {request.url.path}: {error.detail}"
    return _refused(RefusedError(told, status=error.status_code, code="not_found"))


@frozen
class _Guarded:
    """An application behind doors."""

    app: ASGIApp
    doors: Doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self.app
        if scope["type"] == "http":
            try:
                self.doors.check(Request(scope))
            except RefusedError as refused:
                app = _refused(refused)
        await app(scope, receive, send)


_TO_CLOSE: Final = 5.0  # seconds that it has after the grace


def serve(serving: Serving, host: str, port: int, *, as_mcp: bool = False) -> None:
    """Serve until SIGTERM or SIGINT; what is under way may then end within the grace.

    Args:
        host: the name or address of this machine that it listens at.
        port: the port; 0 for any that is free.
        as_mcp: whether MCP clients are answered, too.

    Raises:
        OSError: the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise OSError(error.errno, error.strerror, f"--host {host} --port {port}") from None
    config = uvicorn.Config(
        app_of(serving, as_mcp=as_mcp),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=round(serving.grace),
    )
    server = uvicorn.Server(config)
    ends_at = inf

    def stop() -> None:
        nonlocal ends_at
        server.should_exit = True
        ends_at = monotonic() + 2 * serving.grace + _TO_CLOSE
        LOGGER.info("is told to stop", extra={"event": "server_stopping"})

    where = f"[{host}]" if ":" in host else host
    told = f"http://{where}:{listening.getsockname()[1]}/v1"
    served = ", ".join(serving.agents)
    LOGGER.info("serves %s at %s", served, told, extra={"event": "server_started"})
    until_told(lambda: server.run([listening]), stop, lambda: ends_at)
    LOGGER.info("has ended", extra={"event": "server_ended"})


def serve_stdio(serving: Serving) -> None:
    """Serve the MCP client that has started this process, until it closes the standard input.

    Meanwhile what tools write to standard output goes to standard error.
    """
    from .mcp_tools import over_stdio  # imported late: it needs a package of its own

    LOGGER.info("serves %s", ", ".join(serving.agents), extra={"event": "server_started"})
    try:
        asyncio.run(over_stdio(serving))
    except* BrokenPipeError:
        pass  # the client has gone without a word
    LOGGER.info("has ended", extra={"event": "server_ended"})
