"""Makes constructs of their parts: one method for each rule of ``grammar.lark``, under its name.

Each builds the syntax and lowers it to the pattern or value it stands for. The parser calls it
with the tokens and constructs that the rule consists of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from string import ascii_letters
from typing import Any, TypeVar

from pyrsistent import PMap, pmap, pvector

from .errors import MAX_LEVELS, GramEncodeError, TooDeepError
from .origin import remember
from .pattern import WALK_SUBJECT, Pattern, Subject
from .source import Source
from .strings import fence_parts, unescape
from .syntax import (
    Annotated,
    Annotation,
    AnyValue,
    Array,
    Arrow,
    ArrowKind,
    Bracket,
    Element,
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
from .values import (
    Measurement,
    Number,
    Range,
    Symbol,
    TaggedString,
    Value as TreeValue,
    check_number,
    check_text,
)

_NO_SUBJECT = Subject()
_NO_PROPERTIES: PMap[str, TreeValue] = pmap()

_Placed = TypeVar("_Placed", Annotated, Bracket, Header, Node, Path, Reference)


class Builder:
    """One method for each rule of the grammar, called with the rule's parts, tokens included."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text

    def start(self, parts: list[Any]) -> tuple[Item, ...]:
        """The whole document; a record can only be its first part."""
        if parts and isinstance(parts[0], Record):
            record = parts[0]
            pattern = Pattern._of_checked(_subject(None, (), record.entries))
            header = Header(record.start, record.end, record, pattern)
            parts[0] = self._placed(header)
        return tuple(parts)

    # --- patterns

    def annotated(self, parts: list[Any]) -> Annotated:
        identified = parts[0] if isinstance(parts[0], Identified) else None
        annotations: tuple[Annotation, ...] = tuple(
            part for part in parts if isinstance(part, Annotation)
        )
        subject = _subject(
            identified.identity if identified else None,
            identified.labels if identified else (),
            annotations,
        )
        body = parts[-1]
        pattern = Pattern._of_checked(subject, (body.pattern,))
        first = parts[0].start
        return self._placed(Annotated(first, body.end, identified, annotations, body, pattern))

    def identified(self, parts: list[Any]) -> Identified:
        marker, *rest = parts
        identity = rest[0] if isinstance(rest[0], Name) else None
        labels = rest[-1] if isinstance(rest[-1], tuple) else ()
        end = labels[-1].end if labels else rest[0].end
        return Identified(marker.start, end, identity, labels)

    def annotation(self, parts: list[Any]) -> Annotation:
        at, key, _, value, closer = parts
        return Annotation(at.start, closer.end, key, value)

    def bracket(self, parts: list[Any]) -> Bracket:
        opener, closer = parts[0], parts[-1]
        subject = self._subject_in(parts[1], opener.end)
        bar = next((p.start for p in parts[1:3] if isinstance(p, Token) and p.type == "BAR"), None)
        elements: tuple[Element, ...] = tuple(
            part for part in parts[1:] if not isinstance(part, Token | SubjectPart)
        )
        below = tuple(element.pattern for element in elements)
        pattern = Pattern._of_checked(subject.subject, below)
        return self._placed(Bracket(opener.start, closer.end, subject, bar, elements, pattern))

    def reference(self, parts: list[Any]) -> Reference:
        (name,) = parts
        pattern = Pattern._of_checked(_subject(name, (), ()))
        return self._placed(Reference(name.start, name.end, name, pattern))

    def path(self, parts: list[Any]) -> Node | Path:
        """A lone node, an edge, or a walk of edges."""
        if len(parts) == 1:
            node: Node = parts[0]
            return node
        nodes: list[Node] = parts[::2]
        arrows: list[Arrow] = parts[1::2]
        edges = []
        for left, arrow, right in zip(nodes, arrows, nodes[1:], strict=False):
            ends = (left.pattern, right.pattern)
            ends = ends[::-1] if arrow.kind == "left" else ends
            edges.append(Pattern._of_checked(arrow.subject.subject, ends))
            remember(edges[-1], self.source, left.start, right.end)
        pattern = edges[0] if len(edges) == 1 else Pattern._of_checked(WALK_SUBJECT, tuple(edges))
        path = Path(nodes[0].start, nodes[-1].end, tuple(nodes), tuple(arrows), pattern)
        return self._placed(path)

    def node(self, parts: list[Any]) -> Node:
        opener, closer = parts[0], parts[-1]
        subject = self._subject_in(parts[1], opener.end)
        pattern = Pattern._of_checked(subject.subject)
        return self._placed(Node(opener.start, closer.end, subject, pattern))

    def right(self, parts: list[Any]) -> Arrow:
        return self._arrow("right", parts)

    def left(self, parts: list[Any]) -> Arrow:
        return self._arrow("left", parts)

    def both(self, parts: list[Any]) -> Arrow:
        return self._arrow("both", parts)

    def undirected(self, parts: list[Any]) -> Arrow:
        return self._arrow("undirected", parts)

    def hop(self, parts: list[Any]) -> tuple[Any, ...]:
        """What stands between the halves of an arrow: nothing, or a subject in brackets."""
        return tuple(parts)

    def _arrow(self, kind: ArrowKind, parts: list[Any]) -> Arrow:
        tail, hop, head = parts
        inside = hop[1] if hop else None
        subject = self._subject_in(inside, hop[0].end if hop else tail.end)
        return Arrow(tail.start, head.end, kind, tail.end, head.start, subject, bracketed=bool(hop))

    # --- subjects

    def subject(self, parts: list[Any]) -> SubjectPart:
        identity = parts[0] if isinstance(parts[0], Name) else None
        labels: tuple[Label, ...] = next((p for p in parts if isinstance(p, tuple)), ())
        record = parts[-1] if isinstance(parts[-1], Record) else None
        spelled = [part for part in (identity, *labels, record) if part is not None]
        subject = _subject(identity, labels, record.entries if record else ())
        return SubjectPart(spelled[0].start, spelled[-1].end, identity, labels, record, subject)

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
        name = check_text(self._quoted(token))
        return Name(token.start, token.end, name)

    def number_name(self, parts: list[Token]) -> Name:
        return self.symbol(parts)

    # --- records and values

    def record(self, parts: list[Any]) -> Record:
        return Record(parts[0].start, parts[-1].end, _entries(parts))

    def entry(self, parts: list[Any]) -> Entry:
        key, _, value = parts
        return Entry(key.start, value.end, key, value)

    def map_entry(self, parts: list[Any]) -> Entry:
        return self.entry(parts)

    def map(self, parts: list[Any]) -> Map:
        entries = _entries(parts)
        levels = 1 + _levels(_effective(entries).values())
        return Map(
            parts[0].start, parts[-1].end, "map", _properties(entries), entries, _checked(levels)
        )

    def array(self, parts: list[Any]) -> Array:
        items = tuple(part for part in parts if isinstance(part, Value))
        levels = 1 + _levels(items)
        value = pvector([item.value for item in items])
        return Array(parts[0].start, parts[-1].end, "array", value, items, _checked(levels))

    def range(self, parts: list[Any]) -> Value:
        lower: Any = parts[0].value if isinstance(parts[0], Value) else None
        upper: Any = parts[-1].value if isinstance(parts[-1], Value) else None
        return Value(parts[0].start, parts[-1].end, "range", Range(lower, upper))

    def integer(self, parts: list[Token]) -> Value:
        return self._value(parts, _number(self._spelling(parts[0])))

    def hexadecimal(self, parts: list[Token]) -> Value:
        return self._value(parts, _number(self._spelling(parts[0]), 16))

    def octal(self, parts: list[Token]) -> Value:
        return self._value(parts, _number(self._spelling(parts[0]), 8))

    def decimal(self, parts: list[Token]) -> Value:
        return self._value(parts, _number(self._spelling(parts[0])))

    def measurement(self, parts: list[Token]) -> Value:
        spelling = self._spelling(parts[0])
        digits = spelling.rstrip(ascii_letters)
        return self._value(parts, Measurement(_number(digits), spelling[len(digits) :]))

    def boolean(self, parts: list[Token]) -> Value:
        return self._value(parts, parts[0].type == "TRUE")

    def symbol_value(self, parts: list[Token]) -> Value:
        return self._value(parts, Symbol(self._spelling(parts[0])))

    def tagged(self, parts: list[Token]) -> Value:
        tag, content = parts
        return self._value(parts, TaggedString(self._spelling(tag), self._quoted(content)))

    def tagged_fence(self, parts: list[Token]) -> Value:
        tag, content = fence_parts(self._spelling(parts[0]))
        return self._value(parts, TaggedString(tag, content))

    def fence(self, parts: list[Token]) -> Value:
        return self._value(parts, check_text(fence_parts(self._spelling(parts[0]))[1]))

    def string(self, parts: list[Token]) -> Value:
        return self._value(parts, check_text(self._quoted(parts[0])))

    # --- helpers

    def _placed(self, construct: _Placed) -> _Placed:
        remember(construct.pattern, self.source, construct.start, construct.end)
        return construct

    def _subject_in(self, part: object, offset: int) -> SubjectPart:
        """``part`` when it is a subject, else the empty one that stands at ``offset``."""
        if isinstance(part, SubjectPart):
            return part
        return SubjectPart(offset, offset, None, (), None, _NO_SUBJECT)

    def _spelling(self, token: Token) -> str:
        return self.text[token.start : token.end]

    def _quoted(self, token: Token) -> str:
        return unescape(self.text[token.start + 1 : token.end - 1])

    def _value(self, parts: list[Token], value: TreeValue) -> Value:
        return Value(parts[0].start, parts[-1].end, parts[-1].type, value)


