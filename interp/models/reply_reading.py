"""Reads replies of models: completions and messages in either dialect, and typed answers.

Servers leave out, repeat and misspell much of what the protocol asks for. What can be understood
is read; everything else is a ModelError. Nothing here does I/O.

A call that a model wrote as text instead of making it is recognised. Models do this when their
server does not know the format of their calls, and the run then ends with that text as its answer.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterable, Mapping
from typing import Any, Final, NamedTuple

from attrs import evolve

from gram import Pattern
from lenses_ext import answer_schema, tool_spec_name, view
from lenses_ext.language import wire_name

from ..errors import ModelError, ValidationError
from ..json_text import Json, json_or_text, read_json, write_json
from ..machine import AssistantRole, FunctionRole, Message, Request, ToolCall, Usage, contracts
from .failures import failed, quoted, reported_in

_MESSAGE_KEYS = {"role", "content", "tool_calls", "function_call", "refusal"}

# What some servers add to a reply that calls tools and want back with it: DeepSeek and OpenRouter
# the reasoning that led to the calls, Google a signature of it.
ECHOED = ("reasoning_content", "reasoning", "reasoning_details", "extra_content")

SAYS_NOTHING = ("empty", "length")
"""The codes of the errors about a reply that says nothing: it is empty, or was cut before that."""


class Reply(NamedTuple):
    """A model's reply as it was read; what its server does not say is unknown or ""."""

    message: Message
    usage: Usage = Usage()
    truncated: bool = False  # it was cut off at its length limit
    finish_reason: str = ""  # in its provider's word
    served_model: str = ""  # as its provider names the model that replied
    server: str = ""  # the address that replied, if it is not the provider's own
    reasoning: str = ""  # what the model showed of its reasoning, or a summary of it


def read_reply(data: object, request: Request | None = None, *, server: str | None = None) -> Reply:
    """Read a reply in any of the forms a model may give; what cannot be one is a ModelError.

    Args:
        data: A `Message`, a str, or a completion or message dict in either dialect; a `Reply` is
            read again.
        request: What the reply answers. It tells the type of the answer, and whether the reply
            may be empty: after a tool's result, some models have nothing to add.
        server: The server that gave the reply; what it wants back is sent to no other.
    """
    reply = _reply(data, server)
    if request is not None and request.answer is not None:
        reply = reply._replace(message=with_its_answer(request.answer, reply.message))
    if reply.message.content or reply.message.tool_calls:
        return reply
    if reply.truncated:
        said = "the reply was cut off at its length limit before it said anything"
        raise ModelError(f"{said}; allow the model more tokens", code="length")
    before = request.messages[-1:] if request is not None else ()
    if not any(isinstance(each.role, FunctionRole) for each in before):
        raise ModelError(
            "the model's reply is empty: it has no text and no tool call", code="empty"
        )
    return reply


def _reply(data: object, server: str | None = None) -> Reply:
    if isinstance(data, Reply):
        return data
    if isinstance(data, Message):
        if data.role != AssistantRole:
            raise ModelError("the model's reply is a message of another role than assistant")
        return Reply(data)
    if isinstance(data, str):
        return Reply(Message(AssistantRole, data))
    if not isinstance(data, Mapping):
        raise ModelError(f"the model's reply is {type(data).__name__}, not a message")
    if reported := reported_in(data):
        raise reported
    if "choices" not in data:
        if not _MESSAGE_KEYS & set(data):
            raise ModelError(f"the model's reply has no message: {quoted(data)}")
        return Reply(_message(data, server))
    choices = data["choices"]
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise ModelError("the model's reply has no choices")
    choice = choices[0]
    if choice.get("error"):
        raise failed(choice["error"])
    message, finish = choice.get("message"), choice.get("finish_reason")
    said = _message(message, server) if isinstance(message, Mapping) else None
    if finish == "content_filter" and not (said and said.refused):
        raise ModelError("the provider's content filter withheld the reply", code="content_filter")
    if said is None:
        raise ModelError("the model's reply has no message")
    if finish == "error":
        raise ModelError("the provider failed in the middle of its reply", code="error")
    return Reply(
        said,
        usage_of(data.get("usage")),
        finish == "length",
        word(finish),
        word(data.get("model")),
        reasoning=well_formed(reasoning_of(choice["message"])),
    )


