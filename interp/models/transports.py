"""Connections of HTTP/1.1 to one server, which are kept for the next request.

These carry requests in the place of the transports of `httpx2`, which spend more on a request than
all else of it together, and look at every connection for every request. What is sent and read is
up to `h11`. This loads the network library: import it only when a request is about to leave.
"""

from __future__ import annotations

import asyncio
import select
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from time import monotonic
from typing import Any, Final, Generic, TypeVar, cast

import h11
import httpx2

_ANSWER: Final = "answer"  # the extension of a request with its response
_LONGEST_HEAD: Final = 100 * 1024  # bytes
_PIECE: Final = 64 * 1024  # bytes
_AHEAD: Final = 16 * _PIECE  # bytes that may have come before they are read
_MOST_IDLE: Final = 100
_IDLE_SECONDS: Final = 5.0
_GRACE: Final = 1.0  # seconds


class _Exchange:
    """HTTP/1.1 without a connection: the bytes of requests, and the events of responses."""

    def __init__(self) -> None:
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD)
        self._idle_since = 0.0

    def sent(self, request: httpx2.Request) -> bytes:
        """The bytes of a request."""
        assert isinstance(request.stream, httpx2.SyncByteStream)
        head = h11.Request(
            method=request.method, target=request.url.raw_path, headers=request.headers.raw
        )
        body = h11.Data(data=b"".join(request.stream))
        return b"".join(self._http.send(part) or b"" for part in (head, body, h11.EndOfMessage()))

    def event(self) -> Any:
        """What came next, or None where more has to be read first."""
        try:
            while isinstance(event := self._http.next_event(), h11.InformationalResponse):
                pass
        except h11.RemoteProtocolError as error:
            raise httpx2.RemoteProtocolError(str(error)) from error
        return None if event is h11.NEED_DATA else event

    def take(self, data: bytes) -> None:
        """Bytes that were read; none at the end of the connection."""
        if not data and self._http.their_state is h11.SEND_RESPONSE:
            raise httpx2.RemoteProtocolError("Server disconnected without sending a response.")
        self._http.receive_data(data)

    def ends(self) -> bool:
        """Whether the connection can be used again, now that a response was read or given up."""
        is_done = self._http.our_state is self._http.their_state is h11.DONE
        if not is_done or any(self._http.trailing_data):  # something came that was not asked for
            return False
        self._http.start_next_cycle()
        self._idle_since = monotonic()
        return True

    @property
    def has_expired(self) -> bool:
        """Whether it was idle for so long that the server may be about to close it."""
        return monotonic() - self._idle_since > _IDLE_SECONDS


Connection = TypeVar("Connection", bound="_Connection | _AsyncConnection")


class _Idle(Generic[Connection]):
    """Connections that wait for the next request; used by all threads."""

    def __init__(self) -> None:
        self._waiting: list[Connection] = []

    def pop(self) -> Connection | None:
        """One that can be used, if there is one."""
        while self._waiting:
            try:
                found = self._waiting.pop()
            except IndexError:  # another thread took the last one
                return None
            if not (found.exchange.has_expired or found.is_stale):
                return found
            found.close()
        return None

    def give_back(self, connection: Connection) -> None:
        """Keep a connection, if it can be used again."""
        if connection.exchange.ends() and len(self._waiting) < _MOST_IDLE:
            self._waiting.append(connection)
        else:
            connection.close()

    def clear(self) -> list[Connection]:
        """All of them; none is kept any more."""
        waiting, self._waiting = self._waiting, []
        return waiting


def _address(url: httpx2.URL) -> tuple[str, int]:
    return url.raw_host.decode("ascii"), url.port or (443 if url.scheme == "https" else 80)


def _response(head: h11.Response, stream: Any) -> httpx2.Response:
    version = b"HTTP/" + head.http_version
    return httpx2.Response(
        head.status_code,
        headers=head.headers.raw_items(),
        stream=stream,
        extensions={"http_version": version, "reason_phrase": head.reason},
    )


