"""The HTTP client of models: it trusts no server.

Redirects to another server are refused, and replies have a limited size, also those of errors and
redirects. A hook on responses does this, so that it holds for every transport and behind proxies.
This loads the network library: import it only when a request is about to leave.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from importlib.util import find_spec
from typing import Any, Final

import anyio
import httpx2
import openai

from ..errors import ModelError
from ..secrets import without_keys
from .connections import Pace, no_cookies
from .failures import too_large

STREAMED_TIMES: Final = 10
"""How many times larger a reply may be if it is streamed: each word comes in an event."""

NETWORK_ERRORS: tuple[type[Exception], ...] = (
    openai.OpenAIError,
    httpx2.HTTPError,
    httpx2.StreamError,
    httpx2.InvalidURL,
    anyio.EndOfStream,  # as some errors of TLS, it reaches us as it is
    OSError,
)
"""The errors of requests; those of connections are the causes of others."""

AIOHTTP_ERRORS: tuple[type[Exception], ...] = ()

if find_spec("aiohttp"):
    from aiohttp import ClientError

    AIOHTTP_ERRORS = (ClientError,)
    NETWORK_ERRORS = (*NETWORK_ERRORS, ClientError)

_PIECE: Final = 65_536  # bytes
_LONGEST_ERROR: Final = 65_536  # bytes
_ZLIB_OR_GZIP: Final = zlib.MAX_WBITS | 32
_COMPRESSED: Final = {"gzip", "x-gzip", "deflate"}


def http_client(where: str, max_bytes: int, auth: tuple[str, str] | None) -> httpx2.AsyncClient:
    """A client for one server: over aiohttp where that is installed.

    Args:
        where: the server's address, for messages.
        max_bytes: the most bytes that a reply may have, counted decompressed.
        auth: the user and password of a server that asks for them, or None.
    """
    kind = openai.DefaultAioHttpClient if find_spec("aiohttp") else openai.DefaultAsyncHttpxClient
    return kind(
        auth=auth,
        cookies=no_cookies(),
        headers={"Accept-Encoding": "gzip"},
        event_hooks={"response": [_guard(where, max_bytes)]},
    )


def _guard(where: str, max_bytes: int) -> Callable[[httpx2.Response], Awaitable[None]]:
    async def check(response: httpx2.Response) -> None:
        """Refuse a redirect to another server, and limit the size of a response."""
        if response.has_redirect_location:
            _check_redirect(where, response)
        encoding = response.headers.pop("content-encoding", "identity").strip().lower()
        if encoding not in {*_COMPRESSED, "identity", ""}:
            said = f"{where} sent a reply compressed as {encoding!r}, which nobody asked for"
            raise ModelError(without_keys(said))
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        most = max_bytes * STREAMED_TIMES if is_stream else max_bytes
        needed = sys.maxsize if response.is_success else _LONGEST_ERROR
        response.stream = _Body(response.stream, where, most, encoding in _COMPRESSED, needed)

    return check


def _check_redirect(where: str, response: httpx2.Response) -> None:
    asked, location = response.request.url, response.headers["location"]
    try:
        target: httpx2.URL | None = asked.join(location)
    except (httpx2.InvalidURL, ValueError):
        target = None
    if target is None or _origin(target) != _origin(asked):
        shown = "" if target is None else f" to {target.scheme}://{target.host}"
        raise ModelError(
            without_keys(
                f"{where} redirects{shown}, which is not followed: keys are not sent to "
                "another server\n  hint: use that address if you trust it"
            ),
            status=response.status_code,
        )


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    """The scheme, host and port of a URL (RFC 6454)."""
    return url.scheme, url.host, url.port


class _Body(httpx2.AsyncByteStream):
    """The body of a response: decompressed and counted piece by piece, before and after.

    Of an error or a redirect only the beginning is needed.
    """

    def __init__(
        self, stream: Any, where: str, max_bytes: int, is_compressed: bool, needed: int
    ) -> None:
        self._stream = stream
        self._where = where
        self._max_bytes = max_bytes
        self._needed = needed
        self._zip: Any = zlib.decompressobj(_ZLIB_OR_GZIP) if is_compressed else None
        self._packed = self._unpacked = 0

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        pace, coming, left = Pace(), aiter(self._stream), self._needed
        try:
            async for data in coming:
                self._packed += len(data)
                self._check(self._packed)  # many compressed bytes may decompress to nothing
                for piece in self._unzipped(data) if self._zip else [data]:
                    yield piece[:left]
                    left -= len(piece)
                    if left <= 0:
                        return
                    await pace.keep()
        finally:
            if isinstance(coming, AsyncGenerator):
                await coming.aclose()

    async def aclose(self) -> None:
        """Close the connection, or keep it for the next request if all was read."""
        await self._stream.aclose()

    def _unzipped(self, data: bytes) -> Iterator[bytes]:
        """Decompress some bytes of the response.

        Raises:
            ModelError: They are too many, or cannot be decompressed.
        """
        piece: bytes | None = b""
        while data or (piece and len(piece) == _PIECE):  # a full piece may have more behind it
            try:
                piece = self._zip.decompress(data, _PIECE)
            except zlib.error:
                piece = None
            if piece is None:
                raise ModelError(f"{self._where} sent a reply that cannot be decompressed")
            self._unpacked += len(piece)
            self._check(self._unpacked)
            yield piece
            data = self._zip.unconsumed_tail
            if self._zip.eof:  # gzip may have several members (RFC 1952, 2.2)
                data = self._zip.unused_data.lstrip(b"\0")
                self._zip = zlib.decompressobj(_ZLIB_OR_GZIP)

    def _check(self, size: int) -> None:
        if size > self._max_bytes:
            raise too_large(self._where, self._max_bytes)
