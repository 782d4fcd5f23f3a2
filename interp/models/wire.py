"""What a dialect is: how requests are written and replies are read, whole and streamed."""

from __future__ import annotations

import json
import logging
import re
from abc import ABC, abstractmethod
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, ClassVar, Final, TypeAlias, Union

from attrs import evolve, frozen

from gram import Pattern
from gram.errors import expect
from lenses_ext import answer_schema, result_schema, tool_spec_name, view
from lenses_ext.language import wire_name
from lenses_ext.weak_cache import memo

from ..errors import ConfigurationError, ModelError, ValidationError
from ..files import File, is_address
from ..json_text import Json, json_or_text, read_json, write_json
from ..machine import FunctionRole, Message, Request, ToolCall, contracts
from .providers import AnswerFormat, AnswerMode, Dialect, not_taken
from .reply_reading import Reply, read_reply, words_of
from .server_events import END

_log = logging.getLogger("interp.model")


@frozen
class Reasoning:
    """A piece of what a model shows of its reasoning, or of a summary of it.

    Models' ``stream`` and ``astream`` may yield it beside the words of the answer, each a str.
    """

    text: str


Piece: TypeAlias = Union[str, Reasoning]
"""A piece of a streamed reply: words of the answer, or of the reasoning that led to it."""


@frozen(kw_only=True)
class Wire(ABC):
    """How requests and replies are written in one dialect, as one server wants it."""

    path: ClassVar[str]  # where requests are sent, after the address of the server
    messages: ClassVar[str]  # the field that has the conversation
    reader: ClassVar[Callable[..., Reply]]
    new_stream: ClassVar[type[StreamedPieces]]

    dialect: Dialect
    fields: Mapping[str, str]  # of the settings; a dot is before a field of a field
    not_taken: frozenset[str] = frozenset()  # settings that are left out
    answers: AnswerMode = "with_tools"
    answers_as: AnswerFormat = "json_schema"
    is_strict: bool = False  # what ``strictTools: "auto"`` means
    server: str | None = None  # to which alone what it sent to be returned is sent

    def body(self, request: Request) -> dict[str, Json]:
        """The JSON that is sent for a request, as fresh values."""
        body: dict[str, Json] = json.loads(self.content(request))
        return body

    def content(self, request: Request, *, streaming: bool = False) -> bytes:
        """The same as bytes: each message and tool is encoded only once."""
        expect(request, Request, "request", by="a model")
        settings = self._settings(request)
        asked, words, answer = answer_asked(request, self.answers, self.answers_as)
        request = evolve(request, instruction=request.instruction + words)
        strict = settings.get("strictTools")
        is_strict = strict == "on" or (strict == "auto" and self.is_strict)
        tools = [*map(_tool_texts(self.dialect, is_strict), request.tools)]
        if answer is not None:
            tools.append(dumped(_as_tool(answer, self.dialect)))
        others = {"model": request.model.name, **self.beside(request, asked)}
        if tools:
            least = "auto" if answer is None else "required"
            choice = str(settings.get("toolChoice", least))
            others |= _choice(request, self.dialect, tools, choice, least)
        if not tools or self.dialect == "functions":
            settings.pop("parallelToolCalls", None)  # it is refused without tools
        for name, value in settings.items():
            if name in self.fields:
                *outer, field = self.fields[name].split(".")
                place = others
                for each in outer:
                    place = place.setdefault(each, {})
                place[field] = value
        others |= settings.get("extraBody", {})
        if streaming:
            others["stream"] = True
            if self.dialect != "responses":
                others["stream_options"] = {"include_usage": True}
        lists = {self.messages: self.texts(request)}
        if tools:
            lists["functions" if self.dialect == "functions" else "tools"] = tools
        written = (f'"{name}":[{",".join(each)}]' for name, each in lists.items())
        text = f"{{{','.join([*written, dumped(others)[1:-1]])}}}"
        return text.encode(errors="replace")  # half a character cannot be sent

    def _settings(self, request: Request) -> dict[str, Json]:
        """The settings of a request; of what is left out, a warning tells."""
        settings = request.settings.as_json()
        for name in sorted(self.not_taken & settings.keys()):
            _log.warning("%s does not take the setting %s: left out", request.model, name)
            del settings[name]
        for name in not_taken(settings, self.dialect):
            told = "the dialect %s has no field for the setting %s: left out"
            _log.warning(told, self.dialect, name)
        return settings

    @abstractmethod
    def texts(self, request: Request) -> list[str]:
        """The JSON texts of the conversation."""

    @abstractmethod
    def beside(self, request: Request, asked: Json) -> dict[str, Json]:
        """The fields beside the lists, the settings and the choice of a tool.

        ``asked`` is the format of the typed answer, if there is one.
        """

    def read(self, reply: Json, request: Request) -> Reply:
        """Read the JSON of a reply; a ModelError tells of another value, or of a reported error."""
        found = self.reader(reply, request, server=self.server)
        if self.answers != "as_tool" or request.answer is None or not request.tools:
            return found
        message = without_answer_tool(request, found.message)
        return read_reply(found._replace(message=message), request)


