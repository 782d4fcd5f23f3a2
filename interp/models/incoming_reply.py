"""Takes in the bytes of a reply, whole or as a stream, until it can be read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final, TypeVar

from ..errors import ModelError
from ..json_text import Json
from ..machine import Request
from ..secrets import without_keys
from .connections import Pace
from .failures import quoted, too_large
from .providers import STREAMED_TIMES
from .reply_reading import Reply
from .server_events import END, EventReader, is_crowded, json_or_text
from .wire import Piece, StreamedPieces, Wire

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


class IncomingReply:
    """A reply as it comes in, as a stream or whole; some servers send it whole all the same.

    Args:
        headers: The headers of the response.
        wire: Reads the reply.
        request: What it answers.
        where: The server's address, for messages.
        max_bytes: The most bytes that are read at once: of a whole reply, or of one event.
        streaming: Whether a stream was asked for.

    Attributes:
        has_said: Words or reasoning of a streamed reply have come.
        is_complete: All of it has come.
    """

    def __init__(
        self,
        headers: Mapping[str, str],
        wire: Wire,
        request: Request,
        *,
        where: str,
        max_bytes: int,
        streaming: bool,
    ) -> None:
        self.has_said = self.is_complete = False
        self._wire = wire
        self._request = request
        self._where = where
        self._max_bytes = max_bytes
        self._streaming = streaming
        self._kind = headers.get("content-type", "")
        is_stream = self._kind.startswith("text/event-stream")
        self._most = max_bytes * STREAMED_TIMES if is_stream else max_bytes
        # None until the first bytes tell
        self._is_whole: bool | None = False if streaming and is_stream else None
        self._body = bytearray()
        self._events = EventReader(max_bytes)
        self._stream: StreamedPieces | None = None
        self._pieces: list[Piece] = []
        self._size = 0
        self._reply: Reply | None = None
        self._pace = Pace()

    async def take(self, piece: bytes | None) -> None:
        """Take the next bytes of the reply; None is the end of them.

        Raises:
            ModelError: They report an error, are not a reply, or end too early.
        """
        self._size += len(piece or b"")
        if self._size > self._most:  # unpacked
            raise too_large(self._where, self._most)
        if self._is_whole is None:
            self._body += (piece or b"") if self._body else (piece or b"").lstrip(_BLANK)
            if piece is not None and len(self._body) < _ENOUGH:
                return
            self._is_whole = self._looks_whole(bytes(self._body[:_ENOUGH]))
            if not self._is_whole:
                await self._take_events(bytes(self._body))
        elif piece is not None and self._is_whole:
            self._body += piece
        elif piece is not None:
            await self._take_events(piece)
        if piece is None:
            await self._end()

    def _looks_whole(self, first: bytes) -> bool:
        if first.startswith(_FIELDS):
            return False  # some servers always stream
        return not self._streaming or first[:1] == b"{" or self._kind.startswith(_WHOLE_KINDS)

    async def _take_events(self, data: bytes) -> None:
        for at in range(0, len(data), _PIECE):
            part = data[at : at + _PIECE]
            ends_line = b"\n" in part or b"\r" in part
            size = self._events.size if ends_line else 0
            await self._read(size, partial(self._add, self._events.feed(part)))
            await self._pace.keep()

    def _add(self, events: Iterator[Json]) -> None:
        self._stream = stream = self._stream or self._wire.new_stream()
        for event in events:
            self._pieces.extend(stream.add(event))
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
        if is_crowded(text, self._max_bytes):
            raise too_large(self._where, self._max_bytes)
        if not text:
            raise ModelError("the reply is empty: it has no body\n  hint: is the address right?")
        found, problem = json_or_text(text)
        if problem:
            raise ModelError(without_keys(f"the reply is not JSON ({problem}): {quoted(text)}"))
        return self._wire.read(found, self._request)

    def pieces(self) -> list[Piece]:
        """The words and the reasoning that have come since this was asked."""
        pieces, self._pieces = self._pieces, []
        return pieces

    async def reply(self) -> Reply:
        """The whole reply."""
        if self._reply is not None:
            return self._reply
        stream = self._stream
        assert stream is not None, "it is asked for when all of it has come"
        request = self._request
        found = await self._read(self._size, lambda: self._wire.read(stream.whole(), request))
        self._reply = found
        return found

    async def _read(self, size: int, read: Callable[[], T]) -> T:
        """Read something that has come, in a thread if it is large."""
        if size <= _LARGE:
            return read()
        return await asyncio.to_thread(read)
