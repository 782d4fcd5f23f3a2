"""The connection to one MCP server, kept for a run, in an event loop of its own.

A call after the server has ended starts it again. A call that was under way is not repeated, since
nobody knows whether it took effect: it fails and says so. A server is reached by pipes to a command
or by HTTP; this loads the network library: import it only when one is about to be reached.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from math import inf, isfinite
from typing import Any, Final, TextIO

import httpx2
from anyio.from_thread import start_blocking_portal
from attrs import define, field
from mcp import Client, MCPError, types
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CONNECTION_CLOSED, PARSE_ERROR
from pydantic import ValidationError

from gram.words import counted

from ...errors import ConfigurationError, ToolError, said_by
from ...json_text import Json
from ...machine import progress_text
from ...models import limit_body
from ..implementation import ToolContext, ToolResult, current_context
from .listing import LONGEST_MESSAGE, TOO_LONG, fault_in, listed_tools, result_of, said, visible
from .server import McpServer

_LONGEST_PROGRESS: Final = 200  # characters of what a server says beside it

_log = logging.getLogger("interp.mcp")
logging.getLogger("mcp").addHandler(logging.NullHandler())  # else its warnings are printed


@define(eq=False)
class Connection:
    """The connection to one server: its tools by name, and calls of them.

    The server has so many seconds to answer first and to list its tools.
    """

    server: McpServer
    _start_seconds: float
    tools: dict[str, types.Tool] = field(factory=dict, init=False)
    _resources: ExitStack = field(factory=ExitStack, init=False)
    _portal: Any = field(default=None, init=False)
    _client: Client | None = field(default=None, init=False)
    _keeper: asyncio.Task[None] | None = field(default=None, init=False)
    _starting: asyncio.Lock = field(factory=asyncio.Lock, init=False)

    def __enter__(self) -> Future[None]:
        """Begin to start the server and to list its tools; the future ends when that is done.

        It raises a ConfigurationError where the server cannot be started or reached, or lists
        tools that are none. Leaving ends the connection, and the server if it was started here.
        """
        self._portal = self._resources.enter_context(start_blocking_portal(name="mcp"))
        self._resources.callback(lambda: self._portal.call(self._end))
        begun: Future[None] = self._portal.start_task_soon(self._begin)
        self._resources.callback(begun.cancel)
        return begun

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    async def acall(self, name: str, arguments: dict[str, Json]) -> Json | ToolResult:
        """Call a tool, from any event loop; cancelling this cancels the call at the server."""
        context = current_context.get()
        try:
            future: Future[Json | ToolResult] = self._portal.start_task_soon(
                self._call, name, arguments, context
            )
        except RuntimeError:
            raise ToolError(f"the connection to {self.server} is closed") from None
        return await asyncio.wrap_future(future)

    # --- in the connection's own loop

    async def _begin(self) -> None:
        self._client, self.tools = await self._started()

    async def _end(self) -> None:
        if self._keeper is not None:
            await _cancelled(self._keeper)

    async def _call(
        self, name: str, arguments: dict[str, Json], context: ToolContext | None
    ) -> Json | ToolResult:
        kept = self._client
        client = kept or await self._started_again()

        async def take(progress: float, total: float | None, message: str | None) -> None:
            if isfinite(progress) and isfinite(total or 0):
                words = " ".join(said(message or "", _LONGEST_PROGRESS).split())
                shown = progress_text(progress, total, words)
                _log.debug("%s: %s: %s", self.server, visible(name), shown)
                if context is not None:
                    context.report_progress(progress, total, words)

        waited = list[bool]()  # a connection that is known to have ended refuses without a wait
        asyncio.get_running_loop().call_soon(waited.append, True)
        try:
            answer = await client.call_tool(name, arguments, progress_callback=take)
        except Exception as error:  # a server may answer anything
            if not is_lost(error):
                raise ToolError(f"{self.server}: {what_failed(error)}") from error
            self._client = None if self._client is client else self._client
            if kept is not None and (not waited or str(error) == _ENDED_SESSION):
                return await self._call(name, arguments, context)  # it had ended before
            ended = f"{self.server} ended during the call, which may have taken effect or not"
            raise ToolError(f"{ended}; the next call starts it again") from None
        return result_of(answer)

    async def _started_again(self) -> Client:
        """The client of the server, which has ended and is started again."""
        async with self._starting:
            if self._client is not None:
                return self._client
            _log.warning("%s has ended; it is started again", self.server)
            if self._keeper is not None:
                await _cancelled(self._keeper)
            try:
                client, tools = await self._started()
            except ConfigurationError as error:
                raise ToolError(f"it has ended, and starting it again failed: {error}") from None
            before, names = self.tools, sorted(self.tools.keys() | tools.keys())
            if changed := [visible(name) for name in names if before.get(name) != tools.get(name)]:
                listed = f"lists other tools than before: {', '.join(changed[:10])}"
                raise ToolError(f"{self.server} was started again and {listed}")
            self._client = client
            return client

    async def _started(self) -> tuple[Client, dict[str, types.Tool]]:
        """Start the server or connect to it, and list its tools, in time."""
        lines = ErrorLines(str(self.server)) if self.server.command else None
        started: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._keeper = asyncio.create_task(self._keep(started, lines))
        try:
            async with asyncio.timeout(self._start_seconds):
                client = await started
                return client, await listed_tools(client, str(self.server))
        except Exception as error:  # servers, networks and systems fail in many ways
            await _cancelled(self._keeper)
            last = lines.last() if lines else ""
            raise start_failure(self.server, error, self._start_seconds, last) from error

    async def _keep(self, started: asyncio.Future[Client], lines: ErrorLines | None) -> None:
        """Hold a client open until this task is cancelled; one task enters and leaves it."""
        try:
            async with transport_to(self.server, lines) as transport, Client(transport) as client:
                started.set_result(client)
                await asyncio.Event().wait()
        except BaseException as error:  # noqa: BLE001  # raised where the client is waited for
            if not started.done():
                started.set_exception(error)
            elif not isinstance(error, asyncio.CancelledError):
                _log.debug("%s: %s", self.server, said(said_by(error)))
        finally:
            if lines:
                lines.writer.close()


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


async def _limit(response: httpx2.Response) -> None:
    """Refuse an answer once it is too long; who reads a stream of events limits each of them."""
    kind = response.headers.get("content-type", "").lower()
    most, why = (inf, "") if kind.startswith("text/event-stream") else (LONGEST_MESSAGE, TOO_LONG)
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        most, why = 0, "the answer is compressed, unasked"
    limit_body(response, most, partial(httpx2.StreamError, why))


_LINE = 4_000  # characters
_PATIENCE = 0.5  # seconds


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
_UNREADABLE = "its answer cannot be read"


@asynccontextmanager
async def transport_to(server: McpServer, lines: ErrorLines | None) -> AsyncIterator[Any]:
    """The SDK's transport to a server, with what it needs to be open."""
    if lines is not None:
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
    async with httpx2.AsyncClient(
        headers={**server.headers, "Accept-Encoding": "identity"},
        timeout=httpx2.Timeout(_SECONDS, read=None),
        event_hooks={"response": [_limit]},
    ) as client:
        yield streamable_http_client(
            server.url or "", http_client=client, max_sse_event_size=LONGEST_MESSAGE
        )


