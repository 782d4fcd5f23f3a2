"""What a dialect is: how requests are written and replies are read, whole and streamed."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Protocol, TypeAlias, Union

from attrs import frozen

from ..json_text import Json
from ..machine import Request
from .providers import AnswerFormat, AnswerMode
from .reply_reading import Reply, answered_by_tool


@frozen
class Reasoning:
    """A piece of what a model shows of its reasoning, or of a summary of it.

    Models' ``stream`` and ``astream`` may yield it beside the words of the answer, each a str.

    Attributes:
        text: The piece.
    """

    text: str


Piece: TypeAlias = Union[str, Reasoning]
"""A piece of a streamed reply: words of the answer, or of the reasoning that led to it."""


@frozen(kw_only=True)
class Wire(ABC):
    """How requests and replies are written in one dialect, as one server wants it.

    Attributes:
        path: Where requests are sent, after the address of the server.
        answers: How a typed answer is asked for where there are tools.
        answers_as: Whether the server takes a schema for the answer.
        is_strict: Whether ``strictTools: "auto"`` means strict.
        server: The host, to which alone what it sent to be returned is sent.
    """

    path: ClassVar[str]

    answers: AnswerMode = "with_tools"
    answers_as: AnswerFormat = "json_schema"
    is_strict: bool = False
    server: str | None = None

    def body(self, request: Request) -> dict[str, Json]:
        """The JSON that is sent for a request, as fresh values."""
        body: dict[str, Json] = json.loads(self.content(request))
        return body

    @abstractmethod
    def content(self, request: Request, *, streaming: bool = False) -> bytes:
        """The same as bytes: each message and tool is encoded only once.

        Raises:
            ConfigurationError: A file that a user attached cannot be sent in the dialect.
        """

    def read(self, reply: Json, request: Request) -> Reply:
        """Read the JSON of a reply.

        Raises:
            ModelError: It is not a reply, or reports an error.
        """
        found = self.read_as_it_is(reply, request)
        return answered_by_tool(found, request) if self.answers == "as_tool" else found

    @abstractmethod
    def read_as_it_is(self, reply: Json, request: Request) -> Reply:
        """The same, where a typed answer may be the call of a tool."""

    @abstractmethod
    def new_stream(self) -> StreamedPieces:
        """Puts the events of a streamed reply together."""

    def is_strict_for(self, request: Request) -> bool:
        """Whether the model is held to the schemas of the tools that have a strict form."""
        wanted = request.settings.get("strictTools")
        return wanted == "on" or (wanted == "auto" and self.is_strict)


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
