"""The connection to one MCP server, kept for a run, in an event loop of its own.

A call after the server has ended starts it again. A call that was under way is not repeated, since
nobody knows whether it took effect: it fails and says so.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Future
from contextlib import ExitStack
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from attrs import define, field

from ...errors import ConfigurationError, ToolError, said_by
from ...json_text import Json
from ...machine import progress_text
from ..invocation import ToolContext, ToolResult, current_context
from .listing import listed_tools, result_of
from .server import McpServer
from .transports import ErrorLines, is_lost, start_failure, transport_to, why_unreadable
from .untrusted import fault_in, said, visible

if TYPE_CHECKING:
    from mcp import Client, types

START_SECONDS: Final = 30.0
_LONGEST_PROGRESS: Final = 200  # characters of what a server says beside it

_log = logging.getLogger("interp.mcp")
logging.getLogger("mcp").addHandler(logging.NullHandler())  # else its warnings are printed


@define(eq=False)
class Connection:
    """The connection to one server: its tools, and calls of them.

    Args:
        server: the server.
        start_seconds: how long it may take to answer first and to list its tools.

    Attributes:
        tools: the tools as the server listed them, by name.
    """

    server: McpServer
    _start_seconds: float = START_SECONDS
    tools: dict[str, types.Tool] = field(factory=dict, init=False)
    _resources: ExitStack = field(factory=ExitStack, init=False)
    _portal: Any = field(default=None, init=False)
    _begun: Future[None] | None = field(default=None, init=False)
    _client: Client | None = field(default=None, init=False)
    _keeper: asyncio.Task[None] | None = field(default=None, init=False)
    _starting: asyncio.Lock = field(factory=asyncio.Lock, init=False)

    def start(self) -> None:
        """Begin to start the server, and to list its tools."""
        from anyio.from_thread import start_blocking_portal  # imported late: for servers alone

        self._portal = self._resources.enter_context(start_blocking_portal(name="mcp"))
        self._resources.callback(lambda: self._portal.call(self._end))
        self._begun = self._portal.start_task_soon(self._begin)
        self._resources.callback(self._begun.cancel)

    def wait(self) -> None:
        """Wait until the server has started.

        Raises:
            ConfigurationError: it cannot be started or reached, or lists tools that are none.
        """
        assert self._begun is not None, "it was started"
        self._begun.result()

    async def await_start(self) -> None:
        """The same without blocking."""
        assert self._begun is not None, "it was started"
        await asyncio.wrap_future(self._begun)

    def close(self) -> None:
        """End the connection, and the server if it was started here."""
        self._resources.close()

    async def acall(self, name: str, arguments: dict[str, Json]) -> Json | ToolResult:
        """Call a tool, from any event loop; cancelling this cancels the call at the server.

        Raises:
            ToolError: the tool failed, or the server did.
        """
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
        from mcp import MCPError
        from pydantic import ValidationError

        client = self._client or await self._started_again()

        async def take(progress: float, total: float | None, message: str | None) -> None:
            if isfinite(progress) and isfinite(total or 0):
                words = " ".join(said(message or "", _LONGEST_PROGRESS).split())
                shown = progress_text(progress, total, words)
                _log.debug("%s: %s: %s", self.server, visible(name), shown)
                if context is not None:
                    context.report_progress(progress, total, words)

        try:
            answer = await client.call_tool(name, arguments, progress_callback=take)
        except MCPError as error:
            if is_lost(error):
                self._client = None if self._client is client else self._client
                ended = f"{self.server} ended during the call, which may have taken effect or not"
                raise ToolError(f"{ended}; the next call starts it again") from None
            if reason := why_unreadable(error):
                raise ToolError(f"{self.server}: {reason}") from None
            raise ToolError(f"{self.server} refuses the call: {said(str(error))}") from None
        except ValidationError as error:
            gives = f"{self.server} gives an answer that is no result of a tool"
            raise ToolError(f"{gives}: {fault_in(error)}") from None
        except Exception as error:  # a server may answer anything
            raise ToolError(f"{self.server}: {said(said_by(error))}") from error
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
        """Start the server or connect to it, and list its tools.

        Raises:
            ConfigurationError: that failed, or took too long.
        """
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
        from mcp import Client

        try:
            async with (
                transport_to(self.server, lines) as transport,
                Client(transport) as client,
            ):
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
    """Cancel a task, and wait until it has ended."""
    task.cancel()
    await asyncio.wait([task])
