"""A model for tests: it gives the replies it was made with, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from gram.errors import expect
from gram.plurals import counted

from ..errors import ModelError
from ..machine import Request
from .language_model import ModelWithoutNetwork


class ScriptedModel(ModelWithoutNetwork):
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

    def __repr__(self) -> str:
        asked = counted(len(self.requests), "request")
        return f"<ScriptedModel, {asked}, {counted(len(self._replies), 'reply', 'replies')} left>"

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
