"""Reads streamed replies: the bytes of server-sent events, and the chunks that they carry.

`EventReader` takes bytes and gives the JSON of the events, by the rules of the HTML standard
(section 9.2, Server-sent events) and a few that servers break. `StreamedReply` puts the chunks
together into a completion, which `reply_reading` reads like any other: a reply is the same
message, streamed or whole. Nothing here does I/O.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from ..errors import ModelError
from ..json_text import Json, parse_json
from ..redaction import redact_error
from .failures import failed, quoted
from .reply_reading import Reply, json_text, text_of, well_formed

END: Final = object()
"""The event ``[DONE]``: the reply is complete."""

_LINE_END: Final = re.compile(rb"\r\n|\r|\n")

_TEXTS: Final = ("content", "refusal", "reasoning_content", "reasoning")
"""The fields whose pieces are joined."""


class EventReader:
    """Reads server-sent events from bytes, wherever these are cut.

    >>> reader = EventReader()
    >>> list(reader.feed(b'data: {"a"'))
    []
    >>> list(reader.feed(b': 1}\\n'))
    [{'a': 1}]
    """

    def __init__(self) -> None:
        self._line = bytearray()
        self._after_cr = False
        self._data: list[str] = []
        self._is_error = False

    def feed(self, data: bytes) -> Iterator[Json]:
        """The events that are complete now: JSON values, or `END`.

        Raises:
            ModelError: The server reports an error, or sends what is not JSON.
        """
        if not data:
            return
        begins = 1 if self._after_cr and data.startswith(b"\n") else 0  # a line end cut in two
        self._after_cr = data.endswith(b"\r")
        *lines, rest = _LINE_END.split(data[begins:])
        for line in lines:
            self._line += line
            whole, self._line = bytes(self._line), bytearray()
            yield from self._take(whole.decode("utf-8", "replace").removeprefix("\ufeff"))
        self._line += rest

    def rest(self) -> Iterator[Json]:
        """The events in a last line without a line end, once no more bytes come."""
        yield from self.feed(b"\n\n")

    def _take(self, line: str) -> Iterator[Json]:
        if not line:
            yield from self._event()
            self._is_error = False
            return
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line.startswith("{"):  # an error outside of any event
            field, value = "data", line
        if field == "event":
            self._is_error = value == "error"
        elif field == "error":
            raise failed(_json_or_text(value)[0])
        elif field == "data" and value.strip() == "[DONE]":
            yield from self._event()
            yield END
        elif field == "data" and value.strip():
            self._data.append(value)
            if len(self._data) == 1:  # most events are one line; some servers omit the blank after
                yield from self._event(or_wait=True)

    def _event(self, *, or_wait: bool = False) -> Iterator[Json]:
        """The event that the lines so far make up; ``or_wait`` leaves it where it is not JSON."""
        if not self._data:
            return
        found, problem = _json_or_text("\n".join(self._data))
        if problem and or_wait:
            return
        self._data = []
        if problem and not self._is_error:
            raise ModelError(redact_error(f"the stream has an event that is not JSON: {problem}"))
        says_so = isinstance(found, Mapping) and found.get("error")
        yield {"error": found} if self._is_error and not says_so else found


def _json_or_text(text: str) -> tuple[Json, str]:
    """The value of a JSON text and ``""``, or the text itself and why it is not JSON."""
    try:
        return parse_json(text), ""
    except ValueError as error:
        return text, str(error)


class StreamedReply:
    """The chunks of one reply so far.

    >>> reply = StreamedReply()
    >>> reply.add({"choices": [{"delta": {"content": "Hel"}}]})
    'Hel'
    >>> reply.add({"choices": [{"delta": {"content": "lo"}, "finish_reason": "stop"}]})
    'lo'
    >>> reply.completion()["choices"][0]["message"]["content"]
    'Hello'
    """

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._others: dict[str, Json] = {}
        self._calls: list[_Call] = []
        self._function: _Call | None = None
        self._by_index: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._choice: Json = None
        self._is_done = False
        self._finish: str | None = None
        self._usage: Json = None

    def add(self, chunk: object) -> str:
        """Take one more chunk; returns the piece of the answer's text in it, often ``""``.

        Raises:
            ModelError: The chunk reports an error, or it is not a chunk.
        """
        if chunk is END:
            self._is_done = True
            return ""
        if not isinstance(chunk, Mapping):
            raise ModelError("the model's stream has an event that is not a chunk")
        if chunk.get("error"):
            raise failed(chunk["error"])
        self._usage = chunk.get("usage") or self._usage
        choices = chunk.get("choices")
        choice = self._choice_in(choices if isinstance(choices, list) else ())
        if choice is None:
            return ""  # the last chunk, which has the usage, has no choices
        if choice.get("error"):
            raise failed(choice["error"])
        self._finish = choice.get("finish_reason") or self._finish
        delta = choice.get("delta") or choice.get("message")  # some servers stream whole messages
        return self._add_delta(delta) if isinstance(delta, Mapping) else ""

    def completion(self) -> dict[str, Json]:
        """The completion that the chunks are parts of.

        Raises:
            ModelError: The stream ended too early, so nothing in it can be relied on.
        """
        if self._finish is None and not self._is_done:
            raise ended_too_early()
        message: dict[str, Json] = {"role": "assistant", "content": None, **self._others}
        message |= {key: "".join(pieces) for key, pieces in self._texts.items()}
        if self._calls:
            calls = sorted(self._calls, key=lambda call: call.index)
            message["tool_calls"] = [call.as_json() for call in calls]
        if self._function:
            message["function_call"] = self._function.as_json()["function"]
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        return {"choices": [choice], "usage": self._usage}

    def _choice_in(self, choices: Iterable[object]) -> Mapping[str, Any] | None:
        """The part of the reply in a chunk; of several replies at once, the one begun first."""
        for choice in choices:
            if isinstance(choice, Mapping):
                index = choice.get("index") or 0
                if self._choice is None:
                    self._choice = index
                if index == self._choice:
                    return choice
        return None

    def _add_delta(self, delta: Mapping[str, Any]) -> str:
        for key in _TEXTS:
            if text := text_of(delta.get(key)):
                self._texts.setdefault(key, []).append(text)
        if isinstance(details := delta.get("reasoning_details"), list):
            self._others.setdefault("reasoning_details", []).extend(details)
        for key in ("role", "extra_content"):
            if delta.get(key):
                self._others[key] = delta[key]
        listed = delta.get("tool_calls")
        for part in listed if isinstance(listed, list) else ():
            if isinstance(part, Mapping):
                self._call_of(part).add(part)
        if isinstance(delta.get("function_call"), Mapping):
            self._function = self._function or _Call(0)
            self._function.add({"function": delta["function_call"]})
        return well_formed(text_of(delta.get("content")))

    def _call_of(self, part: Mapping[str, Any]) -> _Call:
        """The call that a part belongs to: by its index, and by its id where that is missing.

        Some servers send several whole calls under one index; a new id tells them apart.
        """
        id_, index = _id(part), _index(part)
        if index is not None:
            known = self._by_index.get(index)
            if known and id_ and known.id != id_ and _names_a_function(part):
                known = self._by_id.get(id_)
        elif id_:
            known = self._by_id.get(id_)
        else:
            known = self._calls[-1] if self._calls else None
        return known or self._new_call(id_, index)

    def _new_call(self, id_: str | None, index: int | None) -> _Call:
        call = _Call(len(self._calls) if index is None else index)
        self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        if id_:
            self._by_id.setdefault(id_, call)
        return call


class IncomingReply:
    """A reply as it comes in, as a stream or whole; some servers send it whole all the same.

    Args:
        headers: The headers of the response.
        read: Reads the completion.
        streaming: Whether a stream was asked for.

    Attributes:
        has_begun: A part of the reply has come.
        is_complete: All of it has come.
    """

    def __init__(
        self, headers: Mapping[str, str], read: Callable[[Json], Reply], *, streaming: bool
    ) -> None:
        self.has_begun = self.is_complete = False
        self._read = read
        kind = headers.get("content-type", "")
        self._is_whole: bool | None = None  # until the first bytes tell
        if not streaming or kind.startswith(("application/json", "text/html")):
            self._is_whole = True
        elif kind.startswith("text/event-stream"):
            self._is_whole = False
        self._body = bytearray()
        self._events = EventReader()
        self._chunks = StreamedReply()
        self._words: list[str] = []
        self._reply: Reply | None = None

    def take(self, piece: bytes | None) -> None:
        """Take the next bytes of the reply; None is the end of them.

        Raises:
            ModelError: They report an error, are not a reply, or end too early.
        """
        if self._is_whole is None and piece and piece.strip():
            self._is_whole = piece.lstrip().startswith(b"{")
        if not self._is_whole:
            self._take_events(piece)
        elif piece is not None:
            self._body += piece
        else:
            self._reply = self._read(completion_in(bytes(self._body)))
            self.has_begun = self.is_complete = True

    def _take_events(self, piece: bytes | None) -> None:
        for event in self._events.rest() if piece is None else self._events.feed(piece):
            if words := self._chunks.add(event):
                self._words.append(words)
            self.has_begun = True
            self.is_complete = self.is_complete or event is END
        if piece is None:
            if not self.has_begun:
                raise ended_too_early()
            self.is_complete = True

    def words(self) -> list[str]:
        """The words that have come since this was asked."""
        words, self._words = self._words, []
        return words

    def reply(self) -> Reply:
        """The whole reply."""
        return self._reply or self._read(self._chunks.completion())


def completion_in(body: bytes) -> Json:
    """The completion in the body of a response.

    Raises:
        ModelError: It is neither JSON nor a whole stream, or reports an error.
    """
    text = body.decode("utf-8-sig", "replace")
    if text.lstrip().startswith(("data:", "event:", ":")):  # a server that always streams
        events, reply = EventReader(), StreamedReply()
        for event in (*events.feed(body), *events.rest()):
            reply.add(event)
        return reply.completion()
    found, problem = _json_or_text(text)
    if problem:
        raise ModelError(redact_error(f"the reply is not JSON ({problem}): {quoted(text)}"))
    if isinstance(found, dict) and found.get("error"):
        raise failed(found["error"])
    return found


def ended_too_early() -> ModelError:
    """The error of a stream that ends before its reply does."""
    return ModelError("the stream ended before the reply was complete", retriable=True)


def _id(part: Mapping[str, Any]) -> str | None:
    """The id of a call; servers send anything as one."""
    id_ = part.get("id")
    return id_ if isinstance(id_, str) and id_ else None


def _index(part: Mapping[str, Any]) -> int | None:
    index = part.get("index")
    return index if type(index) is int else None


def _names_a_function(part: Mapping[str, Any]) -> bool:
    function = part.get("function")
    return isinstance(function, Mapping) and bool(function.get("name"))


class _Call:
    """The parts of one call so far."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.id: str | None = None
        self._name: str | None = None
        self._arguments: list[str] = []
        self._extra: Json = None

    def add(self, part: Mapping[str, Any]) -> None:
        """Take a part: the first has the id and the name, later ones only arguments."""
        self.id = self.id or _id(part)
        self._extra = part.get("extra_content") or self._extra
        function = part.get("function")
        if not isinstance(function, Mapping):
            return
        self._name = self._name or function.get("name")
        arguments = function.get("arguments")
        if arguments is not None:
            self._arguments.append(
                arguments if isinstance(arguments, str) else json_text(arguments)
            )

    def as_json(self) -> dict[str, Json]:
        """The call as it is in a completion."""
        function = {"name": self._name, "arguments": "".join(self._arguments)}
        extra = {"extra_content": self._extra} if self._extra else {}
        return {"id": self.id, "type": "function", "function": function, **extra}
