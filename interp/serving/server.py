"""The server: it binds its address, serves until it is told to stop, and ends in time."""

from __future__ import annotations

import socket
from math import inf
from time import monotonic
from typing import Final

import uvicorn

from ..workers import until_told
from .app import Serving
from .exchanges import LOGGER

_TO_CLOSE: Final = 5.0  # seconds that it has after the grace


def serve(serving: Serving, host: str, port: int) -> None:
    """Serve until SIGTERM or SIGINT; what is under way may then end within the grace.

    Args:
        serving: what is served.
        host: the name or address of this machine that it listens at.
        port: the port; 0 for any that is free.

    Raises:
        OSError: the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise OSError(error.errno, error.strerror, f"--host {host} --port {port}") from None
    config = uvicorn.Config(
        serving.app(),
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
