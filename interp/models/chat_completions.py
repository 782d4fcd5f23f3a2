"""Chat Completions in both of its dialects: what is sent for a request, and how replies are read.

A dialect is a `Wire`; all else about models behind an address is the same for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from attrs import frozen

from ..json_text import Json
from ..machine import Request
from .providers import AnswerFormat, AnswerMode, Dialect
from .reply_reading import Reply, read_reply
from .request_json import request_body, request_content
from .typed_answers import without_answer_tool

if TYPE_CHECKING:
    from .stream_reading import StreamedReply


class Wire(Protocol):
    """How requests and replies are written in one dialect."""

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

    def read(self, reply: Json, request: Request) -> Reply:
        """Read the JSON of a reply.

        Raises:
            ModelError: It is not a reply, or reports an error.
        """
        ...

    def new_stream(self) -> Chunks:
        """Puts the events of a streamed reply together."""
        ...


class Chunks(Protocol):
    """The events of one streamed reply so far."""

    def add(self, chunk: object) -> str:
        """Take one more; returns the piece of the answer's text in it, often ``""``."""
        ...

    def completion(self) -> Json:
        """The JSON of the whole reply."""
        ...


@frozen
class ChatCompletions:
    """Chat Completions, as one server wants it.

    Attributes:
        dialect: The current dialect or the older one.
        max_tokens: The server's name for the setting ``maxTokens``.
        answers: How a typed answer is asked for where there are tools.
        answers_as: Whether the server takes a schema for the answer.
        is_strict: Whether ``strictTools: "auto"`` means strict.
        server: The host, to which what it wants back is sent.
    """

    path = "/chat/completions"

    dialect: Dialect
    max_tokens: str
    answers: AnswerMode
    answers_as: AnswerFormat
    is_strict: bool
    server: str

    def body(self, request: Request) -> dict[str, Json]:
        """The JSON that is sent for a request."""
        return request_body(request, **self._form(request))

    def content(self, request: Request, *, streaming: bool) -> bytes:
        """The same as bytes."""
        return request_content(request, streaming=streaming, **self._form(request))

    def read(self, reply: Json, request: Request) -> Reply:
        """Read a completion."""
        found = read_reply(reply, request, server=self.server)
        if self.answers == "as_tool" and request.answer is not None and request.tools:
            message = without_answer_tool(request, found.message)
            found = read_reply(found._replace(message=message), request)
        return found

    def new_stream(self) -> StreamedReply:
        """Puts chunks together into a completion."""
        from .stream_reading import StreamedReply  # imported late: most replies come whole

        return StreamedReply()

    def _form(self, request: Request) -> dict[str, Any]:
        """How the JSON of a request is written: arguments of `request_body`."""
        wanted = request.settings.get("strictTools")
        return {
            "dialect": self.dialect,
            "max_tokens": self.max_tokens,
            "strict": wanted == "on" or (wanted == "auto" and self.is_strict),
            "answers": self.answers,
            "answers_as": self.answers_as,
            "server": self.server,
        }
