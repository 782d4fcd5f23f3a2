"""Puts the chunks of a streamed reply together into a completion.

`reply_reading` reads it like any other: a reply is the same message, streamed or whole. Nothing
here does I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ...errors import ModelError
from ...json_text import Json
from ..failures import failed, reported_in
from ..reply_reading import json_text, reasoning_of, text_of, well_formed
from ..server_events import END, json_or_text
from ..wire import Piece, Reasoning

_TEXTS: Final = ("content", "refusal", "reasoning_content", "reasoning")
"""The fields whose pieces are joined."""


class StreamedReply:
    """The chunks of one reply so far.

    >>> reply = StreamedReply()
    >>> list(reply.add({"choices": [{"delta": {"content": "Hel"}}]}))
    ['Hel']
    >>> list(reply.add({"choices": [{"delta": {"content": "lo"}, "finish_reason": "stop"}]}))
    ['lo']
    >>> reply.whole()["choices"][0]["message"]["content"]
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
        self._model: Json = None

    def add(self, chunk: object) -> Iterator[Piece]:
        """Take one more chunk; returns what it adds to the words and to the reasoning.

        Raises:
            ModelError: The chunk reports an error, or it is not a chunk.
        """
        if chunk is END:
            self._is_done = True
            return iter(())
        if not isinstance(chunk, Mapping):
            raise ModelError("the model's stream has an event that is not a chunk")
        if reported := reported_in(chunk):
            raise reported
        self._usage = chunk.get("usage") or self._usage
        self._model = self._model or chunk.get("model")
        choices = chunk.get("choices")
        choice = self._choice_in(choices if isinstance(choices, list) else ())
        if choice is None:
            return iter(())  # the last chunk, which has the usage, has no choices
        if choice.get("error"):
            raise failed(choice["error"])
        self._finish = choice.get("finish_reason") or self._finish
        delta = choice.get("delta") or choice.get("message")  # some servers stream whole messages
        return iter(self._add_delta(delta) if isinstance(delta, Mapping) else ())

    def whole(self) -> dict[str, Json]:
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
        return {"model": self._model, "choices": [choice], "usage": self._usage}

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

    def _add_delta(self, delta: Mapping[str, Any]) -> list[Piece]:
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
        reasoning, words = reasoning_of(delta), text_of(delta.get("content"))
        if reasoning and not any(delta.get(key) for key in _TEXTS[2:]):  # it is in the content
            self._texts.setdefault("thinking", []).append(reasoning)
        pieces: list[Piece] = [Reasoning(well_formed(reasoning))] if reasoning else []
        return [*pieces, well_formed(words)] if words else pieces

    def _call_of(self, part: Mapping[str, Any]) -> _Call:
        """The call that a part belongs to: by its index, and by its id where that is missing.

        Some servers send several whole calls under one index, or without any. A new id tells them
        apart; without ids, a call is over when its arguments are whole and another has some.
        """
        id_, index = _id(part), part.get("index")
        index = index if type(index) is int else None
        if index is not None:
            known = self._by_index.get(index)
            if known and id_ and known.id != id_ and _has(part, "name"):
                known = self._by_id.get(id_)
        elif id_:
            known = self._by_id.get(id_)
        else:
            known = self._calls[-1] if self._calls else None
        if (
            known
            and not id_
            and _has(part, "name")
            and _has(part, "arguments")
            and known.is_whole()
        ):
            known = None
        return known or self._new_call(id_, index)

    def _new_call(self, id_: str | None, index: int | None) -> _Call:
        call = _Call(len(self._calls) if index is None else index)
        self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        if id_:
            self._by_id.setdefault(id_, call)
        return call


def ended_too_early() -> ModelError:
    """The error of a stream that ends before its reply does."""
    return ModelError("the stream ended before the reply was complete", retriable=True)


def _id(part: Mapping[str, Any]) -> str | None:
    """The id of a call; servers send anything as one."""
    id_ = part.get("id")
    return id_ if isinstance(id_, str) and id_ else None


def _has(part: Mapping[str, Any], what: str) -> bool:
    """Whether a part has a name, or arguments."""
    function = part.get("function")
    return isinstance(function, Mapping) and bool(function.get(what))


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

    def is_whole(self) -> bool:
        """Whether the arguments so far are a JSON object."""
        self._arguments = ["".join(self._arguments)]
        if not self._arguments[0].rstrip().endswith("}"):
            return False  # parsing all that came so far, with every part, takes long
        found, _ = json_or_text(self._arguments[0])
        return isinstance(found, Mapping)

    def as_json(self) -> dict[str, Json]:
        """The call as it is in a completion."""
        function = {"name": self._name, "arguments": "".join(self._arguments)}
        extra = {"extra_content": self._extra} if self._extra else {}
        return {"id": self.id, "type": "function", "function": function, **extra}
