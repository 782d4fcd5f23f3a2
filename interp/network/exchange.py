"""HTTP/1.1 without a connection: the bytes of requests, and what is in those of responses.

What is usual is written and read here: a request that says how long it is, and a response of
status 200 that does so, and whose head comes in one piece. All else is up to `h11`, which takes
many times as long, and is imported when it is first needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple

import httpx2

if TYPE_CHECKING:
    import h11

_LONGEST_HEAD: Final = 100 * 1024  # bytes
_IDLE_SECONDS: Final = 5.0

_METHODS: Final = {"DELETE", "GET", "PATCH", "POST", "PUT"}
_NAME: Final = rb"[-!#$%&'*+.^_`|~0-9A-Za-z]+"
_REQUEST: Final = re.compile(
    rb"[A-Z]+ [\x21-\x7e]+ HTTP/1\.1\r\n(?:" + _NAME + rb": (?! )[\x20-\x7e]+(?<! )\r\n)+\r\n"
)
_RESPONSE: Final = re.compile(
    rb"HTTP/1\.1 200(?: ([\t\x20-\x7e]*))?\r\n((?:" + _NAME + rb":[\t\x20-\x7e]*\r\n)+)\r\n"
)
_LENGTH: Final = re.compile(rb"[0-9]{1,15}")
_UNUSUAL: Final = {b"expect", b"te", b"transfer-encoding", b"upgrade"}

_Fields = Iterable[tuple[bytes, bytes]]


class Head(NamedTuple):
    """What a response says before its body."""

    status: int
    fields: list[tuple[bytes, bytes]]
    version: bytes
    reason: bytes


class Exchange:
    """One request after another on one connection, and the responses to them."""

    def __init__(self) -> None:
        self._request: httpx2.Request
        self._http: h11.Connection | None = None  # where something is unusual
        self._received = b""
        self._head: Head | None = None
        self._length = self._left = 0  # bytes of the body
        self._idle_since = 0.0

    def sent(self, request: httpx2.Request) -> bytes:
        """The bytes of a request."""
        self._request, self._head = request, None
        fields, body = request.headers.raw, _body_of(request)
        lines = b"".join([b"%b: %b\r\n" % field for field in fields])
        method = request.method
        head = b"%b %b HTTP/1.1\r\n%b\r\n" % (method.encode(), request.url.raw_path, lines)
        are_lines = head.count(b"\n") == len(fields) + 2
        are_names = b":" not in b"".join([name for name, _ in fields])
        is_usual = method in _METHODS and _length(fields, 0) == len(body)
        if is_usual and are_lines and are_names and _REQUEST.fullmatch(head):
            return head + body
        return self._sent_by_h11()

    def take(self, data: bytes) -> None:
        """Bytes that were read; none at the end of the connection."""
        if not (data or self._has_begun):
            raise httpx2.RemoteProtocolError("Server disconnected without sending a response.")
        if self._http is None and self._head is None:
            self._take_head(data)
        elif self._http is not None:
            self._http.receive_data(data)
        elif data:
            self._received += data
        elif self._left:
            raise httpx2.RemoteProtocolError(
                "peer closed connection without sending complete message body "
                f"(received {self._length - self._left} bytes, expected {self._length})"
            )

    def head(self) -> Head | None:
        """What the response says before its body, or None where more has to be read first."""
        if self._http is None:
            return self._head
        import h11

        while isinstance(event := self._event(self._http), h11.InformationalResponse):
            pass
        if not isinstance(event, h11.Response):
            return None
        fields = event.headers.raw_items()
        return Head(event.status_code, fields, b"HTTP/" + event.http_version, event.reason)

    def part(self) -> bytes | None:
        """What comes next of the body, nothing at its end, or None where more has to be read."""
        if self._http is not None:
            import h11

            event = self._event(self._http)
            if event is h11.NEED_DATA:
                return None
            return bytes(event.data) if isinstance(event, h11.Data) else b""
        if not (self._left and self._received):
            return None if self._left else b""
        data, self._received = self._received[: self._left], self._received[self._left :]
        self._left -= len(data)
        return data

    def ends(self) -> bool:
        """Whether the connection can be used again, now that a response was read or given up."""
        if self._http is None:
            is_done = self._head is not None and not (self._left or self._received)
        else:
            import h11

            is_done = self._http.our_state is self._http.their_state is h11.DONE
            is_done = is_done and not any(self._http.trailing_data)
            self._http = None
        del self._request  # what was sent may be large
        self._idle_since = monotonic()
        return is_done

    @property
    def has_expired(self) -> bool:
        """Whether it was idle for so long that the server may be about to close it."""
        return monotonic() - self._idle_since > _IDLE_SECONDS

    @property
    def _has_begun(self) -> bool:
        """Whether the head of the response has come."""
        if self._http is None:
            return self._head is not None
        import h11

        return self._http.their_state is not h11.SEND_RESPONSE

    def _take_head(self, data: bytes) -> None:
        """The first bytes of a response."""
        if found := _RESPONSE.match(data):
            lines = (line.partition(b":") for line in found[2].splitlines())
            fields = [(name, value.strip(b" \t")) for name, _, value in lines]
            if (length := _length(fields)) is not None:
                self._head = Head(200, fields, b"HTTP/1.1", found[1] or b"")
                self._length = self._left = length
                self._received = data[found.end() :]
                return
        self._sent_by_h11()
        assert self._http is not None
        self._http.receive_data(data)

    def _sent_by_h11(self) -> bytes:
        """The bytes of the request, which `h11` knows about from now on."""
        import h11

        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD)
        url, fields = self._request.url, self._request.headers.raw
        head = h11.Request(method=self._request.method, target=url.raw_path, headers=fields)
        events = (head, h11.Data(data=_body_of(self._request)), h11.EndOfMessage())
        return b"".join(self._http.send(event) or b"" for event in events)

    def _event(self, http: h11.Connection) -> object:
        import h11

        try:
            return http.next_event()
        except h11.RemoteProtocolError as error:
            raise httpx2.RemoteProtocolError(str(error)) from error


def _body_of(request: httpx2.Request) -> bytes:
    assert isinstance(request.stream, httpx2.SyncByteStream)
    return b"".join(request.stream)


def _length(fields: _Fields, default: int | None = None) -> int | None:
    """How long a message is by its headers; None if they say it in an unusual way, or more."""
    found = default
    lengths = 0
    for name, value in fields:
        name = name.lower()
        if name == b"content-length":
            lengths += 1
            found = int(value) if _LENGTH.fullmatch(value) else None
        elif name in _UNUSUAL or (name == b"connection" and value.lower() != b"keep-alive"):
            return None
    return found if lengths <= 1 else None
