"""Fingerprints of requests: whether a recorded reply answers what is asked now."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from gram import Pattern
from lenses_ext.weak_cache import memo

from ...machine import Message, Request
from .conversation_pattern import message_in_short
from .nodes import node, pattern_line
from .pattern_parts import write_text

_LENGTH = 16  # hexadecimal digits, which tell billions of requests apart


class Fingerprints:
    """Makes the fingerprints of the requests of one run.

    A conversation only grows within a run, so each message is read once. Several agents may have
    said the same message, each after others: it is known by the first and the one before it, too.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[int, ...], tuple[Message, bytes]] = {}
        self._asked: tuple[tuple[Any, ...], bytes] = (), b""

    def of(self, request: Request) -> str:
        """The fingerprint of a request."""
        return sha256(self._told(request) + self._said(request)).hexdigest()[:_LENGTH]

    def _told(self, request: Request) -> bytes:
        """The digest of all but the conversation, which is mostly that of the request before."""
        asked = (
            {request.model, *request.fallbacks},
            request.instruction,
            request.tools,
            request.answer,
            request.settings,
        )
        if asked != self._asked[0]:
            self._asked = asked, _digest(b"", "\n".join(_lines(request)))
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
            digest = _digest(digest, pattern_line(message_in_short(message)))
            self._seen[key(index)] = message, digest
        return digest


def _digest(before: bytes, text: str) -> bytes:
    return sha256(before + text.encode()).digest()


def _lines(request: Request) -> Iterator[str]:
    models = ", ".join(sorted(map(str, (request.model, *request.fallbacks))))
    told = {"model": models, "instruction": write_text(request.instruction)}
    yield pattern_line(node("Request", told))
    yield pattern_line(node("Settings", request.settings))
    patterns: tuple[Pattern, ...] = (request.answer,) if request.answer else ()
    yield from map(_line, (*request.tools, *patterns))


_line = memo(pattern_line)
