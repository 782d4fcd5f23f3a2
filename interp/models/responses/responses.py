"""Responses as a dialect: the parts of this room, put together for one server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from ...json_text import Json
from ...machine import Request
from ..learned import takes
from ..reply_reading import Reply
from ..wire import Wire
from .reply import read_response
from .request import request_content

if TYPE_CHECKING:
    from .stream import StreamedResponse


@frozen(kw_only=True)
class Responses(Wire):
    """The Responses API, as one server wants it."""

    path = "/responses"

    server: str

    def content(self, request: Request, *, streaming: bool = False) -> bytes:
        """The bytes of a request."""
        return request_content(
            request,
            self,
            with_reasoning=takes("encrypted reasoning", self.server, request.model),
            with_files=takes("files of tools", self.server, request.model),
            streaming=streaming,
        )

    def read_as_it_is(self, reply: Json, request: Request) -> Reply:
        """Read a response."""
        return read_response(reply, request, server=self.server)

    def new_stream(self) -> StreamedResponse:
        """Puts events together into a response."""
        from .stream import StreamedResponse  # imported late: most replies come whole

        return StreamedResponse()
