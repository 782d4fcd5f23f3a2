"""Replies as models give them: completions and messages in either dialect, read into ours.

Servers leave out, repeat and misspell much of what the protocol asks for; what can be understood
is, and everything else is a ModelError. Nothing here does I/O.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from .arguments import read_arguments
from .errors import ModelError, ValidationError
from .json_text import Json, write_json
from .messages import AssistantRole, Message, ToolCall, Usage
from .model_failures import failed

_MESSAGE_KEYS = {"role", "content", "tool_calls", "function_call", "refusal"}

# What some servers add to a reply that calls tools and want back with it: DeepSeek and OpenRouter
# the reasoning that led to the calls, Google a signature of it.
_ECHOED = ("reasoning_content", "reasoning", "reasoning_details", "extra_content")


@frozen
class Reply:
    """A model's answer as it was read.

    Attributes:
        message: what it said and which tools it calls.
        usage: the tokens it used, none when it does not say.
        truncated: it was cut off at its length limit.
    """

    message: Message
    usage: Usage = Usage()
    truncated: bool = False


def read_reply(data: object) -> Reply:
    """A reply in any of the forms a model may give.

    Args:
        data: a `Message`, a str, or a completion or message dict in either dialect; a `Reply` is
            returned as it is.

    Raises:
        ModelError: it is none of these, it reports an error, it was filtered, or it says nothing
            and calls nothing.
    """
    reply = _reply(data)
    if reply.message.content or reply.message.tool_calls:
        return reply
    if reply.truncated:
        raise ModelError(
            "the reply was cut off at its length limit before it said anything; allow the model "
            "more tokens",
            code="length",
        )
    raise ModelError(
        "the model's answer is empty: it neither says anything nor calls a tool", code="empty"
    )


def _reply(data: object) -> Reply:
    if isinstance(data, Reply):
        return data
    if isinstance(data, Message):
        return Reply(data)
    if isinstance(data, str):
        return Reply(Message(AssistantRole, data))
    if not isinstance(data, Mapping):
        raise ModelError(f"the model answered with {type(data).__name__}, not with a message")
    if data.get("error"):
        raise reported_error(data["error"])
    if "choices" not in data:
        if not _MESSAGE_KEYS & set(data):
            raise ModelError("the model's answer has no message")
        return Reply(_message(data))
    choices = data["choices"]
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise ModelError("the model's answer has no choices")
    if choices[0].get("error"):
        raise reported_error(choices[0]["error"])
    finish = choices[0].get("finish_reason")
    if finish == "content_filter":
        raise ModelError("the provider's content filter withheld the answer", code="content_filter")
    message = choices[0].get("message")
    if not isinstance(message, Mapping):
        raise ModelError("the model's answer has no message")
    return Reply(_message(message), _usage(data.get("usage")), truncated=finish == "length")


def detect_tool_call(reply: object) -> tuple[str, dict[str, Json]] | None:
    """The first tool call of a reply, as its name and arguments, or None.

    Args:
        reply: a completion or message in either dialect, or a `Message`.

    Raises:
        ValidationError: the arguments are not one JSON object.

    >>> call = {"name": "sayHello", "arguments": '{"personName": "Alice"}'}
    >>> detect_tool_call({"role": "assistant", "content": None, "function_call": call})
    ('sayHello', {'personName': 'Alice'})
    """
    try:
        calls = _reply(reply).message.tool_calls
    except ModelError as error:
        raise ValidationError(str(error)) from None
    return (calls[0].name, read_arguments(calls[0].name, calls[0].arguments)) if calls else None


def _message(data: Mapping[str, Any]) -> Message:
    """A message; that there are tool calls decides what it is, not what else it says."""
    content, refusal, calls = _text(data.get("content")), _text(data.get("refusal")), _calls(data)
    return Message(
        AssistantRole,
        content or refusal,
        calls,
        refused=bool(refusal and not content and not calls),
        echo=_to_echo(data) if calls else None,
    )


def _to_echo(data: Mapping[str, Any]) -> str | None:
    """The fields that go back to the server as they came."""
    found = {key: data[key] for key in _ECHOED if data.get(key)}
    return json_text(found) if found else None


def _text(content: object) -> str:
    """The text of a content, which may come as a list of parts."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, Mapping))
    return well_formed(content) if isinstance(content, str) else ""


def well_formed(text: str) -> str:
    """A text that can be written as UTF-8.

    Streams may cut a surrogate pair in two, and models may write half of one.
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def json_text(value: Json) -> str:
    """A part of a reply as JSON text.

    Raises:
        ModelError: it is not JSON.
    """
    try:
        return write_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"the model's answer is not JSON: {error}") from None


def _calls(data: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """The calls of a message, each with an id of its own even where the provider gave none."""
    listed = data.get("tool_calls")
    if not isinstance(listed, list):
        function = data.get("function_call")
        listed = [{"function": function}] if function else []
    calls: list[ToolCall] = []
    taken: set[str] = set()
    for index, given in enumerate(listed):
        function = given.get("function") if isinstance(given, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise ModelError("the model calls a tool without naming it")
        id_ = _own_id(given.get("id"), index, taken)
        taken.add(id_)
        arguments = _arguments(function.get("arguments"))
        calls.append(ToolCall(id_, well_formed(function["name"]), arguments, _to_echo(given)))
    return tuple(calls)


def _own_id(given: object, index: int, taken: set[str]) -> str:
    """The id that a call was given, or one by its position where that is missing or repeated."""
    if isinstance(given, str) and given and well_formed(given) == given and given not in taken:
        return given
    positions = itertools.count(index)
    return next(name for name in map("call_{}".format, positions) if name not in taken)


def _arguments(arguments: object) -> str:
    """The arguments as text; some servers send them as an object, or not at all."""
    if arguments is None:
        return ""
    return well_formed(arguments) if isinstance(arguments, str) else json_text(arguments)


def _usage(data: object) -> Usage:
    if not isinstance(data, Mapping):
        return Usage()

    def count(key: str) -> int:
        value = data.get(key)
        return value if type(value) is int and value > 0 else 0

    return Usage(count("prompt_tokens"), count("completion_tokens"))


def reported_error(error: object) -> ModelError:
    """The error that a body reports, whatever its HTTP status; see `interp.model_failures`."""
    if not isinstance(error, Mapping):
        return ModelError(f"the provider reports an error: {error}")
    code = error.get("code") or error.get("type")
    status = code if type(code) is int and 400 <= code < 600 else None
    return failed(
        f"the provider reports an error: {error.get('message') or dict(error)}",
        status=status,
        code=None if code is None else str(code),
    )