def is_lost(error: BaseException) -> bool:
    """Whether an error says that the connection has ended."""
    if not isinstance(error, MCPError):
        return False
    is_closed = error.code == CONNECTION_CLOSED and error.message == _CLOSED
    return is_closed or error.message == _ENDED_SESSION


def what_failed(error: BaseException) -> str:
    """What is wrong with an answer, or what a server says itself."""
    if isinstance(error, ValidationError):
        return f"it gives an answer that is not as MCP has it: {fault_in(error)}"
    if not isinstance(error, MCPError):
        return said(said_by(error))
    if error.message.startswith(_BROKEN_STREAM) and "limit" in error.message:
        return TOO_LONG
    if error.code == PARSE_ERROR:
        return f"{_UNREADABLE}: {said(error.message.removeprefix(_BROKEN_JSON))}"
    return said(str(error)) or "an error without words"


def start_failure(
    server: McpServer, error: BaseException, seconds: float, last_lines: str
) -> ConfigurationError:
    """Why a server cannot be used, after so many seconds, with what it wrote last to its errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ConfigurationError):
        return error
    wrote = f"; it wrote last:\n{last_lines}" if last_lines else ""
    return ConfigurationError(f"{server} {_reason(server, error, seconds)}{wrote}")


def _reason(server: McpServer, error: BaseException, seconds: float) -> str:
    if isinstance(error, TimeoutError):
        return f"did not answer within {counted(seconds, 'second')}"
    if isinstance(error, FileNotFoundError) and server.command:
        if server.folder is not None and error.filename == server.folder:
            return f"cannot be started: there is no folder {visible(server.folder)}"
        return f"cannot be started: there is no program {visible(server.command[0])}"
    if isinstance(error, OSError | ValueError) and server.command:
        return f"cannot be started: {getattr(error, 'strerror', None) or error}"
    if is_lost(error) and server.command:
        return "ended before it answered"
    what, is_as = what_failed(error), "does not answer as MCP servers do"
    if not (server.command or what.startswith((TOO_LONG, _UNREADABLE))):
        is_as = "cannot be reached, or is not an MCP server"
    return f"{is_as}: {what}"