def detect_tool_call(reply: object) -> tuple[str, dict[str, Json]] | None:
    """The first tool call of a reply, as its name and arguments, or None.

    Args:
        reply: A completion or message in either dialect, or a `Message`.

    Raises:
        ValidationError: The reply cannot be read, or the arguments are not one JSON object.

    >>> call = {"name": "sayHello", "arguments": '{"personName": "Alice"}'}
    >>> detect_tool_call({"role": "assistant", "content": None, "function_call": call})
    ('sayHello', {'personName': 'Alice'})
    """
    try:
        call = next(iter(_reply(reply).message.tool_calls), None)
    except ModelError as error:
        raise ValidationError(str(error)) from None
    return (
        None if call is None else (call.name, contracts.read_arguments(call.name, call.arguments))
    )


def _message(data: Mapping[str, Any], server: str | None) -> Message:
    """A message; whether it calls tools decides what it is, not its finish reason."""
    role = data.get("role")
    if role and not (isinstance(role, str) and role.lower() == "assistant"):
        raise ModelError(f"the model's reply has the role {role!r}, not 'assistant'")
    content, refusal = text_of(data.get("content")), text_of(data.get("refusal"))
    calls = _calls(data, server)
    return Message(
        AssistantRole,
        well_formed(content or refusal),
        calls,
        refused=bool(refusal and not content and not calls),
        echo=_to_echo(data, server) if calls else None,
    )


def _to_echo(data: Mapping[str, Any], server: str | None) -> str | None:
    """The fields that go back to the server as they came, with the server they came from."""
    found = {key: data[key] for key in ECHOED if data.get(key)}
    if not found:
        return None
    return json_text({"server": server, **found} if server else found)


