"""The JSON of requests in both dialects of Chat Completions, and replies that are streamed.

``tools`` is the current dialect (``tool_calls``, answered by role ``tool``); ``functions`` is the
older one (``function_call``, answered by role ``function``), which has one call a reply. A
streamed reply is put together into a completion, which `reply_reading` reads like any other.
Nothing here does I/O.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

from attrs import evolve, frozen

from lenses_ext.language import wire_name
from lenses_ext.weak_cache import memo

from ..json_text import Json, json_or_text
from ..machine import AssistantRole, FunctionRole, Message, Request, ToolCall
from . import wire
from .failures import failed, reported_in, takes
from .providers import CHAT_FIELDS, Dialect
from .reply_reading import ECHOED, json_text, read_reply, reasoning_of, text_of, well_formed

_Texts: TypeAlias = Callable[[Message], tuple[str, str]]
"""The JSON text of a message, and those of the parts of its files that follow the turn."""


def _texts(messages: Iterable[Message], texts_of: _Texts) -> Iterator[str]:
    """The JSON texts of messages: what tools returned follows the last result of their turn."""
    held: list[str] = []
    for message in (*messages, None):
        if held and (message is None or not isinstance(message.role, FunctionRole)):
            yield f'{{"role":"user","content":[{",".join(held)}]}}'
            held = []
        if message is not None:
            text, files = texts_of(message)
            yield text
            held += filter(None, (files,))


@lru_cache(maxsize=16)
def _message_texts(dialect: Dialect, server: str | None, with_files: bool) -> _Texts:
    """The JSON texts of messages, each kept as long as its message."""

    def texts(message: Message) -> tuple[str, str]:
        role = message.role
        if not isinstance(role, FunctionRole):
            return wire.dumped(_encoded(message, dialect, server)), ""
        said, parts = wire.parts_of_result(message, dialect, with_files)
        result: dict[str, Json] = {"role": "tool", "tool_call_id": message.call_id}
        if dialect == "functions":
            result = {"role": "function", "name": wire_name(role.name)}
        if parts:  # the first says which call they are of
            call = f" (call {message.call_id})" if message.call_id else ""
            files = ", ".join(map(str, message.attachments))
            parts = [{"type": "text", "text": f"{role.name}{call} returned {files}:"}, *parts]
        return wire.dumped({**result, "content": said}), ",".join(map(wire.dumped, parts))

    return memo(texts)


def _one_call_each(messages: Iterable[Message]) -> Iterator[Message]:
    """The same conversation with one call a reply, each followed by its result.

    The machine puts the results right after their calls and in the same order.
    """
    held: deque[Message] = deque()
    for message in messages:
        if len(message.tool_calls) > 1:
            first, *others = message.tool_calls
            yield evolve(message, tool_calls=(first,))
            held = deque(Message(AssistantRole, "", (call,)) for call in others)
            continue
        yield message
        if held and isinstance(message.role, FunctionRole):
            yield held.popleft()


def _encoded(message: Message, dialect: Dialect, server: str | None) -> dict[str, Json]:
    """The JSON of a message that is no result."""
    encoded: dict[str, Json] = {"role": message.role.name, "content": message.content}
    if message.attachments:
        said = {"type": "text", "text": message.content}
        encoded["content"] = [said, *(wire.part_of(file, dialect) for file in message.attachments)]
    if message.refused:
        encoded |= {"content": None, "refusal": message.content}
    if message.tool_calls:
        encoded |= {"content": message.content or None, **_echoed(message.echo, server)}
        if dialect == "functions":
            encoded["function_call"] = _function(message.tool_calls[0])
        else:
            encoded["tool_calls"] = [
                {"id": each.id, "type": "function", "function": _function(each)}
                | _echoed(each.echo, server)
                for each in message.tool_calls
            ]
    return encoded


def _function(call: ToolCall) -> dict[str, Json]:
    return {"name": wire_name(call.name), "arguments": wire.arguments_sent(call)}


def _echoed(echo: str | None, server: str | None) -> dict[str, Any]:
    """The fields that a server wants back, if it is the one that sent them."""
    fields = json_or_text(echo or "{}")
    if not isinstance(fields, dict) or fields.get("server") != server:
        return {}
    return {key: value for key, value in fields.items() if key in ECHOED}


_TEXTS: Final = ("content", "refusal", "reasoning_content", "reasoning")  # their pieces are joined


class StreamedReply(wire.StreamedPieces):
    """The chunks of one reply so far."""

    def __init__(self) -> None:
        self._texts: defaultdict[str, list[str]] = defaultdict(list)
        self._others: dict[str, Json] = {}
        self._calls: list[_Call] = []
        self._known: dict[int | str, _Call] = {}  # the calls by their indexes and ids
        self._function: _Call | None = None
        self._choice: Json = None
        self._finish: Json = None
        self._usage: Json = None
        self._model: Json = None

    def _pieces(self, event: Mapping[str, Any]) -> list[wire.Piece]:
        if reported := reported_in(event):
            raise reported
        self._usage = event.get("usage") or self._usage
        self._model = self._model or event.get("model")
        listed = event.get("choices")
        listed = listed if isinstance(listed, list) else []
        choices = [each for each in listed if isinstance(each, Mapping)]
        if choices and self._choice is None:  # of several replies at once, the one begun first
            self._choice = choices[0].get("index") or 0
        choice = next((each for each in choices if (each.get("index") or 0) == self._choice), None)
        if choice is None:
            return []  # the last chunk, which has the usage, has no choices
        if choice.get("error"):
            raise failed(choice["error"])
        self._finish = choice.get("finish_reason") or self._finish
        delta = choice.get("delta") or choice.get("message")  # some servers stream whole messages
        return self._add_delta(delta) if isinstance(delta, Mapping) else []

    def whole(self) -> dict[str, Json]:
        """The completion that the chunks are parts of."""
        if self._finish is None and not self.is_done:
            raise wire.ended_too_early()
        message: dict[str, Json] = {"role": "assistant", "content": None, **self._others}
        message |= {key: "".join(pieces) for key, pieces in self._texts.items()}
        if self._calls:
            calls = sorted(self._calls, key=lambda call: call.index)
            message["tool_calls"] = [call.as_json() for call in calls]
        if self._function:
            message["function_call"] = self._function.as_json()["function"]
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        return {"model": self._model, "choices": [choice], "usage": self._usage}

    def _add_delta(self, delta: Mapping[str, Any]) -> list[wire.Piece]:
        for key in _TEXTS:
            if text := text_of(delta.get(key)):
                self._texts[key].append(text)
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
            self._texts["thinking"].append(reasoning)
        pieces: list[wire.Piece] = [wire.Reasoning(well_formed(reasoning))] if reasoning else []
        return [*pieces, well_formed(words)] if words else pieces

    def _call_of(self, part: Mapping[str, Any]) -> _Call:
        """The call that a part belongs to: by its index, and by its id where that is missing.

        Some servers send several whole calls under one index, or without any. A new id tells them
        apart; without ids, a call is over when its arguments are whole and another has some.
        """
        id_, index, function = _id(part), part.get("index"), _function_in(part)
        index = index if type(index) is int else None
        if index is not None:
            known = self._known.get(index)
            if known and id_ and known.id != id_ and function.get("name"):
                known = self._known.get(id_)
        elif id_:
            known = self._known.get(id_)
        else:
            known = self._calls[-1] if self._calls else None
        is_begin = not id_ and function.get("name") and function.get("arguments")
        if known is None or (is_begin and known.is_whole()):
            known = _Call(len(self._calls) if index is None else index)
            self._calls.append(known)
            if index is not None:
                self._known[index] = known
            if id_:
                self._known.setdefault(id_, known)
        return known


def _id(part: Mapping[str, Any]) -> str | None:
    id_ = part.get("id")
    return id_ if isinstance(id_, str) and id_ else None


def _function_in(part: Mapping[str, Any]) -> Mapping[str, Any]:
    function = part.get("function")
    return function if isinstance(function, Mapping) else {}


class _Call:
    """The parts of one call so far."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.id: str | None = None
        self._name: Json = None
        self._arguments: list[str] = []
        self._extra: Json = None

    def add(self, part: Mapping[str, Any]) -> None:
        """Take a part: the first has the id and the name, later ones only arguments."""
        function = _function_in(part)
        self.id = self.id or _id(part)
        self._extra = part.get("extra_content") or self._extra
        self._name = self._name or function.get("name")
        if (given := function.get("arguments")) is not None:
            self._arguments.append(given if isinstance(given, str) else json_text(given))

    def is_whole(self) -> bool:
        """Whether the arguments so far are a JSON object."""
        self._arguments = ["".join(self._arguments)]
        if not self._arguments[0].rstrip().endswith("}"):
            return False  # parsing all that came so far, with every part, takes long
        return isinstance(json_or_text(self._arguments[0]), Mapping)

    def as_json(self) -> dict[str, Json]:
        """The call as it is in a completion."""
        function = {"name": self._name, "arguments": "".join(self._arguments)}
        extra = {"extra_content": self._extra} if self._extra else {}
        return {"id": self.id, "type": "function", "function": function, **extra}


