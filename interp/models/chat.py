"""The JSON of requests in both dialects of Chat Completions, and replies that are streamed.

``tools`` is the current dialect (``tool_calls``, answered by role ``tool``); ``functions`` is the
older one (``function_call``, answered by role ``function``), which has one call a reply. A
streamed reply is put together into a completion, which `reply_reading` reads like any other.
Nothing here does I/O.
"""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

from attrs import evolve, frozen

from lenses_ext.language import wire_name
from lenses_ext.weak_cache import memo

from ..errors import ModelError
from ..json_text import Json, JsonText, json_or_text, write_json
from ..machine import AssistantRole, FunctionRole, Message, Request, ToolCall
from ..machine.contracts import function_definition_text, has_strict_form
from .attached_parts import PartOf, chat_part, no_part, no_part_in_functions, parts_of_result
from .failures import failed, reported_in
from .providers import CHAT_FIELDS, Dialect, not_taken
from .refusals import takes
from .reply_reading import ECHOED, Reply, json_text, read_reply, reasoning_of, text_of, well_formed
from .server_events import END
from .typed_answers import answer_asked
from .wire import Piece, Reasoning, Wire

_log = logging.getLogger("interp.model")


def joined(lists: Mapping[str, Iterable[str]], others: Mapping[str, Json]) -> bytes:
    """The JSON of an object: lists of texts that are JSON already, and other fields."""
    texts = [f'"{name}":[{",".join(each)}]' for name, each in lists.items() if name not in others]
    text = f"{{{','.join([*texts, dumped(others)[1:-1]])}}}"
    return text.encode(errors="replace")  # half a character cannot be sent


def _fields(
    request: Request, form: ChatCompletions
) -> tuple[Json, list[JsonText], dict[str, Json]]:
    """The first message, the tools as texts, and the fields of a body beside the two lists."""
    dialect, strict = form.dialect, form.dialect == "tools" and form.is_strict_for(request)
    others: dict[str, Json] = {"model": request.model.name}
    settings = request.settings.as_json()
    tools = [
        function_definition_text(tool, strict=strict and has_strict_form(tool))
        for tool in request.tools
    ]
    asked, words, answer = answer_asked(request, form.answers, form.answers_as)
    if asked is not None:
        others["response_format"] = asked
    if answer is not None:
        tools.append(write_json(answer))
    names = {**CHAT_FIELDS, "maxTokens": form.max_tokens}
    if tools:
        choice = tool_choice(request, answers_by_tool=len(tools) > len(request.tools))
        others |= _choice(tools, choice, dialect)
    if not tools or dialect == "functions":
        del names["parallelToolCalls"]  # refused where there are no tools
    if dialect == "functions":
        tools = [write_json(tool.value["function"]) for tool in tools]
    others |= {names[name]: value for name, value in settings.items() if name in names}
    tell_of_settings_left_out(settings, dialect)
    first = {"role": "system", "content": request.instruction + words}
    return first, tools, {**others, **settings.get("extraBody", {})}


def tell_of_settings_left_out(settings: Iterable[str], dialect: Dialect) -> None:
    """Log a warning for each setting that a dialect has no field for: it is not sent."""
    for name in not_taken(settings, dialect):
        _log.warning("the dialect %s has no field for the setting %s: left out", dialect, name)


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
    part_of = chat_part if dialect == "tools" else no_part_in_functions
    returned_part = part_of if with_files else no_part

    def texts(message: Message) -> tuple[str, str]:
        role = message.role
        if not isinstance(role, FunctionRole):
            return dumped(_encoded(message, dialect, server, part_of)), ""
        said, parts = parts_of_result(message, returned_part)
        result: dict[str, Json] = {"role": "tool", "tool_call_id": message.call_id}
        if dialect == "functions":
            result = {"role": "function", "name": wire_name(role.name)}
        if parts:  # the first says which call they are of
            call = f" (call {message.call_id})" if message.call_id else ""
            files = ", ".join(map(str, message.attachments))
            parts = [{"type": "text", "text": f"{role.name}{call} returned {files}:"}, *parts]
        return dumped({**result, "content": said}), ",".join(map(dumped, parts))

    return memo(texts)