# --- those that block


class Transport(httpx2.BaseTransport):
    """Carries requests to one server, secured by a context if there is one."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self._idle: _Idle[_Connection] = _Idle()
        self._context = context

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, and read its response up to its body."""
        if response := request.extensions.pop(_ANSWER, None):
            return cast("httpx2.Response", response)
        connection = self._idle.pop() or _Connection(request, self._context)
        try:
            return _response(connection.ask(request), _Body(connection, self._idle))
        except BaseException:  # a cancellation too: it is raised again, the connection closed
            connection.close()
            raise

    def put_back(self, response: httpx2.Response) -> None:
        """Give this response to the next sending of its request, in place of sending it again."""
        response.request.extensions[_ANSWER] = response

    def close(self) -> None:
        """Close the connections that are not in use."""
        for connection in self._idle.clear():
            connection.close()


class _Connection:
    def __init__(self, request: httpx2.Request, secured: ssl.SSLContext | None) -> None:
        self.exchange = _Exchange()
        host, port = _address(request.url)
        try:
            self._socket = socket.create_connection(
                (host, port), request.extensions["timeout"]["connect"]
            )
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if secured:
                self._socket = secured.wrap_socket(self._socket, server_hostname=host)
        except TimeoutError as error:
            raise httpx2.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpx2.ConnectError(str(error)) from error

    def ask(self, request: httpx2.Request) -> h11.Response:
        timeouts = request.extensions["timeout"]
        try:
            self._wait_at_most(timeouts["write"])
            self._socket.sendall(self.exchange.sent(request))
        except TimeoutError as error:
            raise httpx2.WriteTimeout(str(error)) from error
        except OSError:  # the server may have answered before it has read all
            pass
        self._wait_at_most(timeouts["read"])
        self._receive()
        head: h11.Response = self.event()
        return head

    def event(self) -> Any:
        while (event := self.exchange.event()) is None:
            self._receive()
        return event

    def _receive(self) -> None:
        try:
            self.exchange.take(self._socket.recv(_PIECE))
        except TimeoutError as error:
            raise httpx2.ReadTimeout(str(error)) from error
        except OSError as error:
            raise httpx2.ReadError(str(error)) from error

    def _wait_at_most(self, seconds: float | None) -> None:
        if self._socket.gettimeout() != seconds:  # setting it asks the operating system
            self._socket.settimeout(seconds)

    @property
    def is_stale(self) -> bool:
        """Whether there is something to read, which can only be its end."""
        if not hasattr(select, "poll"):  # Windows, whose select takes any socket
            return bool(select.select([self._socket], [], [], 0)[0])
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(0))

    def close(self) -> None:
        self._socket.close()


class _Body(httpx2.SyncByteStream):
    def __init__(self, connection: _Connection, idle: _Idle[_Connection]) -> None:
        self._connection: _Connection | None = connection
        self._idle = idle

    def __iter__(self) -> Iterator[bytes]:
        while self._connection and isinstance(event := self._connection.event(), h11.Data):
            yield bytes(event.data)

    def close(self) -> None:
        """Keep the connection if all was read, else close it."""
        if connection := self._connection:
            self._connection = None
            self._idle.give_back(connection)


# --- those that do not


class AsyncTransport(httpx2.AsyncBaseTransport):
    """Carries requests to one server without blocking; see `Transport`."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self._idle: _Idle[_AsyncConnection] = _Idle()
        self._context = context

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, and read its response up to its body."""
        if response := request.extensions.pop(_ANSWER, None):
            return cast("httpx2.Response", response)
        connection = self._idle.pop() or await _connected(request, self._context)
        try:
            return _response(await connection.ask(request), _AsyncBody(connection, self._idle))
        except BaseException:  # a cancellation too: it is raised again, the connection closed
            connection.close()
            raise

    def put_back(self, response: httpx2.Response) -> None:
        """Give this response to the next sending of its request, in place of sending it again."""
        response.request.extensions[_ANSWER] = response

    async def aclose(self) -> None:
        """Close the connections that are not in use."""
        waiting = self._idle.clear()
        for connection in waiting:
            connection.close()
        if waiting:
            await asyncio.wait([connection.lost for connection in waiting], timeout=_GRACE)


