"""What a client gets of a run: the answer, and before it what is seen while it goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from attrs import frozen

from ..json_text import Json, read_json
from ..machine import AgentResponse, Ask, Usage


@frozen
class Answer:
    """What a client gets at the end.

    Attributes:
        text: the answer: a text, or JSON where the program declares a type.
        usage: the tokens of the run.
        is_cut: whether it was cut off at its length limit.
        is_refusal: whether the model refused, and the text says why.
        is_json: whether the text is JSON: a value of a type that the program declares.
        asks: the calls that wait for a person; the text says so.
    """

    text: str
    usage: Usage = Usage(0, 0)
    is_cut: bool = False
    is_refusal: bool = False
    is_json: bool = False
    asks: tuple[Ask, ...] = ()

    @classmethod
    def of(cls, response: AgentResponse) -> Answer:
        """The answer that a run has given."""
        is_json = response.is_typed and not response.is_text
        return cls(response.content, response.usage, response.truncated, response.refused, is_json)

    @property
    def value(self) -> Json:
        """The answer as a JSON value."""
        return read_json(self.text) if self.is_json else self.text


class Reply(Protocol):
    """Writes what a client sees of a run while it goes on, as texts that are sent to it."""

    def begun(self) -> Iterator[str]:
        """The run has begun."""

    def said(self, text: str) -> Iterator[str]:
        """The model says some words."""

    def parted(self) -> Iterator[str]:
        """What was said is not all: calls of tools come, or another answer."""

    def watched(self, kind: str, fields: dict[str, Json]) -> Iterator[str]:
        """A tool or an agent inside was called, or has answered."""