def dumped(value: Json) -> str:
    """A value as JSON text without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def tool_choice(request: Request, *, answers_by_tool: bool) -> str | dict[str, Json]:
    """The tool choice of a request: a word, or the tool that has to be called.

    A call is demanded once for each message of the user: a model that had to call a tool in every
    reply could never answer, unless it answers by a tool. Then it has to call one each time.
    """
    choice = str(request.settings.get("toolChoice", "required" if answers_by_tool else "auto"))
    has_result = bool(request.messages) and isinstance(request.messages[-1].role, FunctionRole)
    if has_result and choice not in ("auto", "none"):
        choice = "required" if answers_by_tool else "auto"
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "name": wire_name(choice)}


def _choice(
    tools: list[JsonText], choice: str | dict[str, Json], dialect: Dialect
) -> dict[str, Json]:
    """The field that says which of the tools the model has to call."""
    named = None if isinstance(choice, str) else {"name": choice["name"]}
    if dialect == "tools":
        return {"tool_choice": {"type": "function", "function": named} if named else choice}
    if choice == "required":  # the older dialect has no word for it, except for a single function
        named = {"name": tools[0].value["function"]["name"]} if len(tools) == 1 else None
        choice = "auto"
    return {"function_call": named or choice}


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


def _encoded(
    message: Message, dialect: Dialect, server: str | None, part_of: PartOf
) -> dict[str, Json]:
    """The JSON of a message that is no result.

    Raises:
        ConfigurationError: a file that is attached to it cannot be sent in the dialect.
    """
    encoded: dict[str, Json] = {"role": message.role.name, "content": message.content}
    if message.attachments:
        said = {"type": "text", "text": message.content}
        encoded["content"] = [said, *map(part_of, message.attachments)]
    if message.refused:
        encoded |= {"content": None, "refusal": message.content}
    if message.tool_calls:
        encoded |= {"content": message.content or None, **_echoed(message.echo, server)}
        if dialect == "functions":
            encoded["function_call"] = _function(message.tool_calls[0])
        else:
            encoded["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": _function(call),
                    **_echoed(call.echo, server),
                }
                for call in message.tool_calls
            ]
    return encoded


def _function(call: ToolCall) -> dict[str, Json]:
    return {"name": wire_name(call.name), "arguments": arguments_sent(call)}


def arguments_sent(call: ToolCall) -> str:
    """The arguments of a call as its server gets them back: it refuses what is not an object."""
    is_object = isinstance(json_or_text(call.arguments), dict)
    return call.arguments if is_object else "{}"


def _echoed(echo: str | None, server: str | None) -> dict[str, Any]:
    """The fields that a server wants back, if it is the one that sent them."""
    fields = json_or_text(echo or "{}")
    if not isinstance(fields, dict) or fields.get("server") != server:
        return {}
    return {key: value for key, value in fields.items() if key in ECHOED}


@frozen(kw_only=True)
class ChatCompletions(Wire):
    """Chat Completions, as one server wants it.

    Attributes:
        dialect: The current dialect or the older one.
        max_tokens: The server's name for the setting ``maxTokens``.
    """

    path = "/chat/completions"

    dialect: Dialect = "tools"
    max_tokens: str = CHAT_FIELDS["maxTokens"]

    def content(self, request: Request, *, streaming: bool = False) -> bytes:
        """The bytes of a request, each message and tool encoded only once."""
        with_files = takes("files of tools", self.server, request.model)
        first, tools, others = _fields(request, self)
        if streaming:
            others |= {"stream": True, "stream_options": {"include_usage": True}}
        said = request.messages
        messages = _one_call_each(said) if self.dialect == "functions" else said
        texts = _texts(messages, _message_texts(self.dialect, self.server, with_files))
        lists: dict[str, Iterable[str]] = {"messages": [dumped(first), *texts]}
        if tools:
            lists[self.dialect] = tools
        return joined(lists, others)

    def read_as_it_is(self, reply: Json, request: Request) -> Reply:
        """Read a completion."""
        return read_reply(reply, request, server=self.server)

    def new_stream(self) -> StreamedReply:
        """Puts chunks together into a completion."""
        return StreamedReply()


def request_body(request: Request, dialect: Dialect = "tools") -> dict[str, Json]:
    """The JSON of a request in Chat Completions; `OpenAIModel.body` has that of one server.

    Args:
        request: What the model is asked.
        dialect: The current dialect, or the older one.

    Raises:
        ConfigurationError: A file that a user attached cannot be sent in the dialect.
    """
    return ChatCompletions(dialect=dialect).body(request)


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
        return isinstance(json_or_text(self._arguments[0]), Mapping)

    def as_json(self) -> dict[str, Json]:
        """The call as it is in a completion."""
        function = {"name": self._name, "arguments": "".join(self._arguments)}
        extra = {"extra_content": self._extra} if self._extra else {}
        return {"id": self.id, "type": "function", "function": function, **extra}
