"""Serves programs on loopback, in a thread of the test, to clients of both protocols."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.types import CallToolResult
from openai import OpenAI

from interp.machine import Request
from interp.serving import Served, Serving, app_of
from interp.tools import ToolLibrary
from lenses_ext import parse_program, resolve
from lenses_ext.names import find_runnables
from tests.interp.worker_processes import until as until

GREETER = """
[greeter:Agent {description: "Greets people", instruction: "Greet.", model: "OpenAI/gpt-5.6-luna"}]
"""


class Asynchronous:
    """A model that is only asked in an event loop."""

    def complete(self, request: Request) -> str:
        raise AssertionError("the server asks in its loop")


class Slow(Asynchronous):
    """Answers when it is let; knows who waits and who was cancelled."""

    def __init__(self) -> None:
        self.waiting, self.cancelled, self.answered = 0, 0, 0
        self.may_answer = False

    async def acomplete(self, request: Request) -> str:
        self.waiting += 1
        try:
            while not self.may_answer:
                await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.waiting -= 1
        self.answered += 1
        return "At last."


def agents(program: str, library: ToolLibrary | None = None, **options: Any) -> dict[str, Served]:
    """The agents of a text, as they are served."""
    document = parse_program(program)
    names = [each.value.identity for each in find_runnables(document)]
    return {
        name: Served(resolve(document, name), library or ToolLibrary(), options) for name in names
    }


@contextmanager
def serving(what: Serving, *, as_mcp: bool = False) -> Iterator[int]:
    """Serve inside; gives the port."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    server = uvicorn.Server(uvicorn.Config(app_of(what, as_mcp=as_mcp), log_config=None, ws="none"))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        until(lambda: server.started)
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


@contextmanager
def asked_of(
    program: str, library: ToolLibrary | None = None, *, record: Any = None, **options: Any
) -> Iterator[OpenAI]:
    """The client of a server of a program, whose runs may be kept in a store."""
    what = Serving(agents(program, library, **options), record=record and str(record))
    with serving(what) as port, client(port) as asking:
        yield asking


def client(port: int, key: str = "none", **more: Any) -> OpenAI:
    """A client that does not ask again by itself."""
    return OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key=key, max_retries=0, **more)


def ask(
    port: int, path: str, body: Any = None, method: str = "POST", **headers: str
) -> tuple[int, dict[str, str], str]:
    """Ask with plain HTTP; a body that is not bytes is sent as JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        sent = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, sent, named)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()
    finally:
        connection.close()


MODES = pytest.mark.parametrize("mode", ["legacy", "auto"])
"""The protocol with a handshake, and the one without."""


@asynccontextmanager
async def mcp_client(
    port: int, mode: str, key: str = "none", **options: Any
) -> AsyncIterator[Client]:
    """A client of a server on loopback."""
    async with create_mcp_http_client({"Authorization": f"Bearer {key}"}) as http:
        transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
        async with Client(transport, mode=mode, **options) as opened:
            yield opened


def talk(what: Serving, mode: str, act: Callable[[Client], Awaitable[Any]], **options: Any) -> Any:
    """What a client gets that does something with a server."""

    async def talking(port: int) -> Any:
        async with mcp_client(port, mode, what.doors.key or "none", **options) as opened:
            return await act(opened)

    with serving(what, as_mcp=True) as port:
        return asyncio.run(talking(port))


def calling(name: str, arguments: dict[str, Any] | None = None) -> Callable[[Client], Any]:
    """What calls a tool."""
    return lambda opened: opened.call_tool(name, arguments or {"input": "Hi"})


def text_of(result: CallToolResult) -> str:
    """The text of a result."""
    (part,) = result.content
    assert part.type == "text"
    return part.text
