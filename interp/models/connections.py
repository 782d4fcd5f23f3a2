"""Servers of models, and clients shared by all models and tools with the same address and key.

Each run makes a model of its own; the connections stay open for the next run. They belong to one
event loop and are closed with it. After a fork, the child process opens its own.
"""

from __future__ import annotations

import asyncio
import atexit
import gc
import os
import warnings
from base64 import b64encode
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Hashable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote, unquote, urlsplit, urlunsplit
from weakref import WeakKeyDictionary

from attrs import field, frozen

from ..concurrency import call_in_thread
from ..errors import ConfigurationError
from ..files import is_address
from ..secrets import without_userinfo
from .providers import ADDRESS_RULE

if TYPE_CHECKING:
    from http.cookiejar import CookieJar

Client = TypeVar("Client", bound=AbstractAsyncContextManager[Any])

_MOST: Final = 16  # servers that connections are kept to, and loops closed too early that keep some
_GRACE: Final = 1.0  # seconds for closing connections in a loop of another thread


@asynccontextmanager
async def client_of(server: Hashable, make: Callable[[], Client]) -> AsyncIterator[Client]:
    """A client for one request; equal servers, with all that a client is made with, share one.

    A new one is made in a thread, since that may import a library. Leaving the client's own
    context closes it.
    """
    clients = await _clients_of_the_loop()
    if server not in clients.kept:
        made = await call_in_thread(make)
        clients.kept.setdefault(server, made)  # another task may have been faster
    clients.kept[server] = client = clients.kept.pop(server)
    clients.users[client] += 1
    try:
        yield client
    finally:
        clients.users[client] -= 1
        if client not in clients.kept.values():
            await clients.close_unused(client)
        unused = [name for name, each in clients.kept.items() if not clients.users[each]]
        for name in unused[: max(0, len(clients.kept) - _MOST)]:
            await clients.forget(name)


class _Clients:
    """Clients by the servers they are for, those used last at the end."""

    def __init__(self) -> None:
        self.kept: dict[Hashable, Any] = {}
        self.users: Counter[Any] = Counter()

    async def forget(self, server: Hashable) -> None:
        """Close a client, now or after the last request that uses it."""
        if server in self.kept:
            await self.close_unused(self.kept.pop(server))

    async def close_unused(self, client: Any) -> None:
        """Close a client that no request uses."""
        if not self.users[client]:
            del self.users[client]
            await client.__aexit__(None, None, None)

    async def close(self) -> None:
        """Close all clients."""
        self.users.clear()
        while self.kept:
            await self.close_unused(self.kept.popitem()[1])


def no_cookies() -> CookieJar:
    """A jar that takes no cookies, and reads none: one request says nothing to the next."""
    from http.cookiejar import CookieJar  # only needed when a request is about to leave

    class Closed(CookieJar):
        def extract_cookies(self, response: object, request: object) -> None:
            """Take nothing."""

    return Closed()


def limit_body(response: Any, most: float, error: Callable[[], Exception], **how: int) -> None:
    """Have an error raised when more of a response is read than a limit; see `LimitedBody`."""
    from .limited_body import LimitedBody  # imported late: it loads the network library

    response.stream = LimitedBody(response.stream, most, error, **how)


NETWORK: Final = f"{__package__}.http_client"
"""The module that asks over the network."""

_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_VARIABLES: Final = (*_PROXIES, *map(str.lower, _PROXIES), "SSL_CERT_FILE", "SSL_CERT_DIR")


@frozen(cache_hash=True, kw_only=True)
class Server:
    """Where a model is and how it is reached; equal servers share connections.

    The arguments are those of `OpenAIModel`; ``max_bytes`` is its ``max_reply_bytes``.
    """

    base_url: str = field(repr=False)
    key: str = field(repr=False)
    timeout: float
    connect_timeout: float
    max_bytes: int

    def __attrs_post_init__(self) -> None:
        if not is_address(self.base_url):
            shown = without_userinfo(self.base_url)
            raise ConfigurationError(f"{shown!r} is not a server address: it {ADDRESS_RULE}")
        if not (self.key.isascii() and self.key.isprintable() and self.key.strip()):
            raise ConfigurationError(
                f"the key for {self.where} cannot be sent: it must consist of ASCII characters"
            )

    @property
    def host(self) -> str:
        """The host with its port."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    @property
    def where(self) -> str:
        """The address for messages, without user and password."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, self.host, parts.path, "", ""))

    @property
    def user(self) -> tuple[str, str]:
        """The user and the password in the address, or two empty texts."""
        parts = urlsplit(self.base_url)
        return unquote(parts.username or ""), unquote(parts.password or "")

    @property
    def secrets(self) -> tuple[str | None, ...]:
        """The key and the password in every form in which they are sent."""
        basic = b64encode(":".join(self.user).encode()).decode()  # as it is sent (RFC 7617)
        written = urlsplit(self.base_url).password
        return self.key.strip(), quote(self.key), self.user[1], written, basic

    def client(self) -> AbstractAsyncContextManager[Any]:
        """A client for one request; the first loads `openai`, which takes a second."""
        return client_of(self._and_environment, lambda: import_module(NETWORK).new_client(self))

    async def close(self) -> None:
        """Close the connections that this event loop has to it, when no request uses them."""
        await (await _clients_of_the_loop()).forget(self._and_environment)

    @property
    def _and_environment(self) -> Hashable:
        """All that a client is made with: the proxies and certificates, too."""
        return self, tuple(map(os.environ.get, _VARIABLES))


# --- how long clients are kept

_of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[_Clients, AsyncGenerator[None]]] = (
    WeakKeyDictionary()
)
_of_the_parent: list[Any] = []


async def _clients_of_the_loop() -> _Clients:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise ConfigurationError("models that are asked over a network need asyncio") from None
    if loop not in _of_loops:
        _drop_those_of_closed_loops()
        clients = _Clients()
        closing = _closed_with_the_loop(clients, loop)
        _of_loops[loop] = clients, closing
        await anext(closing)
    return _of_loops[loop][0]


def _drop_those_of_closed_loops() -> None:
    """Close the sockets of loops that were closed without ending their asynchronous generators.

    Only the collector can close them, and its warnings would name nothing that the user made. It
    takes long, so it is asked when there are many.
    """
    closed = [loop for loop in _of_loops if loop.is_closed()]
    if len(closed) < _MOST:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        while closed:
            loop = closed.pop()
            loop.set_exception_handler(lambda *_: None)
            del _of_loops[loop]
        del loop
        gc.collect()


async def _closed_with_the_loop(
    clients: _Clients, loop: asyncio.AbstractEventLoop
) -> AsyncGenerator[None]:
    """Closes clients at the end of the event loop, which closes its asynchronous generators."""
    try:
        yield
    finally:
        _of_loops.pop(loop, None)
        await clients.close()


@atexit.register
def close_connections() -> None:
    """Close the connections of blocking calls; the next requests open new ones."""
    others = [(loop, clients) for loop, (clients, _) in _of_loops.items() if loop.is_running()]
    for loop, clients in others:
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(clients.close(), loop).result(_GRACE)


def _after_fork() -> None:
    """Begin anew in a child process: what is shared with the parent must not be used or closed."""
    global _of_loops
    _of_the_parent.append(_of_loops)
    _of_loops = WeakKeyDictionary()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
