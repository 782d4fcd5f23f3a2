"""Builds constructs and trees: one method for each rule of ``grammar.lark``, under its name.

The parser calls a method of `ConstructBuilder` with the tokens and constructs that the rule
consists of. The trees that they spell were read before and are handed to the constructs afterwards.

A method of `TreeBuilder` gets the parts of the rule: the lexer's matches, whose group 1 is the
token, and what was built of the rules below. This is the only place that says which tree a text
spells. Each pattern is given the place that it was read from.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable
from re import Match
from typing import Any, NamedTuple, TypeAlias, TypeVar

from pyrsistent import PMap, PVector, pmap, pvector

from ..errors import MAX_LEVELS, TooDeepError
from ..source import Source
from ..trees import WALK_SUBJECT, Pattern, Range, Subject, TaggedString, Value
from . import syntax
from .scalars import SCALARS, read_name, unquote


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


_NO_SUBJECT = Subject()
_NO_LABELS: frozenset[str] = frozenset()
_NO_PROPERTIES: PMap[str, Value] = pmap()


Token: TypeAlias = Match[str]


class _Record(NamedTuple):
    """The properties of a record, of a key given twice the last."""

    start: int
    end: int
    values: dict[str, Value]


class _Identified(NamedTuple):
    """``@@name:Label``."""

    start: int
    identity: str
    labels: frozenset[str]


class _Annotation(NamedTuple):
    """``@key(value)``."""

    start: int
    key: str
    value: Value


def _of_one_token(rule: str) -> Callable[[TreeBuilder, list[Token]], Value]:
    read = SCALARS[rule]
    return lambda _, parts: read(parts[0][1])


class TreeBuilder:
    """One method for each rule of the grammar, called with the rule's parts, tokens included."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.nested: dict[int, int] = {}  # how deep each array and map nests, by its id

    def start(self, parts: list[Any]) -> tuple[Pattern, ...]:
        """The whole document; a record can only be its first part."""
        if parts and isinstance(parts[0], _Record):
            start, end, values = parts[0]
            parts[0] = self._pattern(self._subject("", _NO_LABELS, values), (), start, end)
        return tuple(parts)

    # --- patterns

    def annotated(self, parts: list[Any]) -> Pattern:
        identity, labels = "", _NO_LABELS
        if isinstance(parts[0], _Identified):
            _, identity, labels = parts[0]
        annotations = [(part.key, part.value) for part in parts if isinstance(part, _Annotation)]
        values = self._by_key(annotations, parts[0].start)
        body = parts[-1]
        subject = self._subject(identity, labels, values)
        return self._pattern(subject, (body,), parts[0].start, end_of(body))

    def identified(self, parts: list[Any]) -> _Identified:
        marker, *rest = parts
        identity = read_name(rest[0][1]) if isinstance(rest[0], Match) else ""
        labels = rest[-1] if isinstance(rest[-1], frozenset) else _NO_LABELS
        return _Identified(marker.start(1), identity, labels)

    def annotation(self, parts: list[Any]) -> _Annotation:
        at, key, _, value, _ = parts
        return _Annotation(at.start(1), read_name(key[1]), value)

    def bracket(self, parts: list[Any]) -> Pattern:
        subject = parts[1] if isinstance(parts[1], Subject) else _NO_SUBJECT
        elements = tuple([part for part in parts if isinstance(part, Pattern)])
        return self._pattern(subject, elements, parts[0].start(1), parts[-1].end())

    def reference(self, parts: list[Any]) -> Pattern:
        (name,) = parts
        subject = Subject._of_checked(read_name(name[1]), _NO_LABELS, _NO_PROPERTIES, 0)
        return self._pattern(subject, (), name.start(1), name.end())

    def path(self, parts: list[Any]) -> Pattern:
        """An atom, an edge, or a walk of edges."""
        nodes: list[Pattern] = parts[::2]
        if len(nodes) == 1:
            return nodes[0]
        edges = []
        for left, (subject, to_left), right in zip(nodes, parts[1::2], nodes[1:], strict=False):
            ends = (right, left) if to_left else (left, right)
            edges.append(self._pattern(subject, ends, start_of(left), end_of(right)))
        if len(edges) == 1:
            return edges[0]
        return self._pattern(WALK_SUBJECT, tuple(edges), start_of(nodes[0]), end_of(nodes[-1]))

    def node(self, parts: list[Any]) -> Pattern:
        subject = parts[1] if isinstance(parts[1], Subject) else _NO_SUBJECT
        return self._pattern(subject, (), parts[0].start(1), parts[-1].end())

    def right(self, parts: list[Any]) -> tuple[Subject, bool]:
        """The subject of an arrow, and whether the arrow points to the left."""
        return parts[1], False

    both = undirected = right

    def left(self, parts: list[Any]) -> tuple[Subject, bool]:
        """The subject of an arrow, and whether the arrow points to the left."""
        return parts[1], True

    def hop(self, parts: list[Any]) -> Subject:
        """The subject between the halves of an arrow."""
        return parts[1] if len(parts) == 3 else _NO_SUBJECT

    # --- subjects

    def subject(self, parts: list[Any]) -> Subject:
        identity, labels, values = "", _NO_LABELS, None
        for part in parts:
            if isinstance(part, Match):
                identity = read_name(part[1])
            elif isinstance(part, frozenset):
                labels = part
            else:
                values = part.values
        return self._subject(identity, labels, values)

    def labels(self, parts: list[str]) -> frozenset[str]:
        return frozenset(parts)

    def label(self, parts: list[Token]) -> str:
        return read_name(parts[1][1])

    symbol = number_name = None  # a name stays a token: only the rule around it knows its use

    def quoted_name(self, parts: list[Token]) -> Token:
        read_name(parts[0][1])
        return parts[0]

    # --- records and values

    def record(self, parts: list[Any]) -> _Record:
        start = parts[0].start(1)
        return _Record(start, parts[-1].end(), self._by_key(parts[1:-1:2], start))

    def entry(self, parts: list[Any]) -> tuple[str, Value]:
        key, _, value = parts
        return read_name(key[1]), value

    map_entry = entry

    def map(self, parts: list[Any]) -> PMap[str, Value]:
        values = self._by_key(parts[1:-1:2], parts[0].start(1))
        return self._nest(pmap(values), values.values())

    def array(self, parts: list[Any]) -> PVector[Value]:
        items = parts[1:-1:2]
        return self._nest(pvector(items), items)

    def range(self, parts: list[Any]) -> Range:
        lower, upper = (None if isinstance(part, Match) else part for part in (parts[0], parts[-1]))
        return Range(lower, upper)

    integer, decimal = _of_one_token("integer"), _of_one_token("decimal")
    hexadecimal, octal = _of_one_token("hexadecimal"), _of_one_token("octal")
    measurement, boolean = _of_one_token("measurement"), _of_one_token("boolean")
    fence, tagged_fence = _of_one_token("fence"), _of_one_token("tagged_fence")
    string, symbol_value = _of_one_token("string"), _of_one_token("symbol_value")

    def tagged(self, parts: list[Token]) -> TaggedString:
        tag, content = parts
        return TaggedString(tag[1], unquote(content[1]))

    # --- helpers

    def _by_key(self, entries: list[tuple[str, Value]], start: int) -> dict[str, Value]:
        """The values by key, of a key given twice the last."""
        values = dict(entries)
        if len(values) < len(entries):
            insort(self.source.repeats, start)
        return values

    def _pattern(
        self, subject: Subject, elements: tuple[Pattern, ...], start: int, end: int
    ) -> Pattern:
        place = self.source, start, end
        return Pattern._of_checked(subject, elements, place, place)

    def _subject(
        self, identity: str, labels: frozenset[str], values: dict[str, Value] | None
    ) -> Subject:
        if not values:
            return Subject._of_checked(identity, labels, _NO_PROPERTIES, 0)
        return Subject._of_checked(identity, labels, pmap(values), self._levels(values.values()))

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


_Nested = TypeVar("_Nested", PMap[str, Value], PVector[Value])


def start_of(part: Any) -> int:
    """Where a part begins: a token, a pattern or what was built of a rule."""
    if isinstance(part, Pattern):
        assert part._place is not None
        return part._place[1]
    start: int = part.start(1) if isinstance(part, Match) else part.start
    return start


def end_of(pattern: Pattern) -> int:
    """Where a pattern that is being read ends."""
    assert pattern._place is not None
    return pattern._place[2]