def text_of(content: object) -> str:
    """The text of a content, which some servers send as a list of parts.

    Parts without a text, such as a model's thinking, are not part of what it says.
    """
    if isinstance(content, list):
        return "".join(text_of(part.get("text")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def well_formed(text: str) -> str:
    """A text that can be written as UTF-8.

    Streams may cut a surrogate pair in two, and models may write half of one.
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def json_text(value: Json) -> str:
    """A part of a reply as JSON text; a value that is not JSON is a ModelError."""
    try:
        return write_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        problem = str(error)
    raise ModelError(f"the model's reply is not JSON: {problem}")


def _calls(data: Mapping[str, Any], server: str | None) -> tuple[ToolCall, ...]:
    """The calls of a message, each with an id that no other call of it has."""
    calls: dict[str, ToolCall] = {}
    listed, single = data.get("tool_calls"), data.get("function_call")
    if not isinstance(listed, list) or not listed:
        listed = [{"function": single}] if single else []
    for index, given in enumerate(listed):
        function = given.get("function") if isinstance(given, Mapping) else None
        if isinstance(function, Mapping) and not (
            function.get("name") or function.get("arguments") not in (None, "")
        ):
            continue  # some servers send an empty one with every reply
        made = tool_call(function, given.get("id") if function else None, index, calls)
        calls[made.id] = evolve(made, echo=_to_echo(given, server))
    return tuple(calls.values())


def tool_call(given: object, id_: object, index: int, calls: Container[str]) -> ToolCall:
    """A call, with an id by its place where its own is missing or that of another call.

    The arguments may be an object, null or missing.
    """
    name = given.get("name") if isinstance(given, Mapping) else None
    if not isinstance(given, Mapping) or not isinstance(name, str) or not name:
        raise ModelError("the model's tool call does not name a tool")
    if not isinstance(id_, str) or not id_ or well_formed(id_) != id_ or id_ in calls:
        names = map("call_{}".format, itertools.count(index))
        id_ = next(each for each in names if each not in calls)
    arguments = given.get("arguments")
    if arguments is None or (isinstance(arguments, str) and arguments.strip() == "null"):
        arguments = ""
    text = arguments if isinstance(arguments, str) else json_text(arguments)
    return ToolCall(id_, well_formed(name), well_formed(text))


def reasoning_of(message: Mapping[str, Any]) -> str:
    """What a message, or a piece of one, shows of the reasoning that led to it.

    Servers have no common field for it. Mistral sends it among the parts of the content.
    """
    for key in ("reasoning_content", "reasoning", "thinking"):
        if text := text_of(message.get(key)):
            return text
    content = message.get("content")
    parts = content if isinstance(content, list) else ()
    return "".join(text_of(part.get("thinking")) for part in parts if isinstance(part, Mapping))


def word(given: object) -> str:
    """A name that a server gives, which may be anything."""
    return well_formed(given) if isinstance(given, str) else ""


def usage_of(data: object, given: str = "prompt", said: str = "completion") -> Usage:
    """The tokens used, by what a dialect calls those of requests and replies."""
    if not isinstance(data, Mapping):
        return Usage()
    return Usage(
        _count(data, f"{given}_tokens"),
        _count(data, f"{said}_tokens"),
        _count(data.get(f"{given}_tokens_details"), "cached_tokens") or 0,
        _count(data.get(f"{said}_tokens_details"), "reasoning_tokens") or 0,
    )


def _count(data: object, name: str) -> int | None:
    """A number of tokens in a part of a reply; None if it is not one."""
    number = data.get(name) if isinstance(data, Mapping) else None
    return number if type(number) is int and number >= 0 else None


# The formats in which models are trained to write calls: Hermes and Qwen, Llama, Mistral,
# DeepSeek, and the JSON of OpenAI's and Anthropic's calls.
_MARKS = re.compile(
    r"<tool_call>|<function[=_]|\[TOOL_CALLS\]|<\|python_tag\|>|<\|tool▁call|<\|tool_call"
    r"|\"(arguments|parameters|input)\"\s*:\s*[{\"]"
)


def call_in_text(tools: Iterable[Pattern], text: str) -> str | None:
    """The name of the tool that a text is a call of, or None."""
    if not _MARKS.search(text):
        return None
    names = (view(tool_spec_name, tool) for tool in tools)
    return next(
        (name for name in names if re.search(rf"(?<!\w){re.escape(wire_name(name))}(?!\w)", text)),
        None,
    )


def call_not_made(request: Request, written: str) -> Reply:
    """The reply in which a model tried to call a tool, of what its provider could not read.

    The call is checked like any other, so the model is told what is wrong with it.
    """
    names = [wire_name(view(tool_spec_name, tool)) for tool in request.tools]
    arguments, named = written, next((name for name in names if name in written), names[0])
    match json_or_text(written):
        case {"name": str(name), **given} | [{"name": str(name), **given}]:
            named = name or named
            arguments = json_text(given.get("arguments", given.get("parameters", {})))
    return Reply(Message(AssistantRole, "", [ToolCall("call_0", named, arguments)]))


# --- answers of a declared type

_THINKING: Final = re.compile(r"\s*+(?:<think(?:ing)?>|\[THINK\])")
_THOUGHT: Final = re.compile(r"</think(?:ing)?>|\[/THINK\]")
_FENCED: Final = re.compile(r"(?<!`)`{3,}+[\w-]*+[ \t]*+\r?\n(.*?)```", re.DOTALL)
_FENCED_WIDELY: Final = re.compile(r"(?<!`)`{3,}+[\w-]*+\s*+(.*)```", re.DOTALL)
"""From the first fence to the last: a text in the JSON may have fences itself."""


def with_its_answer(answer: Pattern, message: Message) -> Message:
    """A reply with the JSON of its answer alone.

    Fences and a model's thinking around the JSON are left out, and the object that wraps an answer
    of another type. Of a text only the thinking is left out, unless the rest is JSON as a whole.
    """
    if message.tool_calls or message.refused:
        return message
    is_text = contracts.is_text_schema(answer_schema(answer))
    said = (_text_in if is_text else _json_in)(message.content)
    return contracts.unwrapped(answer, evolve(message, content=said))


def words_of(request: Request, message: Message) -> str:
    """What a reply says, to be shown: the answer itself where it is a text."""
    if request.answer is None or not contracts.is_text_schema(answer_schema(request.answer)):
        return message.content
    return contracts.text_said(message.content)


def without_thinking(content: str) -> str:
    """A reply without the thinking that it begins with."""
    end = 0
    while begun := _THINKING.match(content, end):
        thought = _THOUGHT.search(content, begun.end())
        if thought is None:
            break
        end = thought.end()
    if not end and (thought := _THOUGHT.search(content)):  # some servers leave the first mark out
        end = thought.end()
    return content[end:]


def _text_in(content: str) -> str:
    text = without_thinking(content)
    fenced = _FENCED_WIDELY.fullmatch(text.strip())
    if fenced and _is_json(fenced[1].strip()):
        said = read_json(fenced[1])
        if isinstance(said, str) or (isinstance(said, dict) and said.keys() == {contracts.WRAPPED}):
            return fenced[1].strip()
    return content if text == content else text.strip()


def _json_in(content: str) -> str:
    """The JSON text in a reply that may have something else around it, or all of it."""
    if _is_json(content):
        return content
    text = without_thinking(content).strip()
    candidates = (pattern.findall(text) for pattern in (_FENCED_WIDELY, _FENCED))
    fenced = [found[0].strip() for found in candidates if len(found) == 1]
    return next(filter(_is_json, (text, *fenced)), content)


def _is_json(text: str) -> bool:
    try:
        read_json(text)
    except ValueError:
        return False
    return True
