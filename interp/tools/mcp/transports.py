"""How servers are reached: pipes to a command, HTTP to an address; and why that failed.

This loads the network library: import it only when a server is about to be reached.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf
from typing import TYPE_CHECKING, Any, TextIO

import httpx2

from gram.words import counted

from ...errors import ConfigurationError, said_by
from ...models import limit_body
from .server import McpServer
from .untrusted import LONGEST_MESSAGE, TOO_LONG, said, visible

if TYPE_CHECKING:
    from mcp import MCPError


async def _limit(response: httpx2.Response) -> None:
    """Refuse an answer once it is too long; who reads a stream of events limits each of them."""
    kind = response.headers.get("content-type", "").lower()
    most, why = (inf, "") if kind.startswith("text/event-stream") else (LONGEST_MESSAGE, TOO_LONG)
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        most, why = 0, "the answer is compressed, unasked"
    limit_body(response, most, httpx2.StreamError(why))


_LINE = 4_000  # characters
_PATIENCE = 0.5  # seconds

_log = logging.getLogger("interp.mcp")


class ErrorLines:
    """A pipe for the standard error of a server; a thread reads it."""

    def __init__(self, server: str) -> None:
        reading, writing = os.pipe()
        self.writer: TextIO = os.fdopen(writing, "w")
        self._last: deque[str] = deque(maxlen=3)
        self._reader = threading.Thread(target=self._read, args=(server, reading), daemon=True)
        self._reader.start()

    def last(self) -> str:
        """The last lines of a server that has ended."""
        self.writer.close()
        self._reader.join(_PATIENCE)
        return "\n".join(self._last)

    def _read(self, server: str, reading: int) -> None:
        with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
            while line := lines.readline(_LINE):
                if shown := said(line):
                    self._last.append(shown)
                    _log.debug("%s: %s", server, shown)


_SECONDS = 30.0  # to connect and to send; an answer may take as long as the run waits
_BROKEN_JSON = "Failed to parse JSON response: "
_BROKEN_STREAM = "SSE stream failed: "  # what the SDK says of an event that is too long
_CLOSED = "Connection closed"  # of the SDK itself: servers use the same code for errors of theirs
_ENDED_SESSION = "Session terminated"  # what the SDK says when a server has forgotten us


@asynccontextmanager
async def transport_to(server: McpServer, lines: ErrorLines | None) -> AsyncIterator[Any]:
    """The SDK's transport to a server, with what it needs to be open."""
    if lines is not None:
        from mcp.client.stdio import StdioServerParameters, stdio_client

        program, *args = server.command
        parameters = StdioServerParameters(
            command=program,
            args=args,
            env=dict(server.environment),
            cwd=server.folder,
            encoding_error_handler="replace",
        )
        yield stdio_client(parameters, lines.writer)
        return
    from mcp.client.streamable_http import streamable_http_client

    async with httpx2.AsyncClient(
        headers={**server.headers, "Accept-Encoding": "identity"},
        timeout=httpx2.Timeout(_SECONDS, read=None),
        event_hooks={"response": [_limit]},
    ) as client:
        yield streamable_http_client(
            server.url or "", http_client=client, max_sse_event_size=LONGEST_MESSAGE
        )


def is_lost(error: MCPError) -> bool:
    """Whether an error says that the connection has ended."""
    from mcp.types import CONNECTION_CLOSED

    if why_unreadable(error):
        return False
    is_closed = error.code == CONNECTION_CLOSED and error.message == _CLOSED
    return is_closed or error.message == _ENDED_SESSION


def why_unreadable(error: MCPError) -> str:
    """Why the answer that came cannot be read, such as its length; empty for another error."""
    from mcp.types import PARSE_ERROR

    if error.message.startswith(_BROKEN_STREAM):
        return TOO_LONG if "limit" in error.message else said(error.message)
    return said(error.message.removeprefix(_BROKEN_JSON)) if error.code == PARSE_ERROR else ""


def start_failure(
    server: McpServer, error: BaseException, seconds: float, last_lines: str
) -> ConfigurationError:
    """Why a server cannot be used, in one message that names it.

    Args:
        server: the server.
        error: what was raised.
        seconds: how long it had.
        last_lines: what it wrote last to its standard error.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ConfigurationError):
        return error
    wrote = f"; it wrote last:\n{last_lines}" if last_lines else ""
    return ConfigurationError(f"{server} {_reason(server, error, seconds)}{wrote}")


def _reason(server: McpServer, error: BaseException, seconds: float) -> str:
    from mcp import MCPError

    if isinstance(error, TimeoutError):
        return f"did not answer within {counted(seconds, 'second')}"
    if isinstance(error, FileNotFoundError) and server.command:
        if server.folder is not None and error.filename == server.folder:
            return f"cannot be started: there is no folder {visible(server.folder)}"
        return f"cannot be started: there is no program {visible(server.command[0])}"
    if isinstance(error, OSError | ValueError) and server.command:
        return f"cannot be started: {getattr(error, 'strerror', None) or error}"
    if isinstance(error, MCPError) and is_lost(error) and server.command:
        return "ended before it answered"
    if isinstance(error, MCPError) and (reason := why_unreadable(error)):
        return f"gives an answer that cannot be read: {reason}"
    what = said(str(error) if isinstance(error, MCPError) else said_by(error))
    if server.command:
        return f"does not answer as MCP servers do: {what}"
    return f"cannot be reached, or this is no address of an MCP server: {what}"
