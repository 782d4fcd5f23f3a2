"""Responses as a dialect: the parts of this room, put together for one server."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from attrs import frozen

from lenses_ext import Model

from ...errors import ModelError
from ...json_text import Json
from ...machine import Request
from ..reply_reading import Reply
from ..returned_files import are_sent, learn_refusal
from ..wire import Wire
from .reply import read_response
from .request import request_content

if TYPE_CHECKING:
    from .stream import StreamedResponse

_NO_ENCRYPTED: Final = re.compile(
    r"encrypted[ _]content|reasoning\.encrypted|not issued to this caller", re.IGNORECASE
)

_without_reasoning: Final[set[tuple[str, Model]]] = set()
"""The servers, by name and model, that refuse encrypted reasoning."""


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
            with_reasoning=self._takes_reasoning(request),
            with_files=are_sent(self.server, request.model),
            streaming=streaming,
        )

    def instead(self, error: ModelError, request: Request) -> bool:
        """Learn from a refusal: from now on this model is sent no encrypted reasoning, or no files
        of tools.
        """
        if learn_refusal(error, request, self.server):
            return True
        is_refused = error.status in (400, 404, 422) and bool(_NO_ENCRYPTED.search(str(error)))
        if not is_refused or not self._takes_reasoning(request):
            return False
        _without_reasoning.add((self.server, request.model))
        return True

    def read_as_it_is(self, reply: Json, request: Request) -> Reply:
        """Read a response."""
        return read_response(reply, request, server=self.server)

    def new_stream(self) -> StreamedResponse:
        """Puts events together into a response."""
        from .stream import StreamedResponse  # imported late: most replies come whole

        return StreamedResponse()

    def _takes_reasoning(self, request: Request) -> bool:
        return (self.server, request.model) not in _without_reasoning