def _number(spelling: str, base: int = 10) -> Number:
    """The number that is spelled."""
    try:
        is_decimal = base == 10 and "." in spelling
        return check_number(float(spelling) if is_decimal else int(spelling, base))
    except (ValueError, GramEncodeError):  # ValueError: Python's own limit on digits
        raise GramEncodeError("this number is too large") from None


def _entries(parts: list[Any]) -> tuple[Entry, ...]:
    return tuple(part for part in parts if isinstance(part, Entry))


def _effective(entries: Iterable[Entry | Annotation]) -> dict[str, AnyValue]:
    """The value of each key; of a key given twice the last counts."""
    return {entry.key.text: entry.value for entry in entries}


def _properties(entries: Iterable[Entry | Annotation]) -> PMap[str, TreeValue]:
    properties = {key: value.value for key, value in _effective(entries).items()}
    return pmap(properties) if properties else _NO_PROPERTIES


def _subject(
    identity: Name | None, labels: Iterable[Label], entries: Sequence[Entry | Annotation]
) -> Subject:
    """The subject that these say; all names and values in them are checked already."""
    return Subject._of_checked(
        identity.text if identity else "",
        frozenset([label.name.text for label in labels]),
        _properties(entries),
        _levels(_effective(entries).values()),
    )


def _levels(values: Iterable[Value]) -> int:
    """How deep the deepest of these values nests."""
    return max((value.levels for value in values if isinstance(value, Array | Map)), default=0)


def _checked(levels: int) -> int:
    """``levels``, if a value may nest as deep: it stands in a pattern, which is a level too."""
    if levels >= MAX_LEVELS:
        raise TooDeepError
    return levels
