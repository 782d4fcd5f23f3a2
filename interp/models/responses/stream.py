"""Puts the events of a streamed response together into a response.

What counts are the items as they are done, and the last event. Ids may change between events and
the last event may have no output, so items are known by their place in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from attrs import define, field

from ...errors import ModelError
from ...json_text import Json
from ..chat.stream import ended_too_early
from ..failures import failed, reported_in
from ..reply_reading import well_formed, word
from ..server_events import END
from ..wire import Piece, Reasoning
from .items import reasoning_in, text_of_items

_LAST: Final = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
}
"""The status that each last event of a stream gives its response."""

_REASONING: Final = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")


@define
class _Item:
    """What has come of one item of the output.

    Attributes:
        added: The item as it was when it began.
        done: The whole item, or None.
        text, arguments, reasoning: The pieces that have come of each.
        part: The part of the summary that the last piece of reasoning belongs to.
    """

    added: Mapping[str, Any] = field(factory=dict)
    done: Mapping[str, Any] | None = None
    text: list[str] = field(factory=list)
    arguments: list[str] = field(factory=list)
    reasoning: list[str] = field(factory=list)
    part: object = None

    def as_json(self) -> Mapping[str, Any] | None:
        """The item, made of its pieces where it was never whole; None if nothing is known of it."""
        if self.done is not None:
            return self.done
        if self.text:
            part = {"type": "output_text", "text": "".join(self.text)}
            return {"type": "message", "role": "assistant", **self.added, "content": [part]}
        if self.arguments and self.added.get("type") == "function_call":
            return {**self.added, "arguments": "".join(self.arguments)}
        return None


class StreamedResponse:
    """The events of one response so far.

    >>> reply = StreamedResponse()
    >>> list(reply.add({"type": "response.output_text.delta", "output_index": 0, "delta": "Hi"}))
    ['Hi']
    >>> list(reply.add({"type": "response.completed", "response": {"output": []}}))
    []
    >>> reply.whole()["output"][0]["content"]
    [{'type': 'output_text', 'text': 'Hi'}]
    """

    def __init__(self) -> None:
        self._items: dict[object, _Item] = {}
        self._last: Mapping[str, Any] | None = None
        self._status = ""
        self._has_said = self._has_reasoned = False

    def add(self, event: object) -> Iterator[Piece]:
        """Take one more event; returns what it adds to the words and to the reasoning.

        Raises:
            ModelError: The event reports an error, or it is not an event.
        """
        if event is END:
            return iter(())
        if not isinstance(event, Mapping):
            raise ModelError("the model's stream has an event that is not an object")
        kind = word(event.get("type"))
        if kind == "error" or (kind not in _LAST and event.get("error")):
            raise failed(event.get("error") or event)
        if not kind and (reported := reported_in(event)):
            raise reported
        if kind in _LAST:
            response = event.get("response")
            self._last = response if isinstance(response, Mapping) else event
            self._status = _LAST[kind]
            return iter(())
        return iter(self._pieces(kind, event))

    def whole(self) -> Json:
        """The response that the events are parts of.

        Raises:
            ModelError: The stream ended too early, so nothing in it can be relied on.
        """
        if self._last is None:
            raise ended_too_early()
        last = {**self._last, "status": self._last.get("status") or self._status}
        if not last.get("output") and last["status"] != "failed":
            found = (each.as_json() for _, each in sorted(self._items.items(), key=_place))
            last["output"] = [each for each in found if each is not None]
        return last

    def _pieces(self, kind: str, event: Mapping[str, Any]) -> list[Piece]:
        item = self._items.setdefault(event.get("output_index"), _Item())
        delta = event.get("delta")
        text = well_formed(delta) if isinstance(delta, str) else ""
        match kind:
            case "response.output_item.added" if isinstance(event.get("item"), Mapping):
                item.added = event["item"]
            case "response.output_item.done" if isinstance(event.get("item"), Mapping):
                return self._done(item, event["item"])
            case "response.output_text.delta" if text:
                return self._said(item, text)
            case "response.function_call_arguments.delta":
                item.arguments.append(text)
            case _ if kind in _REASONING and text:
                return self._reasoned(item, text, event.get("summary_index"))
        return []

    def _done(self, item: _Item, done: Mapping[str, Any]) -> list[Piece]:
        """Take a whole item; some servers send no pieces of it before."""
        item.done = done
        kind = done.get("type")
        if kind == "message" and not item.text and (text := text_of_items([done])):
            return self._said(item, well_formed(text))
        if kind == "reasoning" and not item.reasoning and (text := reasoning_in(done)):
            return self._reasoned(item, well_formed(text), None)
        return []

    def _said(self, item: _Item, text: str) -> list[Piece]:
        is_next = self._has_said and not item.text
        item.text.append(text)
        self._has_said = True
        return [f"\n\n{text}" if is_next else text]

    def _reasoned(self, item: _Item, text: str, part: object) -> list[Piece]:
        is_next = self._has_reasoned and (not item.reasoning or part != item.part)
        item.reasoning.append(text)
        item.part, self._has_reasoned = part, True
        return [Reasoning(f"\n\n{text}" if is_next else text)]


def _place(item: tuple[object, _Item]) -> int:
    return item[0] if isinstance(item[0], int) else -1
