"""What a dialect is: how requests are written and replies are read, whole and streamed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeAlias, Union

from ..errors import ModelError
from ..json_text import Json
from ..machine import Request
from .reasoning import Reasoning
from .reply_reading import Reply

Piece: TypeAlias = Union[str, Reasoning]
"""A piece of a streamed reply: words of the answer, or of the reasoning that led to it."""


class Wire(Protocol):
    """How requests and replies are written in one dialect, as one server wants it."""

    @property
    def path(self) -> str:
        """Where requests are sent, after the address of the server."""
        ...

    def body(self, request: Request) -> dict[str, Json]:
        """The JSON that is sent for a request."""
        ...

    def content(self, request: Request, *, streaming: bool) -> bytes:
        """The same as bytes."""
        ...

    def instead(self, error: ModelError, request: Request) -> bool:
        """Learn from a refusal; whether the request is written otherwise from now on."""
        ...

    def read(self, reply: Json, request: Request) -> Reply:
        """Read the JSON of a reply.

        Raises:
            ModelError: It is not a reply, or reports an error.
        """
        ...

    def new_stream(self) -> StreamedPieces:
        """Puts the events of a streamed reply together."""
        ...


class StreamedPieces(Protocol):
    """The events of one streamed reply so far."""

    def add(self, event: object) -> Iterator[Piece]:
        """Take one more event; returns what it adds to the words and to the reasoning.

        Raises:
            ModelError: The event reports an error, or it does not belong to a reply.
        """
        ...

    def whole(self) -> Json:
        """The JSON of the whole reply, which `Wire.read` reads.

        Raises:
            ModelError: The stream ended too early, so nothing in it can be relied on.
        """
        ...
