"""How MCP clients reach the tools: by HTTP beside the models, or as the process that they start."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from .mcp_tools import AgentTools
from .serving import Serving


class McpOverHttp:
    """An application that answers MCP clients.

    Args:
        serving: what is served.
    """

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._sessions = StreamableHTTPSessionManager(
            AgentTools(serving).server(), max_request_body_size=serving.most_bytes
        )

    @asynccontextmanager
    async def living(self) -> AsyncIterator[None]:
        """What is done beside requests; at the end, runs may end before their sessions do."""
        async with self._sessions.run(), self._serving.living():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whose body has to be there in time."""
        body = await self._serving.body(Request(scope, receive))
        parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def read() -> Message:
            return parts.pop() if parts else await receive()

        await self._sessions.handle_request(scope, read, send)


async def over_stdio(serving: Serving) -> None:
    """Answer the client at the other end of the standard streams, until it closes them.

    Args:
        serving: what is served.
    """
    server = AgentTools(serving).server()
    async with stdio_server() as (read, write), serving.living():
        await server.run(read, write, server.create_initialization_options())
