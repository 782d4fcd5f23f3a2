"""Takes in the bytes of a reply, whole or as a stream, until it can be read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from attrs import define, field

from ..errors import ModelError
from ..json_text import Json
from ..machine import Request
from ..secrets import without_keys
from .connections import Pace
from .failures import quoted, too_large
from .providers import STREAMED_TIMES
from .reply_reading import Reply
from .server_events import END, EventReader, is_crowded, json_or_problem
from .wire import Piece, StreamedPieces, Wire

if TYPE_CHECKING:
    from .server import Server

T = TypeVar("T")

_BLANK: Final = b" \t\r\n\xef\xbb\xbf"  # and the bytes of a byte order mark
_FIELDS: Final = (b"data:", b"event:", b"id:", b"retry:", b":")
"""What the first line of an event stream begins with."""

_ENOUGH: Final = 6
"""The bytes by which a stream and a whole reply are told apart."""

_WHOLE_KINDS: Final = ("application/json", "text/html")
_PIECE: Final = 16_384  # bytes that are read before other tasks may run
_LARGE: Final = 100_000
"""The bytes from which a reply is read in a thread: the event loop goes on meanwhile."""


@define(eq=False)
class IncomingReply:
    """A reply as it comes in, as a stream or whole; some servers send it whole all the same.

    Args:
        kind: The type of its content, as its headers have it.
        wire: Reads the reply.
        request: What it answers.
        server: Who sends it; no more bytes than it may send are read at once: of a whole reply,
            or of one event.
        streaming: Whether a stream was asked for.

    Attributes:
        has_said: Words or reasoning of a streamed reply have come.
        is_complete: All of it has come.
    """

    _kind: str
    _wire: Wire
    _request: Request
    _server: Server
    _streaming: bool
    has_said: bool = field(default=False, init=False)
    is_complete: bool = field(default=False, init=False)
    _is_whole: bool | None = field(default=None, init=False)  # None until the first bytes tell
    _body: bytearray = field(factory=bytearray, init=False)
    _events: EventReader = field(init=False)
    _stream: StreamedPieces = field(init=False)
    _pieces: list[Piece] = field(factory=list, init=False)
    _size: int = field(default=0, init=False)
    _reply: Reply | None = field(default=None, init=False)
    _pace: Pace = field(factory=Pace, init=False)

    def __attrs_post_init__(self) -> None:
        self._events = EventReader(self._server.max_bytes)
        self._stream = self._wire.new_stream()
        if self._streaming and self._is_stream:
            self._is_whole = False

    @property
    def _is_stream(self) -> bool:
        return self._kind.startswith("text/event-stream")

    async def take(self, piece: bytes | None) -> None:
        """Take the next bytes of the reply; None is the end of them.

        Raises:
            ModelError: They report an error, are not a reply, or end too early.
        """
        self._size += len(piece or b"")
        most = self._server.max_bytes * (STREAMED_TIMES if self._is_stream else 1)
        if self._size > most:  # unpacked
            raise too_large(self._server.where, most)
        if self._is_whole is None:
            self._body += (piece or b"") if self._body else (piece or b"").lstrip(_BLANK)
            if piece is not None and len(self._body) < _ENOUGH:
                return
            first = bytes(self._body[:_ENOUGH])
            looks_whole = first[:1] == b"{" or self._kind.startswith(_WHOLE_KINDS)
            # some servers always stream
            self._is_whole = not first.startswith(_FIELDS) and (not self._streaming or looks_whole)
            if not self._is_whole:
                await self._take_events(bytes(self._body))
        elif piece is not None and self._is_whole:
            self._body += piece
        elif piece is not None:
            await self._take_events(piece)
        if piece is None:
            await self._end()

    async def _take_events(self, data: bytes) -> None:
        for at in range(0, len(data), _PIECE):
            part = data[at : at + _PIECE]
            ends_line = b"\n" in part or b"\r" in part
            size = self._events.size if ends_line else 0
            await self._read(size, partial(self._add, self._events.feed(part)))
            await self._pace.keep()

    def _add(self, events: Iterator[Json]) -> None:
        for event in events:
            self._pieces.extend(self._stream.add(event))
            self.has_said = self.has_said or bool(self._pieces)
            self.is_complete = self.is_complete or event is END

    async def _end(self) -> None:
        if self._is_whole:
            self._reply = await self._read(self._size, self._whole)
        else:
            await self._read(self._events.size, partial(self._add, self._events.rest()))
        self.is_complete = True

    def _whole(self) -> Reply:
        """The reply in the body of a response.

        Raises:
            ModelError: It is not JSON, or reports an error.
        """
        text = self._body.decode("utf-8", "replace")
        if is_crowded(text, self._server.max_bytes):
            raise too_large(self._server.where, self._server.max_bytes)
        if not text:
            raise ModelError("the reply is empty: it has no body\n  hint: is the address right?")
        found, problem = json_or_problem(text)
        if problem:
            raise ModelError(without_keys(f"the reply is not JSON ({problem}): {quoted(text)}"))
        return self._wire.read(found, self._request)

    def pieces(self) -> list[Piece]:
        """The words and the reasoning that have come since this was asked."""
        pieces, self._pieces = self._pieces, []
        return pieces

    async def reply(self) -> Reply:
        """The whole reply."""
        if self._reply is None:
            whole, read = self._stream.whole, self._wire.read
            self._reply = await self._read(self._size, lambda: read(whole(), self._request))
        return self._reply

    async def _read(self, size: int, read: Callable[[], T]) -> T:
        """Read something that has come, in a thread if it is large."""
        if size <= _LARGE:
            return read()
        return await asyncio.to_thread(read)
