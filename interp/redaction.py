"""Keeps keys out of what is shown, logged and saved.

A key is known when it stands in the environment, in a variable of a provider's row or in one
named ``…_API_KEY``. It is replaced wherever it occurs, as it is and as JSON writes it, and so is
what follows ``Authorization``, and a password within an address.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from attrs import evolve

if TYPE_CHECKING:
    from .messages import ConversationContext, Message

REDACTED = "[redacted]"

_SHORTEST = 8
"""A shorter value is no secret, and replacing it would garble words: servers on localhost get
keys such as ``none``."""

_AUTHORIZATION = re.compile(
    r"(authorization[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic)\s+)?|\bbearer\s+)"
    r"[A-Za-z0-9._~+/=\-]{8,}",
    re.IGNORECASE,
)
_PASSWORD = re.compile(r"(\b[a-z][a-z0-9+.\-]{0,20}://)[^/@\s\"']+@", re.IGNORECASE)


def known_keys() -> tuple[str, ...]:
    """The keys in the environment, the longest first."""
    from .providers import key_variables

    named = {name for name in os.environ if name.upper().endswith("_API_KEY")}
    values = {os.environ.get(name, "").strip() for name in named | key_variables()}
    return tuple(sorted((each for each in values if len(each) >= _SHORTEST), key=_longest_first))


def redact(text: str) -> str:
    """A text with every known key, authorization and password in it replaced.

    >>> redact("Authorization: Bearer abcdefgh1234")
    'Authorization: Bearer [redacted]'
    """
    return _redacted(text, known_keys())


class RedactedStream:
    """Redacts a text that comes in pieces: wherever it is cut, no key is given out.

    Joined, what it gives is what `redact` makes of the whole. Where a secret runs into another
    word the two may differ, in nothing that is secret.
    """

    def __init__(self) -> None:
        self._keys = known_keys()
        self._longest = max((len(s) for key in self._keys for s in _spellings(key)), default=0)
        self._held = ""

    def feed(self, text: str) -> str:
        """What can be shown now that ``text`` has come."""
        self._held += text
        if not text.strip(_VISIBLE):
            return ""  # it only makes the last word longer
        text = self._held
        end = min(_start_of_last_word(text), len(text) - self._longest)
        ready = _start_of_context(text[: max(end, 0)])
        secrets = list(_secrets(text, self._keys))
        while across := [start for start, end in secrets if start < ready < end]:
            ready = min(across)
        self._held = text[ready:]
        return _redacted(text[:ready], self._keys)

    def rest(self) -> str:
        """What was held back, once no more comes."""
        held, self._held = self._held, ""
        return _redacted(held, self._keys)


_VISIBLE = "".join(map(chr, range(ord("!"), ord("~") + 1)))  # what tokens are made of
_WORDS_BEFORE = 3  # `authorization`, `:` and `bearer` may stand before a token


def _start_of_last_word(text: str) -> int:
    """Where the unfinished word at the end begins: with an address in it, after a blank."""
    word = text.split()[-1] if text and not text[-1].isspace() else ""
    return len(text) - len(word) if "://" in word else len(text.rstrip(_VISIBLE))


def _start_of_context(text: str) -> int:
    """Where the last words begin, with the character before them: they tell of the next one."""
    for _ in range(_WORDS_BEFORE):
        text = text.rstrip().rstrip(_VISIBLE)
    return max(len(text) - 1, 0)


def redacted_context(context: ConversationContext) -> ConversationContext:
    """A conversation with its texts redacted; the same object when there was nothing to do."""
    from .messages import ConversationContext

    keys = known_keys()
    messages = [_redacted_message(message, keys) for message in context]
    if all(new is old for new, old in zip(messages, context, strict=True)):
        return context
    return ConversationContext(messages)


def _redacted_message(message: Message, keys: Iterable[str]) -> Message:
    from .messages import FunctionRole, ToolCall

    role = message.role
    if isinstance(role, FunctionRole):
        role = FunctionRole(_redacted(role.name, keys))

    def redacted(text: str) -> str:
        return _redacted(text, keys)

    def redacted_if_any(text: str | None) -> str | None:
        return None if text is None else redacted(text)

    new = evolve(
        message,
        role=role,
        content=redacted(message.content),
        call_id=redacted_if_any(message.call_id),
        echo=redacted_if_any(message.echo),
        tool_calls=tuple(
            ToolCall(
                redacted(call.id),
                redacted(call.name),
                redacted(call.arguments),
                redacted_if_any(call.echo),
            )
            for call in message.tool_calls
        ),
    )
    return message if new == message else new


def _secrets(text: str, keys: Iterable[str]) -> Iterator[tuple[int, int]]:
    """The places of all that is redacted in a text."""
    known = (re.escape(spelling) for key in keys for spelling in _spellings(key))
    for pattern in (*map(re.compile, known), _AUTHORIZATION, _PASSWORD):
        yield from (match.span() for match in pattern.finditer(text))


def _redacted(text: str, keys: Iterable[str]) -> str:
    for key in keys:
        for spelling in _spellings(key):
            text = text.replace(spelling, REDACTED)
    text = _AUTHORIZATION.sub(rf"\1{REDACTED}", text)
    return _PASSWORD.sub(rf"\1{REDACTED}@", text)


def _spellings(key: str) -> tuple[str, ...]:
    """A key as it is, and as JSON writes it."""
    return key, json.dumps(key)[1:-1], json.dumps(key, ensure_ascii=False)[1:-1]


def _longest_first(key: str) -> tuple[int, str]:
    """A key that contains another is replaced before it."""
    return -len(key), key
