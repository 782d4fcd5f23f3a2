"""Requests as the Chat Completions protocol has them, in both of its dialects.

``tools`` is the current dialect (``tool_calls``, answered by role ``tool``); ``functions`` the
older one (``function_call``, answered by role ``function``), which has room for one call a reply.
How replies are read is in `interp.replies`. Nothing here does I/O.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from attrs import evolve

from lenses_ext import wire_name

from .dialects import Dialect
from .effects import Request
from .json_text import Json, read_json
from .messages import AssistantRole, FunctionRole, Message, ToolCall
from .response_format import response_format
from .strict_tools import has_strict_form
from .tool_definitions import function_definition

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
"""What the protocol calls each setting. ``maxTokens`` has another name at some providers.

``strictTools`` has none: it says how the tools are sent.
"""


def request_body(
    request: Request,
    dialect: Dialect = "tools",
    max_tokens: str = SETTING_NAMES["maxTokens"],
    *,
    strict: bool = False,
) -> dict[str, Json]:
    """The JSON body of a request. What is empty is left out.

    Args:
        request: what is asked.
        dialect: how tools are spoken of.
        max_tokens: what the provider calls the setting ``maxTokens``.
        strict: hold the model to the schemas of the tools, those that have a strict form.
    """
    body: dict[str, Json] = {
        "model": request.model.name,
        "messages": [
            {"role": "system", "content": request.instruction},
            *_encode_messages(request.messages, dialect),
        ],
    }
    if request.tools:
        if dialect == "tools":
            body["tools"] = [
                function_definition(tool, strict=strict and has_strict_form(tool))
                for tool in request.tools
            ]
            body["tool_choice"] = "auto"
        else:
            body["functions"] = [function_definition(tool)["function"] for tool in request.tools]
            body["function_call"] = "auto"
    names = {**SETTING_NAMES, "maxTokens": max_tokens}
    if "tools" not in body:
        del names["parallelToolCalls"]  # refused where there are no tools
    settings = request.settings.as_json()
    body |= {names[name]: value for name, value in settings.items() if name in names}
    if request.answer is not None:
        body["response_format"] = response_format(request.answer)
    return body


def _encode_messages(messages: Iterable[Message], dialect: Dialect) -> Iterator[Json]:
    if dialect == "functions":
        messages = _one_call_each(messages)
    return (encode_message(message, dialect) for message in messages)


def _one_call_each(messages: Iterable[Message]) -> Iterator[Message]:
    """The same conversation where no reply makes several calls: each is followed by its answer.

    The answers come in the order of the calls, right after them, because the machine puts them so.
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


@lru_cache(maxsize=4096)
def encode_message(message: Message, dialect: Dialect) -> Mapping[str, Json]:
    """The JSON of a message; made once for each, since messages never change. Not to be changed."""
    if isinstance(message.role, FunctionRole):
        name = wire_name(message.role.name)
        if dialect == "functions":
            return {"role": "function", "name": name, "content": message.content}
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
    encoded: dict[str, Json] = {"role": message.role.name, "content": message.content}
    if message.refused:
        encoded |= {"content": None, "refusal": message.content}
    if message.tool_calls:
        encoded |= {"content": message.content or None, **_echoed(message.echo)}
        if dialect == "functions":
            encoded["function_call"] = _function(message.tool_calls[0])
        else:
            encoded["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": _function(call),
                    **_echoed(call.echo),
                }
                for call in message.tool_calls
            ]
    return encoded


def _function(call: ToolCall) -> dict[str, Json]:
    return {"name": wire_name(call.name), "arguments": call.arguments}


def _echoed(echo: str | None) -> dict[str, Json]:
    return {} if echo is None else read_json(echo)
