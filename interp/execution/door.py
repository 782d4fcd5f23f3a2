"""The door: what comes into a run has no keys from here on, so nothing after it replaces any.

Everything that models, tools and people give passes it before it is folded: `event_without_keys`
for what an effect is answered with, `DeltasWithoutKeys` for the words that a model streams,
`progress_without_keys` for what a tool reports. What has no key stays as it is, byte for byte.

That holds for what a provider wants back with a reply (its *echo*), too: where a key is in it, the
key is replaced, although the provider may then refuse it. Opaque data, which is encrypted or
signed, has no key in it.
"""

from __future__ import annotations

from typing import Any, Final

from attrs import evolve, fields

from ..files import File
from ..machine import At, CallFailed, Decided, Event, Message, ModelReplied, ToolCall, ToolReturned
from ..secrets import Keys, StreamWithoutKeys, without_keys
from .observations import Delta, ToolProgress


def event_without_keys(event: Event, keys: Keys | None) -> Event:
    """An event without keys; the exception of a failed call stays what the tool raised."""
    if keys is None or not isinstance(event, _COME_IN):
        return event
    clean: Event = _clean(event, keys)
    return clean


_COME_IN: Final = (ModelReplied, ToolReturned, CallFailed, Decided)
"""The events that come in; others come from the caller."""

_OURS: Final = ("at", "role")
"""Their parts that the program and the machine say."""


def _clean(value: Any, keys: Keys) -> Any:
    """A part of an event without keys; JSON stays JSON, such as arguments and typed answers."""
    match value:
        case str():
            return keys.without_in_json(value)
        case File():
            return _file(value, keys)
        case tuple():
            return tuple(_clean(each, keys) for each in value)
        case ModelReplied() | ToolReturned() | CallFailed() | Decided() | Message() | ToolCall():
            parts = (each for each in fields(type(value)) if each.name not in _OURS)
            return evolve(
                value, **{each.name: _clean(getattr(value, each.name), keys) for each in parts}
            )
    return value


def _file(file: File, keys: Keys) -> File:
    """A file without keys in its name, its address and its text, if it is one."""
    name = file.name and keys.without(file.name)
    if file.content is None:
        return File(keys.without(file.address or ""), name, file.media_type)
    try:
        content = keys.without(file.content.decode()).encode()
    except UnicodeDecodeError:
        content = file.content
    return File(content, name, file.media_type)


def progress_without_keys(progress: ToolProgress) -> ToolProgress:
    """How far a call is, without keys in what its tool says beside it."""
    return evolve(progress, message=without_keys(progress.message))


class DeltasWithoutKeys:
    """Replaces keys in streamed words; what may be the beginning of one is held back.

    The words of one kind at one position joined are those of the whole text without keys.
    """

    def __init__(self, keys: Keys | None) -> None:
        self._keys = keys
        self._streams: dict[tuple[type[Delta], At], StreamWithoutKeys] = {}

    def take(self, delta: Delta) -> list[Delta]:
        """What can be shown now; nothing if all of it is held back."""
        stream = self._streams.setdefault((type(delta), delta.at), StreamWithoutKeys(self._keys))
        text = stream.feed(delta.text)
        return [evolve(delta, text=text)] if text else []

    def rest(self) -> list[Delta]:
        """What was held back, once the replies are whole."""
        found = [kind(at, stream.rest()) for (kind, at), stream in self._streams.items()]
        self._streams.clear()
        return [each for each in found if each.text]
