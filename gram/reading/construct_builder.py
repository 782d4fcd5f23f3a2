"""Builds constructs: one method for each rule of ``grammar.lark``, under its name.

The parser calls a method with the tokens and constructs that the rule consists of. The trees that
they spell were read before and are handed to the constructs afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import syntax
from .literals import unquote


def _arrow(kind: syntax.ArrowKind) -> Callable[[ConstructBuilder, list[Any]], syntax.Arrow]:
    def build(_: ConstructBuilder, parts: list[Any]) -> syntax.Arrow:
        tail, hop, head = parts
        subject = _subject_in(hop[1] if hop else None, hop[0].end if hop else tail.end)
        return syntax.Arrow(tail.start, head.end, kind, tail.end, head.start, subject, bool(hop))

    return build


class ConstructBuilder:
    """One method for each rule of the grammar, called with the rule's parts, tokens included."""

    def __init__(self, text: str) -> None:
        self.text = text

    def start(self, parts: list[Any]) -> tuple[syntax.Item, ...]:
        """The whole document; a record can only be its first part."""
        if parts and isinstance(parts[0], syntax.Record):
            parts[0] = syntax.Header(*parts[0].span, parts[0])
        return tuple(parts)

    # --- patterns

    def annotated(self, parts: list[Any]) -> syntax.Annotated:
        first, body = parts[0], parts[-1]
        identified = first if isinstance(first, syntax.Identified) else None
        annotations = tuple(part for part in parts if isinstance(part, syntax.Annotation))
        return syntax.Annotated(first.start, body.end, identified, annotations, body)

    def identified(self, parts: list[Any]) -> syntax.Identified:
        marker, *rest = parts
        identity = rest[0] if isinstance(rest[0], syntax.Name) else None
        labels = rest[-1] if isinstance(rest[-1], tuple) else ()
        end = labels[-1].end if labels else rest[0].end
        return syntax.Identified(marker.start, end, identity, labels)

    def annotation(self, parts: list[Any]) -> syntax.Annotation:
        at, key, _, value, closer = parts
        return syntax.Annotation(at.start, closer.end, key, value)

    def bracket(self, parts: list[Any]) -> syntax.Bracket:
        opener, closer = parts[0], parts[-1]
        subject = _subject_in(parts[1], opener.end)
        bars = (part.start for part in parts[1:3] if getattr(part, "type", "") == "BAR")
        elements = tuple(part for part in parts if isinstance(part, syntax.Construct))
        return syntax.Bracket(opener.start, closer.end, subject, next(bars, None), elements)

    def reference(self, parts: list[Any]) -> syntax.Reference:
        (name,) = parts
        return syntax.Reference(name.start, name.end, name)

    def path(self, parts: list[Any]) -> syntax.Node | syntax.Path:
        """A node without arrows, or a path."""
        first: syntax.Node = parts[0]
        if len(parts) == 1:
            return first
        return syntax.Path(first.start, parts[-1].end, tuple(parts[::2]), tuple(parts[1::2]))

    def node(self, parts: list[Any]) -> syntax.Node:
        opener, closer = parts[0], parts[-1]
        return syntax.Node(opener.start, closer.end, _subject_in(parts[1], opener.end))

    right = _arrow("right")
    left = _arrow("left")
    both = _arrow("both")
    undirected = _arrow("undirected")

    def hop(self, parts: list[Any]) -> tuple[Any, ...]:
        """What is between the halves of an arrow: nothing, or a subject in brackets."""
        return tuple(parts)

    # --- subjects

    def subject(self, parts: list[Any]) -> syntax.SubjectPart:
        identity = parts[0] if isinstance(parts[0], syntax.Name) else None
        labels: tuple[syntax.Label, ...] = next((p for p in parts if isinstance(p, tuple)), ())
        record = parts[-1] if isinstance(parts[-1], syntax.Record) else None
        spelled = [part for part in (identity, *labels, record) if part is not None]
        return syntax.SubjectPart(spelled[0].start, spelled[-1].end, identity, labels, record)

    def labels(self, parts: list[syntax.Label]) -> tuple[syntax.Label, ...]:
        return tuple(parts)

    def label(self, parts: list[Any]) -> syntax.Label:
        colon, name = parts
        return syntax.Label(colon.start, name.end, name)

    def symbol(self, parts: list[syntax.Token]) -> syntax.Name:
        (token,) = parts
        return syntax.Name(token.start, token.end, self.text[token.start : token.end])

    def quoted_name(self, parts: list[syntax.Token]) -> syntax.Name:
        (token,) = parts
        return syntax.Name(token.start, token.end, unquote(self.text[token.start : token.end]))

    number_name = symbol

    # --- records and values

    def record(self, parts: list[Any]) -> syntax.Record:
        return syntax.Record(parts[0].start, parts[-1].end, tuple(parts[1:-1:2]))

    def entry(self, parts: list[Any]) -> syntax.Entry:
        key, _, value = parts
        return syntax.Entry(key.start, value.end, key, value)

    map_entry = entry

    def map(self, parts: list[Any]) -> syntax.Map:
        return syntax.Map(parts[0].start, parts[-1].end, "map", tuple(parts[1:-1:2]))

    def array(self, parts: list[Any]) -> syntax.Array:
        return syntax.Array(parts[0].start, parts[-1].end, "array", tuple(parts[1:-1:2]))

    def range(self, parts: list[Any]) -> syntax.Value:
        return syntax.Value(parts[0].start, parts[-1].end, "range")

    def string(self, parts: list[syntax.Token]) -> syntax.Value:
        return syntax.Value(parts[0].start, parts[-1].end, parts[-1].type)

    integer = hexadecimal = octal = decimal = measurement = string
    boolean = symbol_value = tagged = tagged_fence = fence = string


def _subject_in(part: object, offset: int) -> syntax.SubjectPart:
    """``part`` when it is a subject, else an empty one at ``offset``."""
    return part if isinstance(part, syntax.SubjectPart) else syntax.SubjectPart(offset, offset)
