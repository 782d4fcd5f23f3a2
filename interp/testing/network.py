"""Refuses connections while a test runs, so that it does not depend on anything outside."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

_GUARDED = ("connect", "connect_ex", "sendto")


class Network:
    """The network as a test sees it: refused, but where it is opened.

    Unix sockets are always open: they lead nowhere else. Loopback is open where a test records
    nothing and replays nothing, since servers of its own are there.

    Args:
        refuse: called with where somebody wants to connect to; it raises.
        has_loopback: whether servers on this machine may be connected to.
    """

    def __init__(self, refuse: Callable[[str], NoReturn], *, has_loopback: bool) -> None:
        self.refuse = refuse
        self.has_loopback = has_loopback
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
        """Inside, the network is guarded."""
        names = (*_GUARDED, "getaddrinfo")
        owners: dict[str, Any] = {**dict.fromkeys(_GUARDED, socket.socket), "getaddrinfo": socket}
        inherited = {name: name not in vars(owners[name]) for name in names}
        kept = {name: getattr(owners[name], name) for name in names}

        def method(name: str) -> Callable[..., Any]:
            def guarded_method(connection: socket.socket, *given: Any) -> Any:
                if connection.family in (socket.AF_INET, socket.AF_INET6):
                    host, port = given[-1][:2]
                    self._check(host, port)
                return kept[name](connection, *given)

            return guarded_method

        def getaddrinfo(host: Any, port: Any, *given: Any, **options: Any) -> Any:
            self._check(host, port)
            return kept["getaddrinfo"](host, port, *given, **options)

        for name in _GUARDED:
            setattr(socket.socket, name, method(name))
        socket.getaddrinfo = getaddrinfo
        try:
            yield
        finally:
            for name in names:
                if inherited[name]:
                    delattr(owners[name], name)
                else:
                    setattr(owners[name], name, kept[name])

    def _check(self, host: object, port: object) -> None:
        if self._opened or (self.has_loopback and _is_loopback(host)):
            return
        name = host.decode(errors="replace") if isinstance(host, bytes) else host
        self.refuse(f"{name}:{port}")


def _is_loopback(host: object) -> bool:
    name = host.decode(errors="replace") if isinstance(host, bytes) else str(host or "localhost")
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return name.lower() == "localhost" or name.lower().endswith(".localhost")
