"""Writes answers as Chat Completions and the Responses API have them, whole and as events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from time import time
from typing import Any, Final, TypeAlias, Union

from ..json_text import Json
from ..machine import AgentResponse, Usage
from .requests import Asked, RefusedError


class ChatReply:
    """A completion."""

    def __init__(self, run: str, asked: Asked) -> None:
        self._asked = asked
        self._head = {"id": f"chatcmpl-{run}", "created": int(time()), "model": asked.model}
        self._has_said = False

    def whole(self, answer: AgentResponse) -> dict[str, Json]:
        """The reply as one object."""
        said = {"content": None, "refusal": answer.content}
        if not answer.refused:
            said = {"content": answer.content, "refusal": None}
        choice = {
            "index": 0,
            "message": {"role": "assistant", **said},
            "logprobs": None,
            "finish_reason": _finish(answer),
        }
        usage = {"usage": _usage(answer.usage, "prompt", "completion")}
        return {**self._head, "object": "chat.completion", "choices": [choice], **usage}

    def begun(self) -> Iterator[str]:
        """The first chunk: who speaks."""
        yield self._chunk({"role": "assistant", "content": ""})

    def said(self, text: str) -> Iterator[str]:
        """A chunk of words."""
        self._has_said = True
        yield self._chunk({"content": text})

    def parted(self) -> Iterator[str]:
        """A blank line: a completion has one text."""
        if self._has_said:
            yield self._chunk({"content": "\n\n"})

    def watched(self, kind: str, fields: dict[str, Json]) -> Iterator[str]:
        """A chunk without choices, which clients skip that do not know it."""
        yield self._data([], gram={"type": kind, **fields})

    def ended(self, answer: AgentResponse) -> Iterator[str]:
        """Why it ended, and the tokens if they are asked for."""
        if answer.refused and not self._has_said:
            yield self._chunk({"refusal": answer.content})
        yield self._chunk({}, _finish(answer))
        if self._asked.with_usage:
            yield self._data([], usage=_usage(answer.usage, "prompt", "completion"))
        yield "data: [DONE]\n\n"

    def failed(self, error: RefusedError) -> Iterator[str]:
        """The error in the place of a chunk."""
        yield event({"error": error.error})

    def _chunk(self, delta: dict[str, Json], finish: str | None = None) -> str:
        return self._data([{"index": 0, "delta": delta, "finish_reason": finish}])

    def _data(self, choices: list[Json], **more: Json) -> str:
        return event({**self._head, "object": "chat.completion.chunk", "choices": choices, **more})


def _finish(answer: AgentResponse) -> str:
    return "length" if answer.truncated else "stop"


def _usage(usage: Usage, given: str, said: str) -> Json:
    """The tokens used, under a dialect's names for those of the request and of the reply."""
    if usage.total_tokens is None:
        return None
    return {
        f"{given}_tokens": usage.input_tokens,
        f"{given}_tokens_details": {"cached_tokens": usage.cached_tokens},
        f"{said}_tokens": usage.output_tokens,
        f"{said}_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.total_tokens,
    }


_BLANK: Final[dict[str, Json]] = {
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "output": [],
    "parallel_tool_calls": True,
    "store": False,
    "temperature": None,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": None,
    "usage": None,
}
"""A response of which nothing is known; the settings of a request are the program's own."""


class ResponseReply:
    """A response of the Responses API.

    Each text is an item of its output: what was said before calls of tools, and the answer.
    """

    def __init__(self, run: str, asked: Asked) -> None:
        self._run = run
        self._head = {"id": f"resp_{run}", "object": "response", "created_at": int(time())}
        named = asked.conversation and {"id": asked.conversation}
        self._head |= {"model": asked.model, "conversation": named or None, **_BLANK}
        self._output: list[Json] = []
        self._words: list[str] = []
        self._place: dict[str, Any] = {}
        self._kind = "output_text"
        self._numbers = count()

    def whole(self, answer: AgentResponse) -> dict[str, Json]:
        """The reply as one object."""
        kind = "refusal" if answer.refused else "output_text"
        for _ in (*self.said(answer.content, kind), *self.parted()):
            pass  # nobody sees its events
        return self._ended(answer)

    def begun(self) -> Iterator[str]:
        """The response as it begins."""
        response = self._as_json("in_progress")
        yield self._event("response.created", response=response)
        yield self._event("response.in_progress", response=response)

    def said(self, text: str, kind: str = "output_text") -> Iterator[str]:
        """Words of an item, which begins with the first of them."""
        if not self._words:
            self._kind, index = kind, len(self._output)
            name = f"msg_{self._run}_{index}"
            self._place = {"item_id": name, "output_index": index, "content_index": 0}
            item = {**self._item("in_progress"), "content": []}
            yield self._event("response.output_item.added", output_index=index, item=item)
            yield self._event("response.content_part.added", **self._place, part=self._part)
        self._words.append(text)
        more: dict[str, Json] = {} if kind == "refusal" else {"logprobs": []}
        yield self._event(f"response.{kind}.delta", **self._place, delta=text, **more)

    def parted(self) -> Iterator[str]:
        """The end of an item."""
        if self._words:
            part, place, item = self._part, self._place, self._item("completed")
            said = {key: value for key, value in part.items() if key not in ("type", "annotations")}
            yield self._event(f"response.{self._kind}.done", **place, **said)
            yield self._event("response.content_part.done", **place, part=part)
            self._words = []
            self._output.append(item)
            index = place["output_index"]
            yield self._event("response.output_item.done", output_index=index, item=item)

    def watched(self, kind: str, fields: dict[str, Json]) -> Iterator[str]:
        """An event of our own kind."""
        yield self._event(f"gram.{kind}", **fields)

    def ended(self, answer: AgentResponse) -> Iterator[str]:
        """The end of the last item, and the whole response."""
        if answer.refused and not self._words:
            yield from self.said(answer.content, "refusal")
        yield from self.parted()
        kind = "response.incomplete" if answer.truncated else "response.completed"
        yield self._event(kind, response=self._ended(answer))

    def failed(self, error: RefusedError) -> Iterator[str]:
        """The response as it failed."""
        told = {"code": error.code, "message": str(error)}
        yield self._event("response.failed", response=self._as_json("failed", error=told))

    @property
    def _part(self) -> dict[str, Json]:
        text = "".join(self._words)
        if self._kind == "refusal":
            return {"type": "refusal", "refusal": text}
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}

    def _item(self, status: str) -> dict[str, Json]:
        said = {"role": "assistant", "status": status, "content": [self._part]}
        return {"type": "message", "id": self._place["item_id"], **said}

    def _ended(self, answer: AgentResponse) -> dict[str, Json]:
        more = {"output": self._output, "usage": _usage(answer.usage, "input", "output")}
        if answer.truncated:
            why = {"reason": "max_output_tokens"}
            return self._as_json("incomplete", incomplete_details=why, **more)
        return self._as_json("completed", **more)

    def _as_json(self, status: str, **more: Json) -> dict[str, Json]:
        return {**self._head, "status": status, **more}

    def _event(self, kind: str, **fields: Json) -> str:
        return event({"type": kind, "sequence_number": next(self._numbers), **fields}, kind)


OpenAIReply: TypeAlias = Union[ChatReply, ResponseReply]
"""The reply to one request, in one dialect of OpenAI."""


def event(data: Json, kind: str = "") -> str:
    """One event of a stream of server-sent events."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    named = f"event: {kind}\n" if kind else ""
    return f"{named}data: {text}\n\n"
