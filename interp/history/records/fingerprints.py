"""Fingerprints of requests: whether a recorded reply answers what is asked now."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Final

from gram import Pattern, dumps, format_text
from lenses_ext.weak_cache import memo

from ...machine import Ask, CallModel, Effect, Message, Request
from .conversation_pattern import message_in_short
from .pattern_parts import node, pattern_line, write_text

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


def effect_lines(effect: Effect) -> list[str]:
    """What an effect asks for, a line for each part."""
    if isinstance(effect, CallModel):
        return list(_request_lines(effect.request))
    asked = "may it run" if isinstance(effect, Ask) else "run"
    return [f"{asked}: {effect.name}", f"arguments: {effect.arguments}"]


def _request_lines(request: Request) -> Iterator[str]:
    yield f"model: {request.model}"
    for key, value in request.settings.items():
        yield f"{key}: {value!r}"
    yield from (f"instruction: {line}" for line in request.instruction.splitlines())
    patterns = [*request.tools, *([request.answer] if request.answer else [])]
    for pattern in (*patterns, *map(message_in_short, request.messages)):
        yield from format_text(dumps(pattern)).splitlines()
