"""Builds constructs: one method for each rule of ``grammar.lark``, under its name.

The parser calls a method with the tokens and constructs that the rule consists of. The trees that
they spell were read before and are handed to the constructs afterwards.
"""

from __future__ import annotations

from typing import Any

from .literals import unquote
from .syntax import (
    Annotated,
    Annotation,
    Array,
    Arrow,
    ArrowKind,
    Bracket,
    Entry,
    Header,
    Identified,
    Item,
    Label,
    Map,
    Name,
    Node,
    Path,
    Record,
    Reference,
    SubjectPart,
    Token,
    Value,
)


class ConstructBuilder:
    """One method for each rule of the grammar, called with the rule's parts, tokens included."""

    def __init__(self, text: str) -> None:
        self.text = text

    def start(self, parts: list[Any]) -> tuple[Item, ...]:
        """The whole document; a record can only be its first part."""
        if parts and isinstance(parts[0], Record):
            parts[0] = Header(*parts[0].span, parts[0])
        return tuple(parts)

    # --- patterns

    def annotated(self, parts: list[Any]) -> Annotated:
        first, body = parts[0], parts[-1]
        identified = first if isinstance(first, Identified) else None
        annotations = tuple(part for part in parts if isinstance(part, Annotation))
        return Annotated(first.start, body.end, identified, annotations, body)

    def identified(self, parts: list[Any]) -> Identified:
        marker, *rest = parts
        identity = rest[0] if isinstance(rest[0], Name) else None
        labels = rest[-1] if isinstance(rest[-1], tuple) else ()
        return Identified(marker.start, labels[-1].end if labels else rest[0].end, identity, labels)

    def annotation(self, parts: list[Any]) -> Annotation:
        at, key, _, value, closer = parts
        return Annotation(at.start, closer.end, key, value)

    def bracket(self, parts: list[Any]) -> Bracket:
        opener, closer = parts[0], parts[-1]
        subject = _subject_in(parts[1], opener.end)
        bars = [part.start for part in parts[1:3] if isinstance(part, Token) and part.type == "BAR"]
        elements = tuple(part for part in parts[1:] if not isinstance(part, Token | SubjectPart))
        return Bracket(opener.start, closer.end, subject, bars[0] if bars else None, elements)

    def reference(self, parts: list[Any]) -> Reference:
        (name,) = parts
        return Reference(name.start, name.end, name)

    def path(self, parts: list[Any]) -> Node | Path:
        """A node without arrows, or a path."""
        first: Node = parts[0]
        return first if len(parts) == 1 else _path(parts)

    def node(self, parts: list[Any]) -> Node:
        opener, closer = parts[0], parts[-1]
        return Node(opener.start, closer.end, _subject_in(parts[1], opener.end))

    def right(self, parts: list[Any]) -> Arrow:
        return _arrow("right", parts)

    def left(self, parts: list[Any]) -> Arrow:
        return _arrow("left", parts)

    def both(self, parts: list[Any]) -> Arrow:
        return _arrow("both", parts)

    def undirected(self, parts: list[Any]) -> Arrow:
        return _arrow("undirected", parts)

    def hop(self, parts: list[Any]) -> tuple[Any, ...]:
        """What is between the halves of an arrow: nothing, or a subject in brackets."""
        return tuple(parts)

    # --- subjects

    def subject(self, parts: list[Any]) -> SubjectPart:
        identity = parts[0] if isinstance(parts[0], Name) else None
        labels: tuple[Label, ...] = next((p for p in parts if isinstance(p, tuple)), ())
        record = parts[-1] if isinstance(parts[-1], Record) else None
        spelled = [part for part in (identity, *labels, record) if part is not None]
        return SubjectPart(spelled[0].start, spelled[-1].end, identity, labels, record)

    def labels(self, parts: list[Label]) -> tuple[Label, ...]:
        return tuple(parts)

    def label(self, parts: list[Any]) -> Label:
        colon, name = parts
        return Label(colon.start, name.end, name)

    def symbol(self, parts: list[Token]) -> Name:
        (token,) = parts
        return Name(token.start, token.end, self.text[token.start : token.end])

    def quoted_name(self, parts: list[Token]) -> Name:
        (token,) = parts
        return Name(token.start, token.end, unquote(self.text[token.start : token.end]))

    number_name = symbol

    # --- records and values

    def record(self, parts: list[Any]) -> Record:
        return Record(parts[0].start, parts[-1].end, tuple(parts[1:-1:2]))

    def entry(self, parts: list[Any]) -> Entry:
        key, _, value = parts
        return Entry(key.start, value.end, key, value)

    map_entry = entry

    def map(self, parts: list[Any]) -> Map:
        return Map(parts[0].start, parts[-1].end, "map", tuple(parts[1:-1:2]))

    def array(self, parts: list[Any]) -> Array:
        return Array(parts[0].start, parts[-1].end, "array", tuple(parts[1:-1:2]))

    def range(self, parts: list[Any]) -> Value:
        return Value(parts[0].start, parts[-1].end, "range")

    def string(self, parts: list[Token]) -> Value:
        return Value(parts[0].start, parts[-1].end, parts[-1].type)

    integer = hexadecimal = octal = decimal = measurement = string
    boolean = symbol_value = tagged = tagged_fence = fence = string


def _subject_in(part: object, offset: int) -> SubjectPart:
    """``part`` when it is a subject, else an empty one at ``offset``."""
    return part if isinstance(part, SubjectPart) else SubjectPart(offset, offset)


def _path(parts: list[Any]) -> Path:
    return Path(parts[0].start, parts[-1].end, tuple(parts[::2]), tuple(parts[1::2]))


def _arrow(kind: ArrowKind, parts: list[Any]) -> Arrow:
    tail, hop, head = parts
    subject = _subject_in(hop[1] if hop else None, hop[0].end if hop else tail.end)
    return Arrow(tail.start, head.end, kind, tail.end, head.start, subject, bracketed=bool(hop))