async def _connected(request: httpx2.Request, secured: ssl.SSLContext | None) -> _AsyncConnection:
    loop, (host, port) = asyncio.get_running_loop(), _address(request.url)
    # Other event loops cannot try several addresses at once.
    more: dict[str, Any] = {}
    if isinstance(loop, asyncio.BaseEventLoop):
        more["happy_eyeballs_delay"] = 0.25
    try:
        async with asyncio.timeout(request.extensions["timeout"]["connect"]):
            _, connection = await loop.create_connection(
                _AsyncConnection, host, port, ssl=secured, **more
            )
    except TimeoutError as error:
        raise httpx2.ConnectTimeout(str(error)) from error
    except (socket.gaierror, ssl.SSLError) as error:
        raise httpx2.ConnectError(str(error)) from error
    except OSError as error:
        raise httpx2.ConnectError("All connection attempts failed") from error
    return connection


class _AsyncConnection(asyncio.Protocol):
    def __init__(self) -> None:
        self.exchange = _Exchange()
        self.lost = asyncio.get_running_loop().create_future()
        self._transport: asyncio.Transport
        self._received = bytearray()
        self._has_ended = False
        self._error: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._timeout: float | None = None

    def connection_made(self, transport: Any) -> None:
        """Called by the event loop."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Called by the event loop."""
        self._received += data
        if len(self._received) > _AHEAD:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """Called by the event loop."""
        self._has_ended = True
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        """Called by the event loop."""
        self._has_ended, self._error = True, error
        self._wake()
        if not self.lost.done():
            self.lost.set_result(None)

    def _wake(self) -> None:
        if self._reader and not self._reader.done():
            self._reader.set_result(None)

    async def ask(self, request: httpx2.Request) -> h11.Response:
        self._transport.write(self.exchange.sent(request))
        self._timeout = request.extensions["timeout"]["read"]
        self.exchange.take(await self._read())
        head: h11.Response = await self.event()
        return head

    async def event(self) -> Any:
        while (event := self.exchange.event()) is None:
            self.exchange.take(await self._read())
        return event

    async def _read(self) -> bytes:
        if not (self._received or self._has_ended):
            loop = asyncio.get_running_loop()
            self._reader = reader = loop.create_future()
            end = None if self._timeout is None else loop.call_later(self._timeout, _late, reader)
            try:
                await reader
            except TimeoutError as error:
                raise httpx2.ReadTimeout(str(error)) from error
            finally:
                self._reader = None
                if end:
                    end.cancel()
        if self._error and not self._received:
            raise httpx2.ReadError(str(self._error)) from self._error
        if len(self._received) > _AHEAD:
            self._transport.resume_reading()
        data, self._received = bytes(self._received), bytearray()
        return data

    @property
    def is_stale(self) -> bool:
        """Whether something came that nobody asked for, such as its end."""
        return bool(self._received) or self._has_ended or self._transport.is_closing()

    def close(self) -> None:
        self._transport.abort()


def _late(reader: asyncio.Future[None]) -> None:
    if not reader.done():
        reader.set_exception(TimeoutError())


class _AsyncBody(httpx2.AsyncByteStream):
    def __init__(self, connection: _AsyncConnection, idle: _Idle[_AsyncConnection]) -> None:
        self._connection: _AsyncConnection | None = connection
        self._idle = idle

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self  # an event loop keeps a list of its asynchronous generators

    async def __anext__(self) -> bytes:
        if self._connection and isinstance(event := await self._connection.event(), h11.Data):
            return bytes(event.data)
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Keep the connection if all was read, else close it."""
        if connection := self._connection:
            self._connection = None
            self._idle.give_back(connection)
