"""HTTP clients that trust no server: replies of a limited size, no redirects to other servers.

Both are done by a hook on responses, so that proxies from the environment keep working. This loads
the network library: import it only when a request is about to leave.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import httpx2

from gram import counted

from ..errors import ModelError
from ..redaction import redact_error
from .reaching import async_transport, transport

if TYPE_CHECKING:
    from .transports import AsyncTransport, Transport

_PIECE: Final = 65_536  # bytes
_ZLIB_OR_GZIP: Final = zlib.MAX_WBITS | 32
_OPTIONS: Final[dict[str, Any]] = {
    "limits": httpx2.Limits(max_connections=1000, max_keepalive_connections=100),
    "follow_redirects": True,
}
_HEADERS: Final = [("Accept-Encoding", "gzip"), ("Connection", "keep-alive")]
_COMPRESSED: Final = {"gzip", "x-gzip", "deflate"}


def http_client(guard: Guard, auth: tuple[str, str] | None, *, secure: bool) -> httpx2.Client:
    """A client that blocks.

    Args:
        guard: The checks of every response.
        auth: The user and password of a server that asks for them, or None.
        secure: Whether the server is reached by https.
    """
    return _Client(guard, auth, transport(secure=secure))


def async_http_client(
    guard: Guard, auth: tuple[str, str] | None, *, secure: bool
) -> httpx2.AsyncClient:
    """A client that does not block; see `http_client`."""
    return _AsyncClient(guard, auth, async_transport(secure=secure))


# Both send a request straight to its server. Redirects, passwords and proxies are up to `httpx2`:
# what it does with every request takes as long as sending it.


class _Client(httpx2.Client):
    def __init__(
        self, guard: Guard, auth: tuple[str, str] | None, carrier: Transport | None
    ) -> None:
        hooks: Any = {"response": [guard.check]}
        super().__init__(**_OPTIONS, transport=carrier, auth=auth, event_hooks=hooks)
        self._guard, self._carrier = guard, None if auth else carrier

    def build_request(self, method: str, url: httpx2.URL | str, **parts: Any) -> httpx2.Request:
        """A request as it is sent."""
        return _request(method, url, **parts) or super().build_request(method, url, **parts)

    def send(
        self, request: httpx2.Request, *, stream: bool = False, **others: Any
    ) -> httpx2.Response:
        """Send a request; its response is still to be read if it is streamed."""
        if self._carrier is None or self.is_closed or others or not stream:
            return super().send(request, stream=stream, **others)
        response = self._carrier.handle_request(request)
        response.request = request
        try:
            if response.has_redirect_location:
                self._carrier.put_back(response)
                return super().send(request, stream=True)
            self._guard.check(response)
        except BaseException:  # a cancellation too: it is raised again, the connection closed
            response.close()
            raise
        return response


class _AsyncClient(httpx2.AsyncClient):
    def __init__(
        self, guard: Guard, auth: tuple[str, str] | None, carrier: AsyncTransport | None
    ) -> None:
        hooks: Any = {"response": [guard.acheck]}
        super().__init__(**_OPTIONS, transport=carrier, auth=auth, event_hooks=hooks)
        self._guard, self._carrier = guard, None if auth else carrier

    def build_request(self, method: str, url: httpx2.URL | str, **parts: Any) -> httpx2.Request:
        """A request as it is sent."""
        return _request(method, url, **parts) or super().build_request(method, url, **parts)

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **others: Any
    ) -> httpx2.Response:
        """Send a request; its response is still to be read if it is streamed."""
        if self._carrier is None or self.is_closed or others or not stream:
            return await super().send(request, stream=stream, **others)
        response = await self._carrier.handle_async_request(request)
        response.request = request
        try:
            if response.has_redirect_location:
                self._carrier.put_back(response)
                return await super().send(request, stream=True)
            self._guard.check(response)
        except BaseException:  # a cancellation too: it is raised again, the connection closed
            await response.aclose()
            raise
        return response


def _request(
    method: str,
    url: httpx2.URL | str,
    *,
    headers: Any,
    timeout: Any = None,
    content: Any = None,
    **others: Any,
) -> httpx2.Request | None:
    """A request with these headers alone, or None where it has more parts than those here.

    Building one anew, of what the client and the request say, is a fifth of what a request costs.
    """
    if not isinstance(content, bytes) or any(others.values()):
        return None
    target = _url(str(url))
    return httpx2.Request(
        method,
        target,
        headers=[
            ("Host", target.netloc.decode("ascii")),
            *headers,
            *_HEADERS,
            ("Content-Length", str(len(content))),
        ],
        stream=httpx2.ByteStream(content),
        extensions={"timeout": httpx2.Timeout(timeout).as_dict()},
    )


@lru_cache(maxsize=16)
def _url(text: str) -> httpx2.URL:
    """A URL, which is immutable."""
    return httpx2.URL(text)


class Guard:
    """Checks every response: where it redirects to, and how large it is.

    Args:
        where: The server's address, for messages.
        max_bytes: The most bytes that a response may have, counted decompressed.
    """

    def __init__(self, where: str, max_bytes: int) -> None:
        self._where = where
        self._max_bytes = max_bytes

    def check(self, response: httpx2.Response) -> None:
        """Refuse a redirect to another server, and limit the size of a response.

        Raises:
            ModelError: The response is such a redirect, or compressed in another way.
        """
        if response.has_redirect_location:
            self._check_redirect(response)
        encoding = response.headers.pop("content-encoding", "identity").strip().lower()
        if encoding not in {*_COMPRESSED, "identity", ""}:
            said = f"{self._where} sent a reply compressed as {encoding!r}, which nobody asked for"
            raise ModelError(redact_error(said))
        decompressed = zlib.decompressobj(_ZLIB_OR_GZIP) if encoding in _COMPRESSED else None
        response.stream = _Body(response.stream, self._where, self._max_bytes, decompressed)

    async def acheck(self, response: httpx2.Response) -> None:
        """The same for a client that does not block."""
        self.check(response)

    def _check_redirect(self, response: httpx2.Response) -> None:
        asked, location = response.request.url, response.headers["location"]
        try:
            target: httpx2.URL | None = asked.join(location)
        except (httpx2.InvalidURL, ValueError):
            target = None
        if target is None or _origin(target) != _origin(asked):
            shown = "" if target is None else f" to {target.scheme}://{target.host}"
            raise ModelError(
                redact_error(
                    f"{self._where} redirects{shown}, which is not followed: keys are not sent to "
                    "another server\n  hint: use that address if you trust it"
                ),
                status=response.status_code,
            )


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    """The scheme, host and port of a URL (RFC 6454)."""
    return url.scheme, url.host, url.port


class _Body(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """The body of one response: decompressed and counted part by part, before and after."""

    def __init__(self, stream: Any, where: str, max_bytes: int, decompressed: Any) -> None:
        self._stream = stream
        self._where = where
        self._max_bytes = max_bytes
        self._zip = decompressed
        self._packed = self._unpacked = 0

    def __iter__(self) -> Iterator[bytes]:
        for data in self._stream:
            if self._zip is None:
                self._packed += len(data)
                self._check(self._packed)
                yield data
            else:
                yield from self._unzipped(data)

    def __aiter__(self) -> AsyncIterator[bytes]:
        self._coming = aiter(self._stream)
        return self if self._zip is None else self._all_unzipped()

    async def __anext__(self) -> bytes:
        data: bytes = await anext(self._coming)
        self._packed += len(data)
        self._check(self._packed)
        return data

    async def _all_unzipped(self) -> AsyncIterator[bytes]:
        async for data in self._coming:
            for piece in self._unzipped(data):
                yield piece

    def close(self) -> None:
        """Close the connection, or give it back."""
        self._stream.close()

    async def aclose(self) -> None:
        """The same without blocking."""
        await self._stream.aclose()

    def _unzipped(self, data: bytes) -> Iterator[bytes]:
        """Decompress and count some bytes of the response.

        Raises:
            ModelError: They are too many, or cannot be decompressed.
        """
        self._packed += len(data)
        self._check(self._packed)  # many compressed bytes may decompress to nothing
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
            raise ModelError(
                f"{self._where} sent a reply of more than {counted(self._max_bytes, 'byte')}, "
                "which is not read\n  hint: a larger max_reply_bytes allows it",
                code="too_large",
            )
