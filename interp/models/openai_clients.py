"""The clients of ``openai``, which send a request without what it does not need, and only once.

This loads ``openai``: import it only when a request is about to leave.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, cast

import httpx2
import openai

_UNSENT: Final = ("x-stainless-retry-count", "x-stainless-read-timeout")
_OPTIONS: Final[openai.RequestOptions] = {
    "headers": dict.fromkeys(_UNSENT, openai.omit),
    "idempotency_key": "none",  # no server is told; without, one is drawn for each request
    "max_retries": 0,
}


class OpenAI(openai.OpenAI):
    """A client that blocks. Servers are told the name of its class."""

    @cached_property
    def default_headers(self) -> dict[str, str | openai.Omit]:
        """The headers of all requests, but for the key."""
        return _sent_headers(super().default_headers)

    def platform_headers(self) -> dict[str, str]:
        """No headers that describe the package and the system."""
        return {}

    def send(self, url: str, body: bytes) -> httpx2.Response:
        """Post some JSON; the body of the response is still to be read."""
        sent = self.post(**_sent(url, body, self.timeout), stream_cls=_Stream)
        return cast("httpx2.Response", sent)


class AsyncOpenAI(openai.AsyncOpenAI):
    """A client that does not block; see `OpenAI`."""

    @cached_property
    def default_headers(self) -> dict[str, str | openai.Omit]:
        """The headers of all requests, but for the key."""
        return _sent_headers(super().default_headers)

    def platform_headers(self) -> dict[str, str]:
        """No headers that describe the package and the system."""
        return {}

    async def send(self, url: str, body: bytes) -> httpx2.Response:
        """Post some JSON; the body of the response is still to be read."""
        sent = await self.post(**_sent(url, body, self.timeout), stream_cls=_AsyncStream)
        return cast("httpx2.Response", sent)


def _sent_headers(given: Mapping[str, str | openai.Omit]) -> dict[str, str | openai.Omit]:
    """The headers that are sent, without those that describe the package."""
    return {
        name: value
        for name, value in given.items()
        if isinstance(value, str) and not name.lower().startswith("x-stainless-")
    }


_Stream: Final[Any] = openai.Stream[object]
_AsyncStream: Final[Any] = openai.AsyncStream[object]


def _sent(url: str, body: bytes, timeout: Any) -> dict[str, Any]:
    """The arguments of ``post``.

    Options that are not given have defaults, of which some are copied for each request.
    """
    options: openai.RequestOptions = {**_OPTIONS, "timeout": timeout}
    return {
        "path": url,
        "content": body,
        "options": options,
        "stream": True,
        "cast_to": httpx2.Response,
    }
