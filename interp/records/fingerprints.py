"""Fingerprints of requests: whether a recorded reply answers what is asked now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

from gram import Pattern
from lenses_ext import Memo

from ..machine import Request
from ..messages import Message
from .nodes import pattern_line

_LENGTH = 16  # hexadecimal digits, which tell billions of requests apart


class Fingerprints:
    """Makes the fingerprints of the requests of one run.

    A conversation only grows within a run, so each message is read once.

    Args:
        redacted: hides keys; what is recorded is compared without them.
    """

    def __init__(self, redacted: Callable[[str], str] = str) -> None:
        self._redacted = redacted
        self._seen: dict[tuple[int, int], tuple[Message, bytes]] = {}
        self._asked: tuple[tuple[Any, ...], bytes] = (), b""

    def of(self, request: Request) -> str:
        """The fingerprint of a request."""
        return sha256(self._told(request) + self._said(request)).hexdigest()[:_LENGTH]

    def _told(self, request: Request) -> bytes:
        """The digest of all but the conversation, which is mostly that of the request before."""
        asked = (
            request.model,
            request.instruction,
            request.tools,
            request.answer,
            request.settings,
        )
        if asked != self._asked[0]:
            self._asked = asked, self._digest(b"", _told(request))
        return self._asked[1]

    def _said(self, request: Request) -> bytes:
        """The digest of the conversation: that of each message holds those before it."""
        messages, place = request.messages, len(request.messages)
        digest = b""
        while place:
            known = self._seen.get((place - 1, id(messages[place - 1])))
            if known is not None:
                digest = known[1]
                break
            place -= 1
        for index in range(place, len(messages)):
            message = messages[index]
            digest = self._digest(digest, _said(message))
            self._seen[index, id(message)] = message, digest
        return digest

    def _digest(self, before: bytes, parts: Iterator[str]) -> bytes:
        text = self._redacted("\0".join(parts))
        return sha256(before + text.encode(errors="surrogatepass")).digest()


def _told(request: Request) -> Iterator[str]:
    yield str(request.model)
    yield request.instruction
    yield from (f"{key}: {value!r}" for key, value in request.settings.items())
    yield from map(_line, request.tools)
    if request.answer is not None:
        yield _line(request.answer)


def _said(message: Message) -> Iterator[str]:
    yield f"{type(message.role).__name__}:{message.role.name}"
    yield message.content
    yield from (message.call_id or "", message.echo or "", "refused" if message.refused else "")
    for call in message.tool_calls:
        yield from (call.id, call.name, call.arguments, call.echo or "")


_line: Memo[Pattern, str] = Memo(pattern_line)
