"""Fingerprints of requests: whether a recorded reply answers what is asked now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from typing import Any

from attrs import evolve
from pyrsistent import PMap, PVector

from gram import Pattern, Value
from lenses_ext import memo, tool_spec_name, view

from ..machine import (
    AssistantRole,
    CallModel,
    Effect,
    Event,
    FunctionRole,
    Message,
    ModelReplied,
    Request,
    ToolEffect,
)
from ..redaction import redacted_json, redactor
from .nodes import pattern_line
from .redacting import redacted_model, redacted_pattern, redacted_settings

_LENGTH = 16  # hexadecimal digits, which tell billions of requests apart


class Fingerprints:
    """Makes the fingerprints of the requests of one run.

    A conversation only grows within a run, so each message is read once. Several agents may have
    said the same message, each after others: it is known by the first and the one before it, too.

    Args:
        redacted: hides keys; what is recorded is compared without them.
    """

    def __init__(self, redacted: Callable[[str], str] = str) -> None:
        self._redacted = redacted
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
        redact = self._redacted
        at = effect.at  # which has the names of nodes
        if redact is not str:
            at = tuple(redact(each) if isinstance(each, str) else each for each in at)
        if isinstance(effect, CallModel):
            return f"{at} {self.of(effect.request)}"
        arguments = self.of_json(effect.arguments)
        return f"{type(effect).__name__} {at} {redact(effect.name)} {arguments}"

    def of_json(self, text: str) -> str:
        """A text of JSON as it is compared: without keys."""
        return redacted_json(text, self._redacted)

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
            self._asked = asked, self._digest(b"", self._told_of(request))
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
            digest = self._digest(digest, self._said_by(message))
            self._seen[key(index)] = message, digest
        return digest

    def _digest(self, before: bytes, parts: Iterator[str]) -> bytes:
        text = "\0".join(parts)
        return sha256(before + text.encode(errors="surrogatepass")).digest()

    def _told_of(self, request: Request) -> Iterator[str]:
        redact = self._redacted
        yield redacted_model(str(request.model), redact)
        yield redact(request.instruction)
        for key, value in sorted(redacted_settings(request.settings, redact).items()):
            yield f"{key}: {_shown(value)}"
        yield from map(self._line, request.tools)
        if request.answer is not None:
            yield self._line(request.answer)

    def _said_by(self, message: Message) -> Iterator[str]:
        redact = self._redacted
        is_json = message.role is AssistantRole or (
            message.content.startswith(("{", "[")) and isinstance(message.role, FunctionRole)
        )
        yield redact(f"{type(message.role).__name__}:{message.role.name}")
        yield redacted_json(message.content, redact) if is_json else redact(message.content)
        yield redact(message.call_id or "")
        yield redacted_json(message.echo or "", redact)
        yield "refused" if message.refused else ""
        for call in message.tool_calls:
            yield from (redact(call.id), redact(call.name))
            yield redacted_json(call.arguments, redact)
            yield redacted_json(call.echo or "", redact)

    def _line(self, pattern: Pattern) -> str:
        if self._redacted is str:
            return _line(pattern)
        return pattern_line(redacted_pattern(pattern, self._redacted))


def asks_the_same(recorded: Effect, now: Effect) -> bool:
    """Whether an effect is a recorded one, in which keys were replaced.

    Args:
        recorded: the effect of a recorded run.
        now: the effect.
    """
    if recorded == now:
        return True
    redact = redactor()
    if redact is str or type(recorded) is not type(now) or recorded.at != now.at:
        return False
    if isinstance(recorded, CallModel) and isinstance(now, CallModel):
        said = Fingerprints(redact)
        return said.of(recorded.request) == said.of(now.request)
    assert isinstance(recorded, ToolEffect)
    assert isinstance(now, ToolEffect)
    arguments = redacted_json(now.arguments, redact)
    return recorded == evolve(now, name=redact(now.name), arguments=arguments)


def named_as_asked(event: Event, effect: Effect) -> Event:
    """A recorded event with the names of tools that it lost because keys were in them.

    Args:
        event: the recorded event.
        effect: what it answers now.
    """
    redact = redactor()
    if redact is str or not isinstance(event, ModelReplied) or not isinstance(effect, CallModel):
        return event
    names = {
        redact(name): name for name in map(partial(view, tool_spec_name), effect.request.tools)
    }
    calls = [
        evolve(each, name=names.get(each.name, each.name)) for each in event.message.tool_calls
    ]
    return evolve(event, message=evolve(event.message, tool_calls=calls)) if calls else event


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
