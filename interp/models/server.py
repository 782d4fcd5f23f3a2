"""Where a server of models is, what is secret in that, and a client of it."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Hashable
from contextlib import AbstractAsyncContextManager
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from attrs import field, frozen

from ..errors import ConfigurationError
from ..secrets import without_userinfo
from .connections import client_of, close_clients
from .providers import ADDRESS_RULE, is_address

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
        """A client for one request."""

        def made() -> Any:
            from .http_client import new_client  # imported late: it loads `openai`

            return new_client(self)

        return client_of(self._and_environment, made)

    async def close(self) -> None:
        """Close the connections that this event loop has to it, when no request uses them."""
        await close_clients(self._and_environment)

    @property
    def _and_environment(self) -> Hashable:
        """All that a client is made with: the proxies and certificates, too."""
        return self, tuple(map(os.environ.get, _VARIABLES))
