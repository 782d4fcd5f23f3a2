"""The server: it binds its address, serves until it is told to stop, and ends in time."""

from __future__ import annotations

import asyncio
import socket
from math import inf
from time import monotonic
from typing import Final

import uvicorn

from ..workers import until_told
from .app import app_of
from .exchanges import LOGGER
from .serving import Serving

_TO_CLOSE: Final = 5.0  # seconds that it has after the grace


def serve(serving: Serving, host: str, port: int, *, as_mcp: bool = False) -> None:
    """Serve until SIGTERM or SIGINT; what is under way may then end within the grace.

    Args:
        serving: what is served.
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

    shown = f"[{host}]" if ":" in host else host
    LOGGER.info(
        "serves %s at http://%s:%d/v1",
        ", ".join(serving.agents),
        shown,
        listening.getsockname()[1],
        extra={"event": "server_started"},
    )
    until_told(lambda: server.run([listening]), stop, lambda: ends_at)
    LOGGER.info("has ended", extra={"event": "server_ended"})


def serve_stdio(serving: Serving) -> None:
    """Serve the MCP client that has started this process, until it closes the standard input.

    Meanwhile what tools write to standard output goes to standard error.

    Args:
        serving: what is served.
    """
    from .mcp_transports import over_stdio  # imported late: it needs a package of its own

    LOGGER.info("serves %s", ", ".join(serving.agents), extra={"event": "server_started"})
    try:
        asyncio.run(over_stdio(serving))
    except* BrokenPipeError:
        pass  # the client has gone without a word
    LOGGER.info("has ended", extra={"event": "server_ended"})
