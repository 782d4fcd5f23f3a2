"""Clients of the MCP SDK that talk to a server of the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.types import CallToolResult

from interp.serving import Serving
from tests.interp.serving.served import serving

MODES = pytest.mark.parametrize("mode", ["legacy", "auto"])
"""The protocol with a handshake, and the one without."""


@asynccontextmanager
async def client(port: int, mode: str, key: str = "none", **options: Any) -> AsyncIterator[Client]:
    """A client of a server on loopback."""
    async with create_mcp_http_client({"Authorization": f"Bearer {key}"}) as http:
        transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
        async with Client(transport, mode=mode, **options) as opened:
            yield opened


def talk(what: Serving, mode: str, act: Callable[[Client], Awaitable[Any]], **options: Any) -> Any:
    """What a client gets that does something with a server."""

    async def talking(port: int) -> Any:
        async with client(port, mode, what.doors.key or "none", **options) as opened:
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
