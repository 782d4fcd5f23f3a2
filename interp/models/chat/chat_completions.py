"""Chat Completions as a dialect: the parts of this room, put together for one server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from ...json_text import Json
from ...machine import Request
from ..learned import takes
from ..providers import Dialect
from ..reply_reading import Reply, read_reply
from ..setting_fields import CHAT_FIELDS
from ..wire import Wire
from .request import request_content

if TYPE_CHECKING:
    from .stream import StreamedReply


@frozen(kw_only=True)
class ChatCompletions(Wire):
    """Chat Completions, as one server wants it.

    Attributes:
        dialect: The current dialect or the older one.
        max_tokens: The server's name for the setting ``maxTokens``.
    """

    path = "/chat/completions"

    dialect: Dialect = "tools"
    max_tokens: str = CHAT_FIELDS["maxTokens"]

    def content(self, request: Request, *, streaming: bool = False) -> bytes:
        """The bytes of a request."""
        with_files = takes("files of tools", self.server, request.model)
        return request_content(request, self, with_files=with_files, streaming=streaming)

    def read_as_it_is(self, reply: Json, request: Request) -> Reply:
        """Read a completion."""
        return read_reply(reply, request, server=self.server)

    def new_stream(self) -> StreamedReply:
        """Puts chunks together into a completion."""
        from .stream import StreamedReply  # imported late: most replies come whole

        return StreamedReply()


def request_body(request: Request, dialect: Dialect = "tools") -> dict[str, Json]:
    """The JSON of a request in Chat Completions; `OpenAIModel.body` has that of one server.

    Args:
        request: What the model is asked.
        dialect: The current dialect, or the older one.

    Raises:
        ConfigurationError: A file that a user attached cannot be sent in the dialect.
    """
    return ChatCompletions(dialect=dialect).body(request)
