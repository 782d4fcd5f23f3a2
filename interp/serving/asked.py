"""Reads requests of Chat Completions and of the Responses API: what the client says to whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from attrs import field, frozen

from ..errors import ValidationError
from ..files import File
from ..json_text import Json
from ..machine import AssistantRole, Given, Message, UserRole
from ..models import file_of_part
from .doors import RefusedError

_OURS: Final = "tools are the program's: they are declared in it, and run by the server"
_REFUSED: Final[Mapping[str, tuple[str, ...]]] = {
    _OURS: ("tools", "tool_choice", "functions", "function_call"),
    "the program declares the type of its answers": ("response_format", "text"),
    "a run has one answer": ("n",),
    "agents give no probabilities": ("logprobs", "top_logprobs"),
    "agents answer with text": ("modalities", "audio"),
    "a run answers while its client waits": ("background",),
    "the program has the prompts": ("prompt",),
    "responses are not kept by their ids: name a conversation": ("previous_response_id",),
}
"""What no request may ask for, by the reason."""

_HARMLESS: Final[tuple[Json, ...]] = (
    *([], {}, ["text"], {"type": "text"}, {"format": {"type": "text"}}),
    *("auto", "none", False, 1),
)
"""The values that ask for nothing."""

_LONGEST_NAME: Final = 200
_USER: Final = ("user", "system", "developer")
_TEXTS: Final = ("text", "input_text", "output_text")


@frozen
class Asked:
    """A request.

    Attributes:
        model: the name of the agent or workflow.
        messages: what the client says, and what it says was said before; the user speaks last.
        streams: whether the client wants the words as they come.
        with_usage: whether the stream ends with the tokens used.
        conversation: the name of the conversation that it goes on with, or None.
    """

    model: str
    messages: tuple[Message, ...]
    streams: bool = False
    with_usage: bool = field(default=False, kw_only=True)
    conversation: str | None = field(default=None, kw_only=True)

    @property
    def said(self) -> Given:
        """What the user says now."""
        return _given(self.messages[-1:])

    @property
    def said_since(self) -> Given:
        """All that was said after the last answer: what a kept conversation does not have yet."""
        roles = [each.role for each in self.messages]
        answered = [place for place, role in enumerate(roles) if role == AssistantRole]
        return _given(self.messages[answered[-1] + 1 if answered else 0 :])


def _given(messages: tuple[Message, ...]) -> Given:
    text = "\n\n".join(filter(None, (each.content for each in messages)))
    files = [file for each in messages for file in each.attachments]
    return [text, *files] if files else text


def read_chat(body: Json, conversation: str | None) -> Asked:
    """Read a request of Chat Completions.

    Args:
        body: its JSON.
        conversation: the name of the conversation that it goes on with, or None.

    Raises:
        RefusedError: it is not valid, or asks for what no run does.
    """
    fields = _fields(body)
    options = _typed(fields, "stream_options", dict, {})
    return Asked(
        _typed(fields, "model", str),
        _messages(_typed(fields, "messages", list), "messages"),
        _typed(fields, "stream", bool, False),
        with_usage=bool(options.get("include_usage")),
        conversation=conversation,
    )


def read_response(body: Json, conversation: str | None) -> Asked:
    """Read a request of the Responses API, see `read_chat`.

    Raises:
        RefusedError: it is not valid, or asks for what no run does.
    """
    fields = _fields(body)
    named = _typed(fields, "conversation", (str, dict), None)
    named = _typed(named, "id", str) if isinstance(named, dict) else named
    if named and not (named.isprintable() and len(named) <= _LONGEST_NAME):
        told = f"conversation is a name of at most {_LONGEST_NAME} characters that can be shown"
        raise RefusedError(told, param="conversation")
    given = _typed(fields, "input", (str, list))
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if instructions := _typed(fields, "instructions", str, ""):
        items = [{"role": "system", "content": instructions}, *items]
    return Asked(
        _typed(fields, "model", str),
        _messages(items, "input"),
        _typed(fields, "stream", bool, False),
        conversation=named or conversation,
    )


def _fields(body: Json) -> Mapping[str, Any]:
    if not isinstance(body, dict):
        raise RefusedError("the body is a JSON object")
    for why, name in ((why, name) for why, names in _REFUSED.items() for name in names):
        value = body.get(name)
        if value is not None and (value is True or value not in _HARMLESS):
            raise RefusedError(f"{name} is not taken: {why}", code="unsupported", param=name)
    return body


_EXPECTED: Final = {str: "a string", list: "a list", dict: "an object", bool: "true or false"}
_MISSING: Final = object()


def _typed(
    fields: Mapping[str, Any], name: str, kind: type | tuple[type, ...], default: Any = _MISSING
) -> Any:
    value = fields.get(name)
    if value is None and default is not _MISSING:
        return default
    if not isinstance(value, kind) or (default is _MISSING and not value):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        expected = " or ".join(_EXPECTED[each] for each in kinds)
        found = f"{name} is missing or empty" if not value else f"{name} is of another type"
        raise RefusedError(f"{found}: expected {expected}", param=name)
    return value


def _messages(items: list[Json], name: str) -> tuple[Message, ...]:
    messages = tuple(_message(each, f"{name}[{place}]") for place, each in enumerate(items))
    if messages[-1].role != UserRole:
        raise RefusedError(f"{name} ends with what the user says", param=name)
    return messages


def _message(item: Json, place: str) -> Message:
    """One message; in both dialects its parts name what they are."""
    if not isinstance(item, dict) or item.get("type", "message") != "message":
        raise RefusedError(f"{place} is not a message: {_OURS}", param=place)
    role, content = item.get("role"), item.get("content")
    if item.get("tool_calls") or item.get("function_call") or role in ("tool", "function"):
        raise RefusedError(f"{place} is of a tool: {_OURS}", code="unsupported", param=place)
    if role not in (*_USER, "assistant"):
        raise RefusedError(
            f"{place}: the role is user, system, developer or assistant", param=place
        )
    texts, files, refusals = list[str](), list[File](), list[str]()
    if isinstance(refusal := item.get("refusal"), str):
        refusals.append(refusal)
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif part is None and refusals:
            continue
        elif not isinstance(part, dict):
            raise RefusedError(f"{place}: the content is a text or a list of parts", param=place)
        elif part.get("type") in _TEXTS and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif part.get("type") == "refusal" and isinstance(part.get("refusal"), str):
            refusals.append(part["refusal"])
        else:
            files.append(_file(part, place))
    text = "\n".join(filter(None, texts))
    if role == "assistant":
        said = text or "\n".join(refusals)
        return Message(AssistantRole, said, refused=not text and bool(refusals))
    return Message(UserRole, text, attachments=files)


def _file(part: Mapping[str, Any], place: str) -> File:
    try:
        return file_of_part(part)
    except ValidationError as error:
        told = str(error).partition("\n")[0]  # its hint is for Python
        raise RefusedError(f"{place}: {told}", param=place) from None
