"""Fingerprints of requests: whether a recorded reply answers what is asked now."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from pyrsistent import PMap, PVector

from gram import Value
from lenses_ext import memo

from ..machine import (
    CallModel,
    Effect,
    Message,
    Request,
)
from .nodes import pattern_line

_LENGTH = 16  # hexadecimal digits, which tell billions of requests apart


class Fingerprints:
    """Makes the fingerprints of the requests of one run.

    A conversation only grows within a run, so each message is read once. Several agents may have
    said the same message, each after others: it is known by the first and the one before it, too.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[int, ...], tuple[Message, bytes]] = {}
        self._asked: tuple[tuple[Any, ...], bytes] = (), b""
        self._last: tuple[Request | None, str] = None, ""

    def of(self, request: Request) -> str:
        """The fingerprint of a request."""
        if request is not self._last[0]:
            digest = sha256(self._told(request) + self._said(request))
            self._last = request, digest.hexdigest()[:_LENGTH]
        return self._last[1]

    def of_effect(self, effect: Effect) -> str:
        """What tells an effect from others."""
        if isinstance(effect, CallModel):
            return f"{effect.at} {self.of(effect.request)}"
        return f"{type(effect).__name__} {effect.at} {effect.name} {effect.arguments}"

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
            self._asked = asked, self._digest(b"", _told_of(request))
        return self._asked[1]

    def _said(self, request: Request) -> bytes:
        """The digest of the conversation: that of each message holds those before it."""
        messages, place = request.messages, len(request.messages)
        digest, first = b"", id(messages[0]) if messages else 0

        def key(index: int) -> tuple[int, ...]:
            return index, first, id(messages[max(index - 1, 0)]), id(messages[index])

        while place:
            known = self._seen.get(key(place - 1))
            if known is not None:
                digest = known[1]
                break
            place -= 1
        for index in range(place, len(messages)):
            message = messages[index]
            digest = self._digest(digest, _said_by(message))
            self._seen[key(index)] = message, digest
        return digest

    def _digest(self, before: bytes, parts: Iterator[str]) -> bytes:
        text = "\0".join(parts)
        return sha256(before + text.encode(errors="surrogatepass")).digest()


def _told_of(request: Request) -> Iterator[str]:
    yield str(request.model)
    yield request.instruction
    for key, value in sorted(request.settings.items()):
        yield f"{key}: {_shown(value)}"
    yield from map(_line, request.tools)
    if request.answer is not None:
        yield _line(request.answer)


def _said_by(message: Message) -> Iterator[str]:
    yield f"{type(message.role).__name__}:{message.role.name}"
    yield from (message.content, message.call_id or "", message.echo or "")
    yield "refused" if message.refused else ""
    for call in message.tool_calls:
        yield from (call.id, call.name, call.arguments, call.echo or "")


def _shown(value: Value) -> str:
    """The repr of a value; that of a map in the order of its keys."""
    match value:
        case PMap():
            parts = (f"{key!r}: {_shown(each)}" for key, each in sorted(value.items()))
            return f"pmap({{{', '.join(parts)}}})"
        case PVector():
            return f"pvector([{', '.join(map(_shown, value))}])"
    return repr(value)


_line = memo(pattern_line)
