"""A server that speaks Chat Completions: how it is reached, and what its network errors mean.

This is the one way to the network, through the client of ``openai``. That takes about a second to
import, so it is imported when the first request leaves. The client does not retry.

Errors are raised outside of ``except``: what they handle holds the request with its key, and would
be their ``__context__``.
"""

from __future__ import annotations

import gc
import os
import sys
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from attrs import field, frozen

from ..errors import AgentError, ConfigurationError, ModelError
from ..redaction import redact_error
from ..secrets import without_userinfo
from .connections import async_client_of, client_of
from .failures import failed
from .providers import ADDRESS_RULE, is_address

if TYPE_CHECKING:
    import httpx2

    from .openai_clients import AsyncOpenAI, OpenAI

T = TypeVar("T")

_PATH: Final = "/chat/completions"
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_VARIABLES: Final = (*_PROXIES, *map(str.lower, _PROXIES), "SSL_CERT_FILE", "SSL_CERT_DIR")
_IS_IT_THERE: Final = "\n  hint: is the address right, and is a server running there?"


@frozen(cache_hash=True)
class Server:
    """Where a model is and how it is reached; equal servers share connections.

    Attributes:
        where: The address for messages, without user and password.
        host: The name and port of the host.
        secrets: The key and the password in every form in which they are sent.
    """

    where: str
    host: str
    _base_url: str
    _key: str = field(repr=False)
    _auth: tuple[str, str] | None = field(repr=False)
    _timeout: float
    _connect_timeout: float
    _max_bytes: int
    secrets: tuple[str | None, ...] = field(repr=False)

    @classmethod
    def at(
        cls, base_url: str, key: str, *, timeout: float, connect_timeout: float, max_bytes: int
    ) -> Server:
        """The server at an address.

        Raises:
            ConfigurationError: The address is not one, or the key cannot be sent.
        """
        if not is_address(base_url):
            shown = repr(without_userinfo(base_url))
            raise ConfigurationError(f"{shown} is not a server address: it {ADDRESS_RULE}")
        parts = urlsplit(base_url)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        basic = b64encode(f"{user}:{password}".encode()).decode()  # as it is sent (RFC 7617)
        host = parts.netloc.rpartition("@")[2]
        where = urlunsplit((parts.scheme, host, parts.path, "", ""))
        if not (key.isascii() and key.isprintable() and key.strip()):
            raise ConfigurationError(
                f"the key for {where} cannot be sent: it must consist of ASCII characters"
            )
        return cls(
            where,
            host,
            urlunsplit(parts._replace(netloc=host)),
            key,
            (user, password) if user or password else None,
            timeout,
            connect_timeout,
            max_bytes,
            (key.strip(), quote(key), password, parts.password, basic),
        )

    @property
    def _url(self) -> str:
        """The whole address: the client would join the parts of it again for each request."""
        return self._base_url.rstrip("/") + _PATH

    @property
    def _is_secure(self) -> bool:
        return urlsplit(self._base_url).scheme == "https"

    @property
    def is_openai(self) -> bool:
        """Whether it is OpenAI's own."""
        return urlsplit(self.where).hostname == "api.openai.com"

    # --- clients

    def client(self) -> AbstractContextManager[OpenAI]:
        """A client for one request that blocks."""
        return client_of((self, _environment()), self._new_client)

    def async_client(self) -> AbstractAsyncContextManager[AsyncOpenAI]:
        """A client for one request that does not block."""
        return async_client_of((self, _environment()), self._new_async_client)

    def _new_client(self) -> OpenAI:
        with _collecting_nothing():
            from .http_clients import Guard, http_client
            from .openai_clients import OpenAI

        guard = Guard(self.where, self._max_bytes)
        http = _with_environment(lambda: http_client(guard, self._auth, secure=self._is_secure))
        return OpenAI(http_client=http, **self._options())

    def _new_async_client(self) -> AsyncOpenAI:
        with _collecting_nothing():
            from .http_clients import Guard, async_http_client
            from .openai_clients import AsyncOpenAI

        guard = Guard(self.where, self._max_bytes)
        http = _with_environment(
            lambda: async_http_client(guard, self._auth, secure=self._is_secure)
        )
        return AsyncOpenAI(http_client=http, **self._options())

    def _options(self) -> dict[str, Any]:
        import openai

        timeout = openai.Timeout(self._timeout, connect=self._connect_timeout)
        return {
            "base_url": self._base_url,
            "api_key": self._key,
            "timeout": timeout,
        }

    # --- requests

    def post(self, client: OpenAI, body: bytes) -> httpx2.Response:
        """Send a request; the body of the response is still to be read.

        Raises:
            ModelError: The server did not answer, or answered with an error.
            ConfigurationError: The key was refused.
        """
        return self._safely(lambda: client.send(self._url, body))

    async def apost(self, client: AsyncOpenAI, body: bytes) -> httpx2.Response:
        """The same without blocking."""
        return await self._asafely(lambda: client.send(self._url, body))

    def part(self, parts: Iterator[bytes], *, begun: bool = False) -> bytes | None:
        """The next part of a response, or None at its end.

        Args:
            parts: What comes of the response.
            begun: Whether something of the reply has been shown already.

        Raises:
            ModelError: The connection broke, or the response is not acceptable.
        """
        return self._safely(lambda: next(parts, None), begun=begun)

    async def apart(self, parts: AsyncIterator[bytes], *, begun: bool = False) -> bytes | None:
        """The same without blocking."""
        return await self._asafely(lambda: anext(parts, None), begun=begun)

    def _safely(self, act: Callable[[], T], *, begun: bool = False) -> T:
        """The result of an act on the network; the errors of its libraries become ours."""
        try:
            return act()
        except _network_errors() as error:
            failure = self._reported(error, begun=begun)
        raise failure

    async def _asafely(self, act: Callable[[], Awaitable[T]], *, begun: bool = False) -> T:
        """The same without blocking."""
        try:
            return await act()
        except _network_errors() as error:
            failure = self._reported(error, begun=begun)
        raise failure

    def _reported(self, error: Exception, *, begun: bool) -> AgentError:
        import httpx2
        import openai

        if isinstance(error, openai.APIStatusError):
            return failed(
                error.body or error.response.reason_phrase,
                where=self.where,
                status=error.status_code,
                request_id=error.request_id,
                headers=error.response.headers,
            )
        cause = error.__cause__ or error
        if isinstance(cause, httpx2.ConnectTimeout | httpx2.PoolTimeout):
            seconds = self._connect_timeout
            said = f"cannot connect to {self.where} within {seconds:g} s{_IS_IT_THERE}"
        elif isinstance(cause, httpx2.TimeoutException | openai.APITimeoutError):
            when = (
                "went silent in the middle of its reply, for" if begun else "did not answer within"
            )
            said = f"{self.where} {when} {self._timeout:g} s"
        elif isinstance(
            cause, httpx2.ConnectError | httpx2.ProxyError | httpx2.UnsupportedProtocol
        ):
            said = f"cannot connect to {self.where}: {cause}{_IS_IT_THERE}"
        else:
            when = "in the middle of its reply" if begun else "before its reply was complete"
            said = f"the connection to {self.where} broke {when}: {cause}"
        return ModelError(redact_error(said), retriable=True)


@contextmanager
def _collecting_nothing() -> Iterator[None]:
    """Do without the garbage collector while ``openai`` is imported: what importing makes stays.

    All of it counts as old afterwards, else the next collection of what is new walks through it.
    """
    if "openai" in sys.modules or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            gc.freeze()  # moves all objects, and walks through none
            gc.unfreeze()
        gc.enable()


def _environment() -> tuple[str | None, ...]:
    """What a new client reads of the environment: its proxies and certificates."""
    return tuple(map(os.environ.get, _VARIABLES))


def _with_environment(make_client: Callable[[], T]) -> T:
    """A new client, which reads the proxies and certificates that the environment names.

    Raises:
        ConfigurationError: These cannot be used.
    """
    try:
        return make_client()
    except (ValueError, ImportError, OSError) as error:
        problem = str(error)
    raise ConfigurationError(
        redact_error(f"the environment's proxies or certificates cannot be used: {problem}")
    )


def _network_errors() -> tuple[type[Exception], ...]:
    import httpx2
    import openai

    return openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL
