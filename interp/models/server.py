"""A server of models: how it is reached, and what its network errors mean.

This is the one way to the network, through the client of ``openai``. That takes about a second to
import, so it is imported when the first request leaves. The client does not retry.

Errors are raised outside of ``except``: what they handle holds the request with its key, and would
be their ``__context__``.
"""

from __future__ import annotations

import os
import sys
from base64 import b64encode
from collections.abc import AsyncGenerator, Hashable, Mapping
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from attrs import field, frozen

from lenses_ext import Model

from ..concurrency import call_in_thread
from ..errors import AgentError, ConfigurationError
from ..secrets import without_keys, without_userinfo
from .connections import client_of, close_clients
from .failures import failed
from .providers import ADDRESS_RULE, is_address

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_VARIABLES: Final = (*_PROXIES, *map(str.lower, _PROXIES), "SSL_CERT_FILE", "SSL_CERT_DIR")


def _address(base_url: str) -> str:
    if not is_address(base_url):
        shown = repr(without_userinfo(base_url))
        raise ConfigurationError(f"{shown} is not a server address: it {ADDRESS_RULE}")
    return base_url


@frozen(cache_hash=True, kw_only=True)
class Server:
    """Where a model is and how it is reached; equal servers share connections.

    The arguments are those of `OpenAIModel`; ``max_bytes`` is its ``max_reply_bytes``.

    Raises:
        ConfigurationError: The address is not one, or the key cannot be sent.
    """

    base_url: str = field(converter=_address, repr=False)
    key: str = field(repr=False)
    timeout: float
    connect_timeout: float
    max_bytes: int

    def __attrs_post_init__(self) -> None:
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
    def _user(self) -> tuple[str, str]:
        parts = urlsplit(self.base_url)
        return unquote(parts.username or ""), unquote(parts.password or "")

    @property
    def secrets(self) -> tuple[str | None, ...]:
        """The key and the password in every form in which they are sent."""
        basic = b64encode(":".join(self._user).encode()).decode()  # as it is sent (RFC 7617)
        written = urlsplit(self.base_url).password
        return self.key.strip(), quote(self.key), self._user[1], written, basic

    @property
    def is_openai(self) -> bool:
        """Whether it is OpenAI's own."""
        return urlsplit(self.base_url).hostname == "api.openai.com"

    def client(self) -> AbstractAsyncContextManager[AsyncOpenAI]:
        """A client for one request."""
        return client_of(self._and_environment, self._new_client)

    async def close(self) -> None:
        """Close the connections that this event loop has to it, when no request uses them."""
        await close_clients(self._and_environment)

    @property
    def _and_environment(self) -> Hashable:
        """All that a client is made with: the proxies and certificates, too."""
        return self, tuple(map(os.environ.get, _VARIABLES))

    def _new_client(self) -> AsyncOpenAI:
        import openai

        from .http_client import http_client

        try:
            http = http_client(self.where, self.max_bytes, self._user if any(self._user) else None)
        except (ValueError, ImportError, OSError) as error:
            problem = str(error)
        else:
            return openai.AsyncOpenAI(
                base_url=urlunsplit(urlsplit(self.base_url)._replace(netloc=self.host)),
                api_key=self.key,
                timeout=openai.Timeout(self.timeout, connect=self.connect_timeout),
                max_retries=0,
                http_client=http,
            )
        raise ConfigurationError(
            without_keys(f"the environment's proxies or certificates cannot be used: {problem}")
        )

    async def ask(
        self,
        client: AsyncOpenAI,
        path: str,
        body: bytes | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, int] | None = None,
        model: Model | None = None,
    ) -> httpx2.Response:
        """Post a body to a path after the address, or without one, ask for what is there.

        The body of the response is still to be read.

        Raises:
            ModelError: The server did not answer, or answered with an error.
            ConfigurationError: The key was refused.
        """
        import httpx2
        import openai

        from .http_client import NETWORK_ERRORS, connection_error

        how: dict[str, Any] = {
            "cast_to": httpx2.Response,
            "options": {"headers": dict(headers or {}), "params": dict(query or {})},
            "stream": True,
            "stream_cls": openai.AsyncStream[object],
        }
        sent = client.get(path, **how) if body is None else client.post(path, content=body, **how)
        failure: AgentError
        try:
            response: httpx2.Response = await sent
            return response
        except openai.APIStatusError as error:
            failure = failed(
                error.body or error.response.reason_phrase,
                where=self.where,
                status=error.status_code,
                request_id=error.request_id,
                headers=error.response.headers,
                model=model,
                path=path,
            )
        except NETWORK_ERRORS as error:
            failure = connection_error(self, error)
        raise failure

    async def piece(self, pieces: AsyncGenerator[bytes], *, begun: bool = False) -> bytes | None:
        """The next piece of a response, or None at its end.

        Raises:
            ModelError: The connection broke, or the response is not acceptable.
        """
        from .http_client import NETWORK_ERRORS, connection_error

        try:
            return await anext(pieces, None)
        except NETWORK_ERRORS as error:
            failure = connection_error(self, error, begun=begun)
        raise failure


async def import_network() -> None:
    """Import what requests need, which takes a second; without, the first request does."""
    if _HTTP_CLIENT not in sys.modules:
        await call_in_thread(lambda: import_module(_HTTP_CLIENT))


_HTTP_CLIENT: Final = f"{__package__}.http_client"  # and with it `openai`
