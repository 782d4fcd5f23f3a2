"""Chat Completions in both of its dialects: what is sent for a request, how replies are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from ..errors import ModelError
from ..json_text import Json
from ..machine import Request
from .providers import AnswerFormat, AnswerMode, Dialect
from .reply_reading import Reply, answered_by_tool, read_reply
from .request_json import request_body, request_content
from .returned_files import are_sent, learn_refusal

if TYPE_CHECKING:
    from .stream_reading import StreamedReply


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

    def instead(self, error: ModelError, request: Request) -> bool:
        """Learn from a refusal: from now on this model is sent no files of tools."""
        return learn_refusal(error, request, self.server)

    def read(self, reply: Json, request: Request) -> Reply:
        """Read a completion."""
        found = read_reply(reply, request, server=self.server)
        return answered_by_tool(found, request) if self.answers == "as_tool" else found

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
            "with_files": are_sent(self.server, request.model),
        }