class StreamedPieces(ABC):
    """The events of one streamed reply so far."""

    is_done = False
    """Whether the event ``[DONE]`` has come."""

    def add(self, event: object) -> list[Piece]:
        """Take one more event; returns what it adds to the words and to the reasoning."""
        if event is END:
            self.is_done = True
            return []
        if not isinstance(event, Mapping):
            raise ModelError("the model's stream has an event that is not an object")
        return self._pieces(event)

    @abstractmethod
    def _pieces(self, event: Mapping[str, Any]) -> list[Piece]: ...

    @abstractmethod
    def whole(self) -> Json:
        """The JSON of the whole reply, which `Wire.read` reads; a cut stream is an error."""


def dumped(value: Json) -> str:
    """A value as JSON text without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@lru_cache
def _tool_texts(dialect: Dialect, is_strict: bool) -> Callable[[Pattern], str]:
    """The JSON texts of tools, each kept as long as its tool."""
    forms = {"tools": "openai", "functions": "openai-functions", "responses": "openai-responses"}

    def text(tool: Pattern) -> str:
        # the older dialect has no strict functions
        strict = is_strict and dialect != "functions" and contracts.has_strict_form(tool)
        written = contracts.tool_to_json(tool, forms[dialect], strict=strict)
        if dialect == "responses" and (result := result_schema(tool)) is not None:
            written["output_schema"] = result
        return dumped(written)

    return memo(text)


def _as_tool(function: dict[str, Json], dialect: Dialect) -> dict[str, Json]:
    if dialect == "responses":  # where a missing ``strict`` counts as true
        return {"type": "function", **function, "strict": False}
    return function if dialect == "functions" else {"type": "function", "function": function}


def _choice(
    request: Request, dialect: Dialect, tools: list[str], choice: str, least: str
) -> dict[str, Json]:
    """The field that says which of the tools the model has to call.

    A call is demanded once for each message of the user: a model that had to call a tool in every
    reply could never answer. What an answer by a tool needs is demanded each time.
    """
    has_result = bool(request.messages) and isinstance(request.messages[-1].role, FunctionRole)
    if has_result and choice not in ("auto", "none"):
        choice = least
    named: Json = None if choice in ("auto", "none", "required") else {"name": wire_name(choice)}
    if dialect == "functions":
        if choice == "required":  # it has no word for it, except for a single function
            named = {"name": json.loads(tools[0])["name"]} if len(tools) == 1 else None
            choice = "auto"
        return {"function_call": named or choice}
    if named is None:
        return {"tool_choice": choice}
    inside = {"function": named} if dialect == "tools" else named
    return {"tool_choice": {"type": "function", **inside}}


def arguments_sent(call: ToolCall) -> str:
    """The arguments of a call as its server gets them back: it refuses what is not an object."""
    is_object = isinstance(json_or_text(call.arguments), dict)
    return call.arguments if is_object else "{}"


def ended_too_early() -> ModelError:
    """The error of a stream that ends before its reply does."""
    return ModelError("the stream ended before the reply was complete", retriable=True)


# --- answers of a declared type: `AnswerMode` and `AnswerFormat` say how a server is asked for one

_TOOL_NAME: Final = "final_answer"


def answer_asked(
    request: Request, mode: AnswerMode, form: AnswerFormat
) -> tuple[dict[str, Json] | None, str, dict[str, Json] | None]:
    """How a request asks for its typed answer: a format, words for the instruction, or a tool.

    The words are for a model that takes no schema.
    """
    answer = request.answer
    if answer is None or (request.tools and mode == "after_tools"):
        return None, "", None
    asked = contracts.response_format(answer)
    schema = asked["json_schema"]["schema"]
    if request.tools and mode == "as_tool":  # the tool that a model calls to give its answer
        told = "Give the final answer. Call this once, when you need no other tool."
        named = {"name": answer_tool_name(request), "description": told}
        return None, "", {**named, "parameters": schema}
    if form == "json_schema":
        return asked, "", None
    told = "Answer with one JSON object that is valid under this JSON Schema:"
    return {"type": "json_object"}, f"\n\n{told}\n{write_json(schema)}", None


def answer_tool_name(request: Request) -> str:
    """The name of the answer's tool: one that no tool of the agent has."""
    taken = {wire_name(view(tool_spec_name, tool)) for tool in request.tools}
    names = (_TOOL_NAME + "_" * more for more in range(len(taken) + 1))
    return next(name for name in names if name not in taken)


def streams_word_by_word(request: Request, mode: AnswerMode) -> bool:
    """Whether the words of a reply, shown as they come, are those of its answer."""
    if request.answer is None:
        return True
    is_wrapped = answer_schema(request.answer).get("type") != "object"
    return not is_wrapped and (not request.tools or mode == "with_tools")