@frozen(kw_only=True)
class ChatCompletions(wire.Wire):
    """Chat Completions, as one server wants it."""

    path = "/chat/completions"
    messages = "messages"
    reader = staticmethod(read_reply)
    new_stream = StreamedReply

    dialect: Dialect = "tools"
    fields: Mapping[str, str] = CHAT_FIELDS

    def texts(self, request: Request) -> list[str]:
        """The instruction, and the texts of the messages."""
        with_files = takes("files of tools", self.server, request.model)
        first = wire.dumped({"role": "system", "content": request.instruction})
        said = request.messages
        messages = _one_call_each(said) if self.dialect == "functions" else said
        return [first, *_texts(messages, _message_texts(self.dialect, self.server, with_files))]

    def beside(self, request: Request, asked: Json) -> dict[str, Json]:
        """The format of the answer."""
        return {"response_format": asked} if asked else {}


def request_body(request: Request, dialect: Dialect = "tools") -> dict[str, Json]:
    """The JSON of a request in Chat Completions; `OpenAIModel.body` has that of one server.

    Args:
        request: What the model is asked.
        dialect: The current dialect, or the older one.

    Raises:
        ConfigurationError: A file that a user attached cannot be sent in the dialect.
    """
    return ChatCompletions(dialect=dialect).body(request)
