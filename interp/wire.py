"""Requests and replies as the Chat Completions protocol has them, in both of its dialects.

``tools`` is the current dialect (``tool_calls``, answered by role ``tool``); ``functions`` the
older one (``function_call``, answered by role ``function``), which has room for one call a reply.
Reading accepts both always. Nothing here does I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from attrs import frozen

from gram import Pattern
from lenses_ext import answer_schema, wire_name

from .arguments import read_arguments
from .effects import Request
from .errors import ModelError, ValidationError
from .json_text import Json, write_json
from .messages import AssistantRole, FunctionRole, Message, ToolCall, Usage
from .tool_definitions import function_definition

Dialect: TypeAlias = Literal["tools", "functions"]

SETTING_NAMES: Mapping[str, str] = {
    "frequencyPenalty": "frequency_penalty",
    "maxTokens": "max_completion_tokens",
    "parallelToolCalls": "parallel_tool_calls",
    "presencePenalty": "presence_penalty",
    "reasoningEffort": "reasoning_effort",
    "seed": "seed",
    "stop": "stop",
    "temperature": "temperature",
    "topP": "top_p",
    "verbosity": "verbosity",
}
"""What the protocol calls each setting. ``maxTokens`` has another name at some providers."""

_MESSAGE_KEYS = {"role", "content", "tool_calls", "function_call", "refusal"}


# --- requests


def request_body(
    request: Request,
    dialect: Dialect = "tools",
    max_tokens: str = SETTING_NAMES["maxTokens"],
) -> dict[str, Json]:
    """The JSON body of a request. What is empty is left out.

    Args:
        request: what is asked.
        dialect: how tools are spoken of.
        max_tokens: what the provider calls the setting ``maxTokens``.
    """
    body: dict[str, Json] = {
        "model": request.model.name,
        "messages": [
            {"role": "system", "content": request.instruction},
            *(encode_message(message, dialect) for message in request.messages),
        ],
    }
    if request.tools:
        definitions = [function_definition(tool) for tool in request.tools]
        if dialect == "tools":
            body["tools"] = definitions
            body["tool_choice"] = "auto"
        else:
            body["functions"] = [definition["function"] for definition in definitions]
            body["function_call"] = "auto"
    for name, value in request.settings.as_json().items():
        if name != "parallelToolCalls" or "tools" in body:  # refused where there are no tools
            body[max_tokens if name == "maxTokens" else SETTING_NAMES[name]] = value
    if request.answer is not None:
        body["response_format"] = response_format(request.answer)
    return body


def response_format(answer: Pattern) -> dict[str, Json]:
    """The JSON by which a model is asked for an answer of a declared type."""
    name = wire_name(answer.value.identity or "answer")
    schema = {"name": name, "schema": answer_schema(answer)}
    return {"type": "json_schema", "json_schema": schema}


@lru_cache(maxsize=4096)
def encode_message(message: Message, dialect: Dialect) -> Mapping[str, Json]:
    """The JSON of a message; made once for each, since messages never change. Not to be changed."""
    if isinstance(message.role, FunctionRole):
        name = wire_name(message.role.name)
        if dialect == "functions":
            return {"role": "function", "name": name, "content": message.content}
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
    encoded: dict[str, Json] = {"role": message.role.name, "content": message.content}
    if message.tool_calls:
        calls = [
            {"name": wire_name(call.name), "arguments": call.arguments}
            for call in message.tool_calls
        ]
        encoded["content"] = message.content or None
        if dialect == "functions":
            encoded["function_call"] = calls[0]
        else:
            encoded["tool_calls"] = [
                {"id": call.id, "type": "function", "function": function}
                for call, function in zip(message.tool_calls, calls, strict=True)
            ]
    return encoded


# --- replies


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
        data: a `Message`, a str, or a completion or message dict in either dialect.

    Raises:
        ModelError: it is none of these, it reports an error, or it was filtered.
    """
    if isinstance(data, Message):
        return Reply(data)
    if isinstance(data, str):
        return Reply(Message(AssistantRole, data))
    if not isinstance(data, Mapping):
        raise ModelError(f"the model answered with {type(data).__name__}, not with a message")
    if data.get("error"):
        raise _reported_error(data["error"])
    if "choices" not in data:
        if not _MESSAGE_KEYS & set(data):
            raise ModelError("the model's answer has no message")
        return Reply(_message(data))
    choices = data["choices"]
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise ModelError("the model's answer has no choices")
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
        calls = read_reply(reply).message.tool_calls
    except ModelError as error:
        raise ValidationError(str(error)) from None
    return (calls[0].name, read_arguments(calls[0].name, calls[0].arguments)) if calls else None


def _message(data: Mapping[str, Any]) -> Message:
    content = _text(data.get("content")) or _text(data.get("refusal"))
    return Message(AssistantRole, content, _calls(data))


def _text(content: object) -> str:
    """The text of a content, which may come as a list of parts."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _calls(data: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """The calls of a message, each with an id of its own even where the provider gave none."""
    listed = data.get("tool_calls")
    functions: list[tuple[object, object]] = []
    if isinstance(listed, list):
        functions = [
            (call.get("id"), call.get("function")) for call in listed if isinstance(call, Mapping)
        ]
    elif data.get("function_call"):
        functions = [(None, data["function_call"])]
    calls: list[ToolCall] = []
    taken: set[str] = set()
    for index, (given, function) in enumerate(functions):
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise ModelError("the model calls a tool without naming it")
        name = given if isinstance(given, str) and given and given not in taken else f"call_{index}"
        taken.add(name)
        calls.append(ToolCall(name, function["name"], _arguments(function.get("arguments"))))
    return tuple(calls)


def _arguments(arguments: object) -> str:
    """The arguments as text; some servers send them as an object, or not at all."""
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else write_json(arguments)


def _usage(data: object) -> Usage:
    if not isinstance(data, Mapping):
        return Usage()

    def count(key: str) -> int:
        value = data.get(key)
        return value if isinstance(value, int) else 0

    return Usage(count("prompt_tokens"), count("completion_tokens"))


def _reported_error(error: object) -> ModelError:
    if isinstance(error, Mapping):
        code = error.get("code")
        message = str(error.get("message") or error)
        return ModelError(message, code=str(code) if code is not None else None)
    return ModelError(str(error))
