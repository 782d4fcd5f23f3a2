"""Refuses connections while a test runs, so that it does not depend on anything outside."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn
from unittest.mock import patch

from ...models import close_connections


class Network:
    """The network as a test sees it: refused, but where it is opened.

    Unix sockets are always open: they lead nowhere else. Loopback is open where a test records
    nothing and replays nothing, since servers of its own are there.

    Args:
        refuse: called with where somebody wants to connect to; it raises.
        has_loopback: whether servers on this machine may be connected to.

    Attributes:
        refused: where somebody wanted to connect to; tools tell their model alone.
    """

    def __init__(self, refuse: Callable[[str], NoReturn], *, has_loopback: bool) -> None:
        self.refuse = refuse
        self.has_loopback = has_loopback
        self.refused: list[str] = []
        self._opened = 0

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Inside, every connection is allowed."""
        self._opened += 1
        try:
            yield
        finally:
            self._opened -= 1

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Inside, the network is guarded; connections that models have kept are closed before."""
        close_connections()
        getaddrinfo, socketpair = socket.getaddrinfo, socket.socketpair

        def guarded_getaddrinfo(host: Any, port: Any, *given: Any, **options: Any) -> Any:
            self._check(host, port)
            return getaddrinfo(host, port, *given, **options)

        def open_socketpair(*given: Any) -> Any:
            with self.opened():  # event loops need one, and Windows makes it over loopback
                return socketpair(*given)

        with ExitStack() as stack:
            for name in ("connect", "connect_ex", "sendto"):
                stack.enter_context(patch.object(socket.socket, name, self._method(name)))
            stack.enter_context(patch.object(socket, "getaddrinfo", guarded_getaddrinfo))
            stack.enter_context(patch.object(socket, "socketpair", open_socketpair))
            yield

    def _method(self, name: str) -> Callable[..., Any]:
        unguarded = getattr(socket.socket, name)

        def guarded(connection: socket.socket, *given: Any) -> Any:
            if connection.family in (socket.AF_INET, socket.AF_INET6):
                host, port = given[-1][:2]
                self._check(host, port)
            return unguarded(connection, *given)

        return guarded

    def _check(self, host: object, port: object) -> None:
        if self._opened or (self.has_loopback and _is_loopback(host)):
            return
        name = host.decode(errors="replace") if isinstance(host, bytes) else host
        self.refused.append(f"{name}:{port}")
        self.refuse(self.refused[-1])


def _is_loopback(host: object) -> bool:
    name = host.decode(errors="replace") if isinstance(host, bytes) else str(host or "localhost")
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return name.lower() == "localhost" or name.lower().endswith(".localhost")
