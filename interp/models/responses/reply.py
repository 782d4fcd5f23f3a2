"""Reads responses: what the API replies with, whole or put together from a stream."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from ...errors import ModelError
from ...machine import AssistantRole, Message, Request, ToolCall
from ..failures import NO_RESPONSES, failed, quoted, reported_in
from ..reply_reading import Reply, read_reply, tool_call, usage_of, well_formed, word
from .items import reasoning_in, refusal_in, text_of_items, to_echo

_log = logging.getLogger("interp.model")

_ASKED_FOR: Final = ("message", "function_call", "reasoning")


def read_response(
    data: object, request: Request | None = None, *, server: str | None = None
) -> Reply:
    """Read the JSON of a response.

    Args:
        data: The JSON.
        request: What it answers; see `read_reply`.
        server: The server that gave it; what it wants back is sent to no other.

    Raises:
        ModelError: It is not a response, reports an error, is not complete, was filtered, or
            asks for nothing but what was not offered.
    """
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
    text, refusal, calls = text_of_items(items), refusal_in(items), _calls(items)
    _expect_what_was_asked(items, has_said=bool(text or refusal or calls))
    message = Message(
        AssistantRole,
        well_formed(text or refusal),
        calls,
        refused=bool(refusal and not text and not calls),
        echo=to_echo(items, server, request.model.name) if request else None,
    )
    reasoning = (reasoning_in(each) for each in items if each["type"] == "reasoning")
    reply = Reply(
        message,
        usage_of(data.get("usage"), "input", "output"),
        status == "incomplete",
        reason or word(status),
        word(data.get("model")),
        reasoning=well_formed("\n\n".join(filter(None, reasoning))),
    )
    return read_reply(reply, request)


def _calls(items: list[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    """The calls among some items, each with an id that no other call of the reply has."""
    calls: dict[str, ToolCall] = {}
    for item in items:
        if item["type"] == "function_call":
            made = tool_call(item, item.get("call_id"), len(calls), calls)
            calls[made.id] = made
    return tuple(calls.values())


def _expect_what_was_asked(items: list[Mapping[str, Any]], *, has_said: bool) -> None:
    """Tell of items that nobody asked for; a reply of nothing else is an error.

    Raises:
        ModelError: The reply only asks for what was not offered.
    """
    others = sorted({word(each["type"]) for each in items} - {*_ASKED_FOR})
    if not others:
        return
    told = ", ".join(others)
    asked = [each for each in others if each.endswith(("_call", "_request"))]
    if asked and not has_said:
        raise ModelError(f"the model asks for {told}, which was not offered to it")
    _log.warning("the reply has items that were not asked for: %s", quoted(told))
