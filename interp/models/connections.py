"""Connections to servers, shared by all models and tools with the same address and key.

Each run makes a model of its own; the connections stay open for the next run. Those that block are
shared by all threads, and closed when the process ends. Those that do not block are shared within
one event loop, and closed with it. After a fork, the child process opens its own.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

from ..concurrency import call_in_thread
from ..errors import ConfigurationError

if TYPE_CHECKING:
    import asyncio


class _Closable(Protocol):
    def close(self) -> object:
        """Close its connections."""
        ...


class _AsyncClosable(Protocol):
    def close(self) -> Awaitable[object]:
        """Close its connections."""
        ...


Client = TypeVar("Client")
SyncClient = TypeVar("SyncClient", bound=_Closable)
AsyncClient = TypeVar("AsyncClient", bound=_AsyncClosable)

_MOST: Final = 16
"""How many servers connections are kept to; those used longest ago are closed first."""


def client_of(
    server: Hashable, make: Callable[[], SyncClient]
) -> AbstractContextManager[SyncClient]:
    """A client for one request that blocks.

    Args:
        server: The server and all that the client is made with; equal ones share a client.
        make: Makes the client where there is none.
    """
    return _Lent(_clients, server, make)


def async_client_of(
    server: Hashable, make: Callable[[], AsyncClient]
) -> AbstractAsyncContextManager[AsyncClient]:
    """A client for one request that does not block; see `client_of`."""
    return _AsyncLent(server, make)


# Both are classes, since what a generator makes takes longer, at every request.


class _Lent(AbstractContextManager[SyncClient]):
    """A client that is taken, and given back; see `client_of`."""

    __slots__ = ("_clients", "_make", "_server")

    def __init__(
        self, clients: _Clients[_Closable], server: Hashable, make: Callable[[], SyncClient]
    ) -> None:
        self._clients, self._server, self._make = clients, server, make

    def __enter__(self) -> SyncClient:
        client: SyncClient = self._clients.take(self._server, self._make)
        return client

    def __exit__(self, *_: object) -> None:
        for unused in self._clients.give_back(self._server):
            unused.close()


class _AsyncLent(AbstractAsyncContextManager[AsyncClient]):
    """The same for a client that does not block."""

    __slots__ = ("_clients", "_make", "_server")
    _clients: _Clients[_AsyncClosable]

    def __init__(self, server: Hashable, make: Callable[[], AsyncClient]) -> None:
        self._server, self._make = server, make

    async def __aenter__(self) -> AsyncClient:
        self._clients = clients = await _clients_of_the_loop()
        if clients.has(self._server):
            client: AsyncClient = clients.take(self._server, self._make)
            return client
        made = await call_in_thread(self._make)  # it takes a second, in which the loop goes on
        client = clients.take(self._server, lambda: made)
        if client is not made:  # another task was faster
            await made.close()
        return client

    async def __aexit__(self, *_: object) -> None:
        for unused in self._clients.give_back(self._server):
            await unused.close()


class _Clients(Generic[Client]):
    """Clients by the servers they are for, those used last at the end."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[Hashable, Client] = {}
        self._users: dict[Hashable, int] = {}

    def has(self, server: Hashable) -> bool:
        """Whether there is a client for a server."""
        return server in self._kept

    def take(self, server: Hashable, make: Callable[[], Any]) -> Any:
        """The client for a server, which stays open until it is given back."""
        with self._lock:
            client = self._kept.pop(server, None) or make()
            self._kept[server] = client
            self._users[server] = self._users.get(server, 0) + 1
            return client

    def give_back(self, server: Hashable) -> list[Client]:
        """Give a client back; returns clients to close now, where there are too many."""
        with self._lock:
            users = self._users.pop(server) - 1
            if users:
                self._users[server] = users
            too_many = len(self._kept) - _MOST
            if too_many <= 0:
                return []
            unused = [each for each in self._kept if each not in self._users]
            return [self._kept.pop(each) for each in unused[:too_many]]

    def clear(self) -> list[Client]:
        """All clients; none is kept any more."""
        with self._lock:
            clients, self._kept = list(self._kept.values()), {}
            return clients


# --- how long they are kept

_clients: _Clients[_Closable] = _Clients()
_of_loops: WeakKeyDictionary[
    asyncio.AbstractEventLoop, tuple[_Clients[_AsyncClosable], AsyncGenerator[None]]
] = WeakKeyDictionary()
_of_the_parent: list[Any] = []


async def _clients_of_the_loop() -> _Clients[_AsyncClosable]:
    """The clients of the running event loop."""
    import asyncio

    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise ConfigurationError("what does not block needs asyncio") from None
    if loop not in _of_loops:
        clients: _Clients[_AsyncClosable] = _Clients()
        closing = _closed_with_the_loop(clients)
        _of_loops[loop] = clients, closing
        await anext(closing)
    return _of_loops[loop][0]


async def _closed_with_the_loop(clients: _Clients[_AsyncClosable]) -> AsyncGenerator[None]:
    """Closes clients at the end of the event loop, which closes its asynchronous generators."""
    try:
        yield
    finally:
        for client in clients.clear():
            await client.close()


@atexit.register
def close_connections() -> None:
    """Close the connections that block; the next requests open new ones."""
    for client in _clients.clear():
        client.close()


def _after_fork() -> None:
    """Begin anew in a child process: what is shared with the parent must not be used or closed."""
    global _clients, _of_loops  # the locks may be held by threads of the parent
    _of_the_parent.append((_clients, _of_loops))
    _clients, _of_loops = _Clients(), WeakKeyDictionary()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
