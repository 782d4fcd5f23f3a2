"""The door: what comes into a run has no keys from here on, so nothing after it replaces any.

Everything that models, tools and people give passes it before it is folded: `event_without_keys`
for what an effect is answered with, `DeltasWithoutKeys` for the words that a model streams,
`progress_without_keys` for what a tool reports. What has no key stays as it is, byte for byte.

That holds for what a provider wants back with a reply (its *echo*), too: where a key is in it, the
key is replaced, although the provider may then refuse it. Opaque data, which is encrypted or
signed, has no key in it.
"""

from __future__ import annotations

from attrs import evolve

from ..files import File
from ..machine import At, CallFailed, Decided, Event, Message, ModelReplied, ToolCall, ToolReturned
from ..secrets import Keys, StreamWithoutKeys, without_keys
from .observations import Delta, ToolProgress


def event_without_keys(event: Event, keys: Keys | None) -> Event:
    """An event without keys; the exception of a failed call stays what the tool raised."""
    if keys is None:
        return event
    match event:
        case ModelReplied():
            return evolve(
                event,
                message=_message(event.message, keys),
                finish_reason=keys.without(event.finish_reason),
                served_model=keys.without(event.served_model),
                server=keys.without(event.server),
                reasoning=keys.without(event.reasoning),
                tried=tuple((model, keys.without(why)) for model, why in event.tried),
            )
        case ToolReturned():
            files = tuple(_file(each, keys) for each in event.files)
            return evolve(event, result=keys.without_in_json(event.result), files=files)
        case CallFailed():
            return evolve(event, error=keys.without(event.error))
        case Decided():
            return evolve(event, reason=keys.without(event.reason))
    return event  # it comes from the caller


def _message(message: Message, keys: Keys) -> Message:
    return evolve(
        message,
        content=keys.without_in_json(message.content),  # an answer of a type stays JSON
        tool_calls=tuple(_call(each, keys) for each in message.tool_calls),
        echo=_echo(message.echo, keys),
    )


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


def _call(call: ToolCall, keys: Keys) -> ToolCall:
    return ToolCall(
        keys.without(call.id),
        keys.without(call.name),
        keys.without_in_json(call.arguments),
        _echo(call.echo, keys),
    )


def _echo(echo: str | None, keys: Keys) -> str | None:
    return None if echo is None else keys.without_in_json(echo)


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
