"""An effect as lines of text, to compare what is asked now with what was asked then."""

from __future__ import annotations

from collections.abc import Iterator

from gram import dumps, format_text

from ...machine import Ask, CallModel, Effect, Request
from .conversation_pattern import message_in_short


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