def request_for_the_answer(request: Request, message: Message) -> Request | None:
    """The second request of ``after_tools``, or None where the reply is the answer or calls."""
    if request.answer is None or not request.tools or message.tool_calls or message.refused:
        return None
    schema, said = answer_schema(request.answer), words_of(request, message)
    try:
        contracts.check(schema, said if contracts.is_text_schema(schema) else read_json(said))
    except (ValueError, ValidationError):
        return evolve(request, tools=())
    return None


def without_answer_tool(request: Request, message: Message) -> Message:
    """A reply in which a call of the answer's tool is the answer, for ``as_tool``.

    Beside calls of other tools it is left out: the model cannot know their results yet.
    """
    name = answer_tool_name(request)
    answers = [call.arguments for call in message.tool_calls if call.name == name]
    others = [call for call in message.tool_calls if call.name != name]
    if not answers:
        return message
    if others:
        return evolve(message, tool_calls=others)
    return evolve(message, content=answers[0] or "{}", tool_calls=(), echo=None)


# --- files: what a tool returned and cannot be sent is told in words, and the run goes on

_HINT: Final = "\n  hint: "


def parts_of_result(message: Message, dialect: Dialect, with_files: bool) -> tuple[str, list[Json]]:
    """What a tool said, with what is told of files that cannot be sent; and the parts of others."""
    said, parts = [message.content], list[Json]()
    for file in message.attachments:
        try:
            if not with_files:
                raise _not_sent(file, "the model or its server does not take it", "")
            parts.append(part_of(file, dialect))
        except ConfigurationError as error:
            said.append(f"[{str(error).rpartition(_HINT)[0]}]")  # a name may have many lines
    return "\n".join(said), parts


def part_of(file: File, dialect: Dialect) -> Json:
    """The part of a request that a file is sent as; a ConfigurationError if it cannot be sent."""
    match dialect, file.kind:
        case "functions", _:
            raise _not_sent(file, "the dialect functions takes no files", "write --dialect tools")
        case "tools", "picture":
            return {"type": "image_url", "image_url": {"url": _url(file)}}
        case "tools", _ if file.content is None:
            reason = "Chat Completions takes only pictures by their addresses"
            raise _not_sent(file, reason, "attach the file itself, or ask with --dialect responses")
        case "tools", "sound":
            sound = {"data": _url(file).partition(",")[2], "format": file.sound_format}
            return {"type": "input_audio", "input_audio": sound}
        case "tools", _:
            return {"type": "file", "file": {"filename": file.filename, "file_data": _url(file)}}
        case _, "picture":
            return {"type": "input_image", "image_url": _url(file)}
        case _, "sound":
            hint = "ask a model that hears with --dialect tools"
            raise _not_sent(file, "the Responses API takes no sound", hint)
    if file.content is None:
        return {"type": "input_file", "file_url": file.address}
    return {"type": "input_file", "filename": file.filename, "file_data": _url(file)}


def file_of_part(part: Mapping[str, Any]) -> File:
    """The file that a part of a request is, in either dialect; no path is ever opened.

    >>> file_of_part(part_of(File(b"Buy milk.", "note.txt"), "tools"))
    <File note.txt (text/plain, 9 bytes)>
    """
    match part:
        case (
            {"type": "image_url", "image_url": {"url": str(url)}}
            | {"type": "input_image", "image_url": str(url)}
            | {"type": "input_file", "file_url": str(url)}
        ):
            return _file_at(url)
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(kind)}}:
            return _file_at(f"data:audio/{kind};base64,{data}")
        case {"type": "file", "file": {"file_data": str(url), **more}} | {
            "type": "input_file",
            "file_data": str(url),
            **more,
        }:
            return _file_at(url, more.get("filename"))
    raise ValidationError(
        f"a part of type {part.get('type')} is not taken: expected text, or a picture, a document "
        "or sound with its bytes or address"
    )


_DATA: Final = re.compile(
    r"data:([a-z]+/[a-z0-9.+*_-]+)(?:;[a-z-]+=[^;,]*)*;base64,", re.IGNORECASE
)


def _file_at(url: str, name: object = None) -> File:
    """The file at an address, or the one that an address holds."""
    name = name if isinstance(name, str) else None
    if is_address(url):
        return File(url, name)
    found = _DATA.match(url)
    if found is None:
        raise ValidationError("a file comes as data:TYPE;base64,…, or at an https:// address")
    try:
        content = b64decode(url[found.end() :], validate=True)
    except ValueError:
        raise ValidationError("the bytes of a file are not base64") from None
    return File(content, name, found[1])


def _not_sent(file: File, reason: str, hint: str) -> ConfigurationError:
    return ConfigurationError(f"{file} cannot be sent: {reason}{_HINT}{hint}")


def _url(file: File) -> str:
    """The address of a file, or one that holds its bytes."""
    if file.content is None:
        return file.address or ""
    return f"data:{file.media_type};base64,{b64encode(file.content).decode()}"
