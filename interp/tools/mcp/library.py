"""The tools of MCP servers as a tool library, while their servers are connected."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from functools import reduce
from importlib import import_module
from importlib.util import find_spec
from operator import add
from typing import TYPE_CHECKING

from attrs import define, field

from gram.errors import expect
from gram.extras import install

from ...concurrency import call_in_thread, waited_for
from ...errors import ConfigurationError, ToolError
from ...json_text import Json
from ..implementation import Tool, ToolResult
from ..library import ToolLibrary
from .listing import look_alikes, said, visible
from .server import McpServer, ServerLike, read_servers

if TYPE_CHECKING:
    from mcp import types

    from .connection import Connection


def mcp_library(
    server: ServerLike,
    name: str | None = None,
    *,
    env: Iterable[str] = (),
    start_seconds: float = 30.0,
) -> McpLibrary:
    """The tools of MCP servers as a `ToolLibrary`: a context manager, sync and async.

    Inside it the servers are connected, each once. Their tools bind to programs by name,
    description and types, as all tools do.

    Args:
        server: a command as a text or as its words, the address of a server (``https://…``), the
            `Path` of a file in the ``mcpServers`` form, or what such a file says, as a mapping.
            ``${NAME}`` in it is the environment variable NAME.
        name: the one server of a file to use; without it, all that are not disabled.
        env: the names of environment variables that a command gets, beside ``PATH`` and the like.
        start_seconds: how long a server may take to start and to list its tools.

    Raises:
        ArgumentError: an argument is of the wrong type.
        ConfigurationError: the package ``mcp`` is missing, or a server is not described in one of
            these forms. Entering raises it when a server cannot be used.
        OSError: a file cannot be read.

    For example::

        with mcp_library("uvx some-server") as library:
            response = run(agent, "Hello", library)
    """
    expect(start_seconds, (int, float), "start_seconds", by="mcp_library")
    if find_spec("mcp") is None:
        raise ConfigurationError(f"MCP servers need the package mcp: {install('mcp')}")
    return McpLibrary(read_servers(server, name, env=env), start_seconds)


_MOST_LOOK_ALIKES = 10  # that are named in a warning
_log = logging.getLogger("interp.mcp")


@define(eq=False)
class McpLibrary:
    """The servers of one library: entering connects to them and gives the `ToolLibrary`."""

    servers: tuple[McpServer, ...]
    _start_seconds: float
    _open: ExitStack = field(factory=ExitStack, init=False)

    def __enter__(self) -> ToolLibrary:
        library: ToolLibrary = waited_for(self.__aenter__)
        return library

    def __exit__(self, *_: object) -> None:
        self._open.close()

    async def __aenter__(self) -> ToolLibrary:
        await call_in_thread(lambda: import_module(f"{__package__}.connection"))
        from .connection import Connection  # imported late: it loads the network library

        opened = ExitStack()
        try:
            connections = [Connection(each, self._start_seconds) for each in self.servers]
            begun = [opened.enter_context(each) for each in connections]  # all at the same time
            for each in begun:
                await asyncio.wrap_future(each)
            library = library_of(connections)
        except BaseException:  # a cancellation too: the servers are ended, then it is raised again
            await call_in_thread(opened.close)
            raise
        self._open = opened
        return library

    async def __aexit__(self, *_: object) -> None:
        await call_in_thread(self.__exit__)


def library_of(connections: Sequence[Connection]) -> ToolLibrary:
    """The tools of servers."""
    found = look_alikes(name for each in connections for name in each.tools)
    if found:
        servers = " and ".join(str(each.server) for each in connections)
        pairs = ", ".join(f'"{name}" like "{other}"' for name, other in found[:_MOST_LOOK_ALIKES])
        _log.warning("tools of %s have names that look alike: %s", servers, pairs)
    libraries = [
        ToolLibrary({name: _tool(listed, each) for name, listed in each.tools.items()})
        for each in connections
    ]
    return reduce(add, libraries)


def _tool(listed: types.Tool, connection: Connection) -> Tool:
    name = listed.name

    async def invoke(arguments: dict[str, Json]) -> Json | ToolResult:
        return await connection.acall(name, arguments)

    description, hints = visible(listed.description or "").strip(), listed.annotations
    may_be_repeated = hints is not None and (hints.read_only_hint or hints.idempotent_hint)
    flows: dict[str, str | bool] = {}
    if hints is not None and hints.open_world_hint:
        flows = {"returns": "untrusted"} | ({} if hints.read_only_hint else {"sends": True})
    try:
        return Tool(
            name,
            description or visible(listed.title or "") or name,
            listed.input_schema,
            invoke,
            result_schema=listed.output_schema,
            place=str(connection.server),
            once=not may_be_repeated,
            may_report=True,
            hints=flows,
            server=connection.server.name,
        )
    except ToolError as error:
        reason = said(visible(str(error).splitlines()[0]))
        raise ConfigurationError(f"{connection.server}: {reason}") from None
