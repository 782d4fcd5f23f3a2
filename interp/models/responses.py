"""The Responses API of OpenAI, as one more dialect.

The conversation is ours: ``store`` is false, and every request has all of it. What has to go back
to the server, such as encrypted reasoning, is kept with the message that it came with. The source
of the rules is OpenAI's API reference for ``POST /v1/responses``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from attrs import define, field, frozen

from lenses_ext.language import wire_name
from lenses_ext.weak_cache import memo

from ..errors import ModelError
from ..json_text import Json, json_or_text
from ..machine import AssistantRole, FunctionRole, Message, Request, ToolCall
from . import reply_reading, wire
from .failures import NO_RESPONSES, failed, quoted, reported_in, takes
from .providers import RESPONSES_FIELDS, Dialect
from .reply_reading import text_of, well_formed, word


def items_of(
    message: Message, server: str, model: str, with_reasoning: bool, with_files: bool = True
) -> list[Json]:
    """The items of a message, with encrypted reasoning and files of tools if these are taken."""
    if isinstance(message.role, FunctionRole):
        text, files = wire.parts_of_result(message, "responses", with_files)
        result = {"call_id": message.call_id or "", "output": _content(text, files)}
        return [{"type": "function_call_output", **result}]
    if message.role.name != "assistant":
        files = [wire.part_of(file, "responses") for file in message.attachments]
        return [{"role": message.role.name, "content": _content(message.content, files)}]
    kept = _kept(message, server, model)
    if kept is None:
        kind = "refusal" if message.refused else "output_text"
        part = {"type": kind, "refusal" if message.refused else "text": message.content}
        said = {"type": "message", "role": "assistant", "content": [part]}
        calls = [{"type": "function_call", **_call(call)} for call in message.tool_calls]
        return [*([said] if message.content else []), *calls]
    calls_of_ours = iter(message.tool_calls)
    found: list[Json] = []
    for item in kept:
        if item["type"] == "function_call":
            item |= _call(next(calls_of_ours))
        elif item["type"] == "reasoning" and not with_reasoning:
            item.pop("encrypted_content", None)
            if not _reasoning_text(item):
                continue
        found.append(item)
    return found


def _content(text: str, files: list[Json]) -> Json:
    return [{"type": "input_text", "text": text}, *files] if files else text


def _call(call: ToolCall) -> dict[str, Json]:
    name, arguments = wire_name(call.name), wire.arguments_sent(call)
    return {"call_id": call.id, "name": name, "arguments": arguments}


def _kept(message: Message, server: str, model: str) -> list[dict[str, Json]] | None:
    """The items that the reply came as; None if they are another server's, or no longer its own.

    A message may have been edited since.
    """
    echo = json_or_text(message.echo or "{}")
    if not isinstance(echo, dict) or (echo.get("server"), echo.get("model")) != (server, model):
        return None
    items = echo.get("output")
    if not isinstance(items, list) or not all(
        isinstance(each, dict) and isinstance(each.get("type"), str) for each in items
    ):
        return None
    names = [each.get("name") for each in items if each["type"] == "function_call"]
    is_own = names == [wire_name(call.name) for call in message.tool_calls]
    return items if is_own and text_of_items(items) == message.content else None


def to_echo(items: Iterable[Mapping[str, Any]], server: str | None, model: str) -> str | None:
    """What is kept of the items of a reply, as the text of a JSON object; None if nothing is.

    Only replies that call tools go back whole, and messages with a phase. Reasoning goes back if
    its server can read it: encrypted, or as plain text.
    """
    kept = [
        dict(each)
        for each in items
        if each["type"] != "reasoning" or each.get("encrypted_content") or _reasoning_text(each)
    ]
    is_needed = any(each["type"] == "function_call" or each.get("phase") for each in kept)
    if server is None or not is_needed:
        return None
    return reply_reading.json_text({"server": server, "model": model, "output": kept})


def _reasoning_text(item: Mapping[str, Any]) -> str:
    """The plain text of a reasoning item, not of its summary."""
    return text_of(item.get("content"))


def reasoning_in(item: Mapping[str, Any]) -> str:
    """What a reasoning item shows: its text, or the parts of its summary with blank lines."""
    if text := _reasoning_text(item):
        return text
    summary = item.get("summary")
    parts = summary if isinstance(summary, list) else ()
    return "\n\n".join(filter(None, (text_of([part]) for part in parts)))


def text_of_items(items: Iterable[Mapping[str, Any]]) -> str:
    """The words of the messages among some items, with a blank line between messages."""
    texts = (text_of(each.get("content")) for each in items if each["type"] == "message")
    return "\n\n".join(filter(None, texts))


def refusal_in(items: Iterable[Mapping[str, Any]]) -> str:
    """Why the model refuses, from the messages among some items."""
    contents = (each.get("content") for each in items if each["type"] == "message")
    parts = (part for each in contents if isinstance(each, list) for part in each)
    return "".join(text_of(part.get("refusal")) for part in parts if isinstance(part, Mapping))


_log = logging.getLogger("interp.model")
_ASKED_FOR: Final = ("message", "function_call", "reasoning")


def read_response(
    data: object, request: Request | None = None, *, server: str | None = None
) -> reply_reading.Reply:
    """Read the JSON of a response, as `read_reply` does: one that is no answer is a ModelError."""
    if not isinstance(data, Mapping):
        raise ModelError(f"the model's reply is {type(data).__name__}, not a response")
    status, output = data.get("status"), data.get("output")
    if data.get("error") or status == "failed":
        raise failed(data.get("error") or "the provider failed, and does not say why")
    if not isinstance(output, list):
        raise reported_in(data) or ModelError(
            f"the reply is not a response, it has no output: {quoted(data)}\n  hint: {NO_RESPONSES}"
        )
    if status in ("queued", "in_progress", "cancelled"):
        raise ModelError(f"the response is not finished: its status is {status}")
    why = data.get("incomplete_details")
    reason = word(why.get("reason")) if isinstance(why, Mapping) else ""
    if status == "incomplete" and reason == "content_filter":
        raise ModelError("the provider's content filter withheld the reply", code="content_filter")
    items = [each for each in output if isinstance(each, Mapping) and word(each.get("type"))]
    calls: dict[str, ToolCall] = {}  # by ids that differ
    for each in items:
        if each["type"] == "function_call":
            made = reply_reading.tool_call(each, each.get("call_id"), len(calls), calls)
            calls[made.id] = made
    text, refusal = text_of_items(items), refusal_in(items)
    _expect_what_was_asked(items, has_said=bool(text or refusal or calls))
    message = Message(
        AssistantRole,
        well_formed(text or refusal),
        tuple(calls.values()),
        refused=bool(refusal and not text and not calls),
        echo=to_echo(items, server, request.model.name) if request else None,
    )
    reasoning = (reasoning_in(each) for each in items if each["type"] == "reasoning")
    reply = reply_reading.Reply(
        message,
        reply_reading.usage_of(data.get("usage"), "input", "output"),
        status == "incomplete",
        reason or word(status),
        word(data.get("model")),
        reasoning=well_formed("\n\n".join(filter(None, reasoning))),
    )
    return reply_reading.read_reply(reply, request)


def _expect_what_was_asked(items: list[Mapping[str, Any]], *, has_said: bool) -> None:
    """Tell of items that nobody asked for; a reply that only asks for such is an error."""
    others = sorted({word(each["type"]) for each in items} - {*_ASKED_FOR})
    if not others:
        return
    told = ", ".join(others)
    asked = [each for each in others if each.endswith(("_call", "_request"))]
    if asked and not has_said:
        raise ModelError(f"the model asks for {told}, which was not offered to it")
    _log.warning("the reply has items that were not asked for: %s", quoted(told))


@lru_cache(maxsize=16)
def _message_texts(
    server: str, model: str, with_reasoning: bool, with_files: bool
) -> Callable[[Message], str]:
    """The JSON texts of messages, each kept as long as its message; a message may be many items."""
    how = server, model, with_reasoning, with_files
    return memo(lambda message: wire.dumped(items_of(message, *how))[1:-1])


# The last events of streams; each names the status of its response.
_LAST: Final = ("response.completed", "response.incomplete", "response.failed")
_REASONING: Final = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")


@define
class _Item:
    """What has come of one item of the output: how it began, the whole item, and its pieces."""

    added: Mapping[str, Any] = field(factory=dict)
    done: Mapping[str, Any] | None = None
    text: list[str] = field(factory=list)
    arguments: list[str] = field(factory=list)
    has_reasoned: bool = False
    part: object = None  # of the summary: what the last piece of reasoning belongs to

    def as_json(self) -> Mapping[str, Any] | None:
        """The item, made of its pieces where it was never whole; None if nothing is known of it.

        A call whose arguments never came is a stream that ended too early.
        """
        if self.done is None and self.text:
            part = {"type": "output_text", "text": "".join(self.text)}
            return {"role": "assistant", **self.added, "type": "message", "content": [part]}
        if self.done is None and self.added.get("type") == "function_call":
            if not self.arguments:
                raise wire.ended_too_early()
            return {**self.added, "arguments": "".join(self.arguments)}
        return self.done


class StreamedResponse(wire.StreamedPieces):
    """The events of one response so far."""

    def __init__(self) -> None:
        self._items: dict[object, _Item] = {}
        self._last: Mapping[str, Any] | None = None
        self._has_said = self._has_reasoned = False

    def _pieces(self, event: Mapping[str, Any]) -> list[wire.Piece]:
        kind = word(event.get("type"))
        if kind == "error" or (kind not in _LAST and event.get("error")):
            raise failed(event.get("error") or event)
        if not kind and (reported := reported_in(event)):
            raise reported
        if kind in _LAST:
            response = event.get("response")
            last = response if isinstance(response, Mapping) else event
            status = last.get("status") or kind.removeprefix("response.")
            self._last = {**last, "status": status}
            return []
        return self._of_item(kind, event)

    def whole(self) -> Json:
        """The response that the events are parts of."""
        if self._last is None:
            raise wire.ended_too_early()
        if self._last.get("output") or self._last["status"] == "failed":
            return self._last
        places = sorted(self._items, key=lambda place: place if isinstance(place, int) else -1)
        found = (self._items[place].as_json() for place in places)
        return {**self._last, "output": [each for each in found if each is not None]}

    def _of_item(self, kind: str, event: Mapping[str, Any]) -> list[wire.Piece]:
        item = self._items.setdefault(event.get("output_index"), _Item())
        delta, whole = event.get("delta"), event.get("item")
        text = well_formed(delta) if isinstance(delta, str) else ""
        match kind:
            case "response.output_item.added" if isinstance(whole, Mapping):
                item.added = whole
            case "response.function_call_arguments.delta":
                item.arguments.append(text)
            case "response.function_call_arguments.done" if event.get("arguments"):
                item.arguments = [word(event["arguments"])]  # of some, no pieces came before
            case "response.output_item.done" if isinstance(whole, Mapping):
                item.done, kind = whole, word(whole.get("type"))  # of some, no pieces came before
                if kind == "message" and not item.text:
                    return self._said(item, well_formed(text_of_items([whole])))
                if kind == "reasoning" and not item.has_reasoned:
                    return self._reasoned(item, well_formed(reasoning_in(whole)), None)
            case "response.output_text.delta":
                return self._said(item, text)
            case _ if kind in _REASONING:
                return self._reasoned(item, text, event.get("summary_index"))
        return []

    def _said(self, item: _Item, text: str) -> list[wire.Piece]:
        if not text:
            return []
        is_next = self._has_said and not item.text
        item.text.append(text)
        self._has_said = True
        return [f"\n\n{text}" if is_next else text]

    def _reasoned(self, item: _Item, text: str, part: object) -> list[wire.Piece]:
        if not text:
            return []
        is_next = self._has_reasoned and (not item.has_reasoned or part != item.part)
        item.part, item.has_reasoned, self._has_reasoned = part, True, True
        return [wire.Reasoning(f"\n\n{text}" if is_next else text)]


@frozen(kw_only=True)
class Responses(wire.Wire):
    """The Responses API, as one server wants it."""

    path = "/responses"
    messages = "input"
    reader = staticmethod(read_response)
    new_stream = StreamedResponse

    dialect: Dialect = "responses"
    fields: Mapping[str, str] = RESPONSES_FIELDS
    server: str

    def texts(self, request: Request) -> list[str]:
        """The texts of the items of the conversation."""
        texts = _message_texts(
            self.server,
            request.model.name,
            takes("encrypted reasoning", self.server, request.model),
            takes("files of tools", self.server, request.model),
        )
        return [*filter(None, map(texts, request.messages))]

    def beside(self, request: Request, asked: Json) -> dict[str, Json]:
        """The instruction, the format of the answer, and what is to be kept."""
        fields: dict[str, Json] = {"store": False}
        if takes("encrypted reasoning", self.server, request.model):
            fields["include"] = ["reasoning.encrypted_content"]
        if asked is not None:
            is_schema = "json_schema" in asked
            schema = {"type": "json_schema", **asked.get("json_schema", {}), "strict": False}
            fields["text"] = {"format": schema if is_schema else asked}
        if request.instruction:
            fields["instructions"] = request.instruction
        return fields
