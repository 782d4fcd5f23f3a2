"""Builds constructs and trees: one method for each rule of ``grammar.lark``, under its name.

The parser calls a method with the tokens and constructs that the rule consists of. This is the only
place that says which tree a text spells. Each pattern is given the place that it was read from.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from pyrsistent import PMap, PVector, pmap, pvector

from ..errors import MAX_LEVELS, TooDeepError
from ..source import Source
from ..trees import WALK_SUBJECT, Pattern, Range, Subject, TaggedString, Value
from . import syntax
from .scalars import SCALARS, read_name, unescape

_NO_PROPERTIES: PMap[str, Value] = pmap()
_Nested = TypeVar("_Nested", PMap[str, Value], PVector[Value])


def _arrow(kind: syntax.ArrowKind) -> Callable[[Builder, list[Any]], syntax.Arrow]:
    def build(_: Builder, parts: list[Any]) -> syntax.Arrow:
        tail, hop, head = parts
        subject = _subject_in(hop[1] if hop else None, hop[0].end if hop else tail.end)
        return syntax.Arrow(tail.start, head.end, kind, tail.end, head.start, subject, bool(hop))

    return build


class Builder:
    """One method for each rule of the grammar, called with the rule's parts, tokens included."""

    def __init__(self, source: Source) -> None:
        self.source, self.text = source, source.text
        self.nested: dict[int, int] = {}  # how deep each array and map nests, by its id

    def start(self, parts: list[Any]) -> tuple[syntax.Item, ...]:
        """The whole document; a record can only be its first part."""
        if parts and isinstance(record := parts[0], syntax.Record):
            subject = self.subject([record])
            pattern = self._pattern(subject.subject, (), *record.span)
            parts[0] = syntax.Header(*record.span, pattern, subject)
        return tuple(parts)

    # --- patterns

    def annotated(self, parts: list[Any]) -> syntax.Annotated:
        first, body = parts[0], parts[-1]
        identified = first if isinstance(first, syntax.Identified) else None
        annotations = tuple(part for part in parts if isinstance(part, syntax.Annotation))
        name, labels = (identified.identity, identified.labels) if identified else (None, ())
        subject = self._subject(name.text if name else "", labels, annotations)
        pattern = self._pattern(subject, (body.pattern,), first.start, body.end)
        part = syntax.SubjectPart(first.start, parts[-2].end, name, labels, subject=subject)
        return syntax.Annotated(first.start, body.end, pattern, part, identified, annotations, body)

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
        start, end = parts[0].start, parts[-1].end
        part = _subject_in(parts[1], parts[0].end)
        bars = (each.start for each in parts[1:3] if getattr(each, "type", "") == "BAR")
        elements = tuple([each for each in parts if isinstance(each, syntax.Construct)])
        trees = tuple([each.pattern for each in elements])
        pattern = self._pattern(part.subject, trees, start, end)
        return syntax.Bracket(start, end, pattern, part, next(bars, None), elements)

    def reference(self, parts: list[syntax.Name]) -> syntax.Reference:
        (name,) = parts
        tree = self._subject(name.text, (), ())
        part = syntax.SubjectPart(name.start, name.end, name, (), None, tree)
        return syntax.Reference(*name.span, self._pattern(tree, (), *name.span), part)

    def path(self, parts: list[Any]) -> syntax.Node | syntax.Path:
        """A node without arrows, or a path: an edge, or a walk of edges."""
        first: syntax.Node = parts[0]
        if len(parts) == 1:
            return first
        edges = []
        for left, arrow, right in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
            ends = (left, right) if arrow.kind != "left" else (right, left)
            trees = (ends[0].pattern, ends[1].pattern)
            edges.append(self._pattern(arrow.subject.subject, trees, left.start, right.end))
        start, end = first.start, parts[-1].end
        is_edge = len(edges) == 1
        pattern = edges[0] if is_edge else self._pattern(WALK_SUBJECT, tuple(edges), start, end)
        part = parts[1].subject if is_edge else syntax.SubjectPart(start, start)
        return syntax.Path(start, end, pattern, part, tuple(parts[::2]), tuple(parts[1::2]))

    def node(self, parts: list[Any]) -> syntax.Node:
        start, end = parts[0].start, parts[-1].end
        part = _subject_in(parts[1], parts[0].end)
        return syntax.Node(start, end, self._pattern(part.subject, (), start, end), part)

    right = _arrow("right")
    left = _arrow("left")
    both = _arrow("both")
    undirected = _arrow("undirected")

    # --- subjects

    def subject(self, parts: list[Any]) -> syntax.SubjectPart:
        identity = parts[0] if isinstance(parts[0], syntax.Name) else None
        labels: tuple[syntax.Label, ...] = next((p for p in parts if isinstance(p, tuple)), ())
        record = parts[-1] if isinstance(parts[-1], syntax.Record) else None
        start = (identity or (labels[0] if labels else parts[0])).start
        end = (record or (labels[-1] if labels else parts[0])).end
        entries = record.entries if record else ()
        tree = self._subject(identity.text if identity else "", labels, entries)
        return syntax.SubjectPart(start, end, identity, labels, record, tree)

    def labels(self, parts: list[Any]) -> tuple[Any, ...]:
        return tuple(parts)

    hop = labels  # nothing, or a subject in brackets

    def label(self, parts: list[Any]) -> syntax.Label:
        colon, name = parts
        return syntax.Label(colon.start, name.end, name)

    def symbol(self, parts: list[syntax.Token]) -> syntax.Name:
        (token,) = parts
        return syntax.Name(*token.span, read_name(self.text[token.start : token.end]))

    number_name = quoted_name = symbol

    # --- records and values

    def record(self, parts: list[Any]) -> syntax.Record:
        return syntax.Record(parts[0].start, parts[-1].end, tuple(parts[1:-1:2]))

    def entry(self, parts: list[Any]) -> syntax.Entry:
        key, _, value = parts
        return syntax.Entry(key.start, value.end, key, value)

    map_entry = entry

    def map(self, parts: list[Any]) -> syntax.Map:
        start, end, entries = parts[0].start, parts[-1].end, tuple(parts[1:-1:2])
        values = self._by_key(entries)
        return syntax.Map(start, end, "map", self._nest(pmap(values), values.values()), entries)

    def array(self, parts: list[Any]) -> syntax.Array:
        items = tuple(parts[1:-1:2])
        values = [item.value for item in items]
        value = self._nest(pvector(values), values)
        return syntax.Array(parts[0].start, parts[-1].end, "array", value, items)

    def range(self, parts: list[Any]) -> syntax.Value:
        first, last = parts[0], parts[-1]
        ends = (part.value if isinstance(part, syntax.Value) else None for part in (first, last))
        return syntax.Value(first.start, last.end, "range", Range(*ends))

    def tagged(self, parts: list[syntax.Token]) -> syntax.Value:
        tag, content = (self.text[token.start : token.end] for token in parts)
        value = TaggedString(tag, unescape(content[1:-1]))
        return syntax.Value(parts[0].start, parts[1].end, parts[1].type, value)

    def string(self, parts: list[syntax.Token]) -> syntax.Value:
        """A value of one token."""
        (token,) = parts
        value = SCALARS[token.type](self.text[token.start : token.end])
        return syntax.Value(token.start, token.end, token.type, value)

    integer = hexadecimal = octal = decimal = measurement = string
    boolean = symbol_value = tagged_fence = fence = string

    # --- helpers

    def _by_key(self, entries: Sequence[syntax.Entry]) -> dict[str, Value]:
        """The values by key, of a key given twice the last."""
        values: dict[str, Value] = {entry.key.text: entry.value.value for entry in entries}
        if len(values) < len(entries):
            repeats, start = self.source.repeats, entries[0].start
            at = bisect_left(repeats, start)
            if repeats[at : at + 1] != [start]:  # else it is read again
                repeats.insert(at, start)
        return values

    def _pattern(
        self, subject: Subject, elements: tuple[Pattern, ...], start: int, end: int
    ) -> Pattern:
        place = self.source, start, end
        return Pattern._of_checked(subject, elements, place, place)

    def _subject(
        self, name: str, labels: Iterable[syntax.Label], entries: Sequence[syntax.Entry]
    ) -> Subject:
        values = self._by_key(entries)
        return Subject._of_checked(
            name,
            frozenset([label.name.text for label in labels]),
            pmap(values) if values else _NO_PROPERTIES,
            self._levels(values.values()),
        )

    def _levels(self, values: Iterable[Value]) -> int:
        """How deep the deepest of these values nests."""
        if not self.nested:
            return 0
        kinds = (PMap, PVector)
        return max((self.nested[id(v)] for v in values if isinstance(v, kinds)), default=0)

    def _nest(self, value: _Nested, below: Iterable[Value]) -> _Nested:
        """An array or map, if it may nest as deep: it is in a pattern, which is a level too."""
        levels = 1 + self._levels(below)
        if levels >= MAX_LEVELS:
            raise TooDeepError
        self.nested[id(value)] = levels
        return value


def _subject_in(part: object, offset: int) -> syntax.SubjectPart:
    """``part`` when it is a subject, else an empty one at ``offset``."""
    return part if isinstance(part, syntax.SubjectPart) else syntax.SubjectPart(offset, offset)
