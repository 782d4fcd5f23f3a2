"""Takes in the bytes of a reply, whole or as a stream, until it can be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..errors import ModelError
from ..json_text import Json
from ..redaction import redact_error
from .failures import quoted
from .reply_reading import Reply
from .server_events import END, EventReader, json_or_text

if TYPE_CHECKING:
    from .stream_reading import StreamedReply


class IncomingReply:
    """A reply as it comes in, as a stream or whole; some servers send it whole all the same.

    Args:
        headers: The headers of the response.
        read: Reads the completion.
        streaming: Whether a stream was asked for.

    Attributes:
        has_begun: A part of the reply has come.
        is_complete: All of it has come.
    """

    def __init__(
        self, headers: Mapping[str, str], read: Callable[[Json], Reply], *, streaming: bool
    ) -> None:
        self.has_begun = self.is_complete = False
        self._read = read
        kind = headers.get("content-type", "")
        self._is_whole: bool | None = None  # until the first bytes tell
        if not streaming or kind.startswith(("application/json", "text/html")):
            self._is_whole = True
        elif kind.startswith("text/event-stream"):
            self._is_whole = False
        self._body = bytearray()
        self._stream: tuple[EventReader, StreamedReply] | None = None
        self._words: list[str] = []
        self._reply: Reply | None = None

    def take(self, piece: bytes | None) -> None:
        """Take the next bytes of the reply; None is the end of them.

        Raises:
            ModelError: They report an error, are not a reply, or end too early.
        """
        if self._is_whole is None and piece and piece.strip():
            self._is_whole = piece.lstrip().startswith(b"{")
        if not self._is_whole:
            self._take_events(piece)
        elif piece is not None:
            self._body += piece
        else:
            self._reply = self._read(completion_in(bytes(self._body)))
            self.has_begun = self.is_complete = True

    def _take_events(self, piece: bytes | None) -> None:
        events, chunks = self._stream = self._stream or _new_stream()
        for event in events.rest() if piece is None else events.feed(piece):
            if words := chunks.add(event):
                self._words.append(words)
            self.has_begun = True
            self.is_complete = self.is_complete or event is END
        if piece is None:
            if not self.has_begun:
                from .stream_reading import ended_too_early

                raise ended_too_early()
            self.is_complete = True

    def words(self) -> list[str]:
        """The words that have come since this was asked."""
        words, self._words = self._words, []
        return words

    def reply(self) -> Reply:
        """The whole reply."""
        if self._reply is not None:
            return self._reply
        assert self._stream is not None, "it is asked for when all of it has come"
        return self._read(self._stream[1].completion())


def _new_stream() -> tuple[EventReader, StreamedReply]:
    from .stream_reading import StreamedReply  # imported late: most replies come whole

    return EventReader(), StreamedReply()


def completion_in(body: bytes) -> Json:
    """The completion in the body of a response.

    Raises:
        ModelError: It is neither JSON nor a whole stream, or reports an error.
    """
    text = body.decode("utf-8-sig", "replace")
    if text.lstrip().startswith(("data:", "event:", ":")):  # a server that always streams
        events, reply = _new_stream()
        for event in (*events.feed(body), *events.rest()):
            reply.add(event)
        return reply.completion()
    if not text.strip():
        raise ModelError("the reply is empty: it has no body\n  hint: is the address right?")
    found, problem = json_or_text(text)
    if problem:
        raise ModelError(redact_error(f"the reply is not JSON ({problem}): {quoted(text)}"))
    return found
