"""Reasoning, as a piece of a streamed reply."""

from __future__ import annotations

from attrs import frozen


@frozen
class Reasoning:
    """A piece of what a model shows of its reasoning, or of a summary of it.

    Models' ``stream`` and ``astream`` may yield it beside the words of the answer, each a str.

    Attributes:
        text: The piece.
    """

    text: str
