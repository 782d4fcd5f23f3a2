"""A model for tests: it gives the replies it was made with, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from gram import expect

from ..errors import ModelError
from ..machine import Request
from .language_model import word_by_word


class ScriptedModel:
    """Replies given in advance.

    Args:
        replies: what to answer, in order: a `Message`, a str, a completion or message dict in
            either dialect, or an exception to raise.

    Attributes:
        requests: what was asked, in order.

    >>> model = ScriptedModel(["Hello."])
    >>> model.requests
    []
    """

    def __init__(self, replies: Iterable[Any]) -> None:
        expect(replies, Iterable, "replies", by="ScriptedModel")
        self._replies = deque(replies)
        self.requests: list[Request] = []

    def complete(self, request: Request) -> Any:
        """The next reply.

        Raises:
            ModelError: all replies have been given.
        """
        self.requests.append(request)
        if not self._replies:
            raise ModelError(f"the script has no reply number {len(self.requests)}")
        reply = self._replies.popleft()
        if isinstance(reply, BaseException):
            raise reply
        return reply

    async def acomplete(self, request: Request) -> Any:
        """The next reply; see `complete`."""
        return self.complete(request)

    def stream(self, request: Request) -> Iterator[Any]:
        """The next reply, word by word."""
        yield from word_by_word(self.complete(request))

    async def astream(self, request: Request) -> AsyncIterator[Any]:
        """The next reply, word by word."""
        for piece in word_by_word(self.complete(request)):
            yield piece
