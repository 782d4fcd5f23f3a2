"""Fingerprints of requests: whether a recorded reply answers what is asked now."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Final

from gram import Pattern
from lenses_ext.weak_cache import memo

from ...machine import Message, Request
from .conversation_pattern import message_in_short
from .nodes import node, pattern_line
from .pattern_parts import write_text

_LENGTH: Final = 16  # hexadecimal digits, which tell billions of requests apart


def fingerprint(request: Request) -> str:
    """The fingerprint of a request; each message and tool is written once, for all requests."""
    said = b"".join(map(_digest, request.messages))
    return sha256("\n".join(_lines(request)).encode() + said).hexdigest()[:_LENGTH]


def _lines(request: Request) -> Iterator[str]:
    """All but the conversation."""
    models = ", ".join(sorted(map(str, (request.model, *request.fallbacks))))
    told = {"model": models, "instruction": write_text(request.instruction)}
    yield pattern_line(node("Request", told))
    yield pattern_line(node("Settings", request.settings))
    patterns: tuple[Pattern, ...] = (request.answer,) if request.answer else ()
    yield from map(_line, (*request.tools, *patterns))


_line = memo(pattern_line)


@memo
def _digest(message: Message) -> bytes:
    return sha256(pattern_line(message_in_short(message)).encode()).digest()
