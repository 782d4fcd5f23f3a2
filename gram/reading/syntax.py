"""The constructs of a text: how it spells its patterns, with the offset of every part.

There is one class for each construct of ``grammar.lark``. A construct says which arrow, which
quotes and which order the text has; the trees (`gram.Pattern`) do not. Constructs are read when
somebody asks for them (`gram.Document.items`) and hold the trees that were read before: each
construct of a pattern has it as ``pattern``, each value as ``value``.

Every construct has ``children``: the constructs directly inside it, in the order of the text.
A `Construct` spells a pattern and has ``subject``, ``entries`` and ``elements`` too.

Offsets are of the text that was read; ``end`` is exclusive. A node between two hops of a path is
one construct and two elements of the tree.

The classes are written out: attrs would make them anew at each start, which takes longer than
reading a small file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, TypeAlias, Union

from ..source import Span
from ..trees import Subject, Value as TreeValue, pattern as tree


class Extent:
    """A part of a text. Its repr says where it is and no more: its parts would fill a screen."""

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end

    @property
    def span(self) -> Span:
        """Its offsets."""
        return Span(self.start, self.end)

    holds: ClassVar[tuple[str, ...]] = ()
    """The attributes that hold the constructs directly inside."""

    @property
    def children(self) -> tuple[Extent, ...]:
        """The constructs directly inside, in the order of the text."""
        found: list[Extent] = []
        for name in self.holds:
            part = getattr(self, name)
            found.extend(part if isinstance(part, tuple) else [part] if part else [])
        return tuple(found)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.start}, {self.end})"


class Token(Extent):
    """A terminal: its place and its name in the grammar."""

    __slots__ = ("type",)

    def __init__(self, start: int, end: int, type: str) -> None:
        self.start, self.end, self.type = start, end, type


# --- names and values


class Name(Extent):
    """An identity, label name or key, bare or quoted; ``text`` is what it says."""

    __slots__ = ("text",)

    def __init__(self, start: int, end: int, text: str) -> None:
        self.start, self.end, self.text = start, end, text


class Label(Extent):
    """A label with the colon or double colon before it."""

    __slots__ = ("name",)

    def __init__(self, start: int, end: int, name: Name) -> None:
        self.start, self.end, self.name = start, end, name


class Value(Extent):
    """A value.

    Attributes:
        style: the terminal or rule that spells it.
        value: what it says; None when its key is given again, because then only the last counts.
    """

    __slots__ = ("style", "value")

    def __init__(self, start: int, end: int, style: str) -> None:
        self.start, self.end, self.style = start, end, style
        self.value: Any = None

    def stand_for(self, value: TreeValue) -> None:
        """Hold the value that was read here."""
        self.value = value


class Array(Value):
    """``[…]`` in value position."""

    __slots__ = holds = ("items",)

    def __init__(self, start: int, end: int, style: str, items: tuple[Value, ...]) -> None:
        super().__init__(start, end, style)
        self.items = items

    def stand_for(self, value: TreeValue) -> None:
        """Hold the array that was read here, and its items below."""
        self.value = value
        for item, below in zip(self.items, value, strict=True):  # type: ignore[arg-type]  # a PVector
            item.stand_for(below)


class Map(Value):
    """``{…}`` in value position."""

    __slots__ = ("_by_key", "entries")
    holds = ("entries",)

    def __init__(self, start: int, end: int, style: str, entries: tuple[Entry, ...]) -> None:
        super().__init__(start, end, style)
        self.entries = entries
        self._by_key: dict[str, Entry] | None = None

    @property
    def by_key(self) -> Mapping[str, Entry]:
        """The entries by key; of a key that is given again the last, which counts."""
        if self._by_key is None:
            self._by_key = {entry.key.text: entry for entry in self.entries}
        return self._by_key

    def stand_for(self, value: TreeValue) -> None:
        """Hold the map that was read here, and its values below."""
        self.value = value
        _give_values(self.entries, value)  # type: ignore[arg-type]  # a value with entries is a map


AnyValue: TypeAlias = Union[Value, Array, Map]


class Entry(Extent):
    """``key: value`` in a record or a map."""

    __slots__ = ("key", "value")
    holds = ("value",)

    def __init__(self, start: int, end: int, key: Name, value: AnyValue) -> None:
        self.start, self.end, self.key, self.value = start, end, key, value


class Annotation(Entry):
    """``@key(value)`` before a pattern."""

    __slots__ = ()


class Record(Extent):
    """The ``{…}`` of a subject, with every entry as written."""

    __slots__ = holds = ("entries",)

    def __init__(self, start: int, end: int, entries: tuple[Entry, ...]) -> None:
        self.start, self.end, self.entries = start, end, entries


def _give_values(entries: Iterable[Entry], values: Mapping[str, TreeValue]) -> None:
    """Hand the values of a map to the entries that spell them."""
    for key, entry in {entry.key.text: entry for entry in entries}.items():
        if key in values:  # a changed version of what was read may have dropped it
            entry.value.stand_for(values[key])


# --- patterns


_NO_SUBJECT = Subject()


class SubjectPart(Extent):
    """The identity, labels and record of a pattern. An empty one has no width."""

    __slots__ = ("identity", "labels", "record", "subject")
    holds = ("record",)

    def __init__(
        self,
        start: int,
        end: int,
        identity: Name | None = None,
        labels: tuple[Label, ...] = (),
        record: Record | None = None,
        subject: Subject = _NO_SUBJECT,
    ) -> None:
        self.start, self.end = start, end
        self.identity, self.labels, self.record, self.subject = identity, labels, record, subject


class Construct(Extent, ABC):
    """A construct that spells a pattern."""

    __slots__ = ("pattern",)

    pattern: tree.Pattern

    @property
    @abstractmethod
    def subject(self) -> SubjectPart:
        """The part that spells the identity, the labels and, but for annotations, the record."""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The properties as written; of a key given twice the last counts."""
        record = self.subject.record
        return record.entries if record else ()

    @property
    def elements(self) -> tuple[Construct, ...]:
        """The constructs of the pattern's elements, in the order of the tree."""
        return ()

    def stand_for(self, pattern: tree.Pattern) -> None:
        """Hold the pattern that was read here, and hand its parts to the constructs below.

        Elements that a changed version of the pattern has besides (see `carry_origin`) have none.
        """
        self.pattern = pattern
        _give_values(self.entries, pattern.value.properties)
        for element, below in zip(self.elements, pattern.elements, strict=False):
            element.stand_for(below)


class Reference(Construct):
    """A bare identifier as an element."""

    __slots__ = ("name",)

    def __init__(self, start: int, end: int, name: Name) -> None:
        self.start, self.end, self.name = start, end, name

    @property
    def subject(self) -> SubjectPart:
        """Its name."""
        return SubjectPart(self.start, self.end, self.name, subject=self.pattern.value)


class _Bracketed(Construct):
    """A construct that holds its subject between brackets."""

    __slots__ = ("subject",)

    subject: SubjectPart

    def __init__(self, start: int, end: int, subject: SubjectPart) -> None:
        self.start, self.end, self.subject = start, end, subject

    def stand_for(self, pattern: tree.Pattern) -> None:
        """Hold the pattern that was read here, and hand its parts to the constructs below."""
        self.subject.subject = pattern.value
        super().stand_for(pattern)


class Node(_Bracketed):
    """``(…)``."""

    __slots__ = ()
    holds = ("subject",)


class Bracket(_Bracketed):
    """``[…]``; ``bar`` is the offset of its ``|``, or None."""

    __slots__ = ("bar", "elements")
    holds = ("subject", "elements")
    elements: tuple[Construct, ...]

    def __init__(
        self,
        start: int,
        end: int,
        subject: SubjectPart,
        bar: int | None,
        elements: tuple[Any, ...],
    ) -> None:
        super().__init__(start, end, subject)
        self.bar, self.elements = bar, elements


ArrowKind: TypeAlias = Literal["right", "left", "both", "undirected"]


class Arrow(Extent):
    """An arrow between two nodes.

    ``tail_end`` and ``head_start`` bound what is between its halves: nothing, or the ``[…]``
    with ``subject`` inside.
    """

    __slots__ = ("bracketed", "head_start", "kind", "subject", "tail_end")
    holds = ("subject",)

    def __init__(
        self,
        start: int,
        end: int,
        kind: ArrowKind,
        tail_end: int,
        head_start: int,
        subject: SubjectPart,
        bracketed: bool,
    ) -> None:
        super().__init__(start, end)
        self.kind, self.tail_end, self.head_start = kind, tail_end, head_start
        self.subject, self.bracketed = subject, bracketed


class Path(Construct):
    """Two or more nodes with the arrows between them.

    With one arrow it spells an edge, with more a walk, whose elements are its `hops`.
    """

    __slots__ = ("arrows", "nodes")

    def __init__(
        self, start: int, end: int, nodes: tuple[Node, ...], arrows: tuple[Arrow, ...]
    ) -> None:
        self.start, self.end, self.nodes, self.arrows = start, end, nodes, arrows

    @property
    def subject(self) -> SubjectPart:
        """The subject of its only arrow; a walk has none in the text."""
        if len(self.arrows) == 1:
            return self.arrows[0].subject
        return SubjectPart(self.start, self.start)

    @property
    def hops(self) -> tuple[Path, ...]:
        """Each arrow with the nodes at its ends, as a path."""
        if len(self.arrows) == 1:
            return (self,)
        hops = []
        for index, edge in enumerate(self.pattern.elements):
            left, right = self.nodes[index : index + 2]
            hop = Path(left.start, right.end, (left, right), (self.arrows[index],))
            hop.pattern = edge
            hops.append(hop)
        return tuple(hops)

    @property
    def elements(self) -> tuple[Construct, ...]:
        """The two nodes, the one an arrow points to last; of a walk, its hops."""
        if len(self.arrows) > 1:
            return self.hops
        return self.nodes[::-1] if self.arrows[0].kind == "left" else self.nodes

    @property
    def children(self) -> tuple[Extent, ...]:
        """Its nodes and arrows."""
        return tuple(sorted((*self.nodes, *self.arrows), key=lambda part: part.start))

    def stand_for(self, pattern: tree.Pattern) -> None:
        """Hold the edge or walk that was read here, and hand its parts to the nodes and arrows."""
        self.pattern = pattern
        if len(self.arrows) == 1:
            self.arrows[0].subject.subject = pattern.value
        super().stand_for(pattern)


class Identified(Extent):
    """``@@name:Label`` before a pattern."""

    __slots__ = ("identity", "labels")

    def __init__(
        self, start: int, end: int, identity: Name | None, labels: tuple[Label, ...]
    ) -> None:
        self.start, self.end, self.identity, self.labels = start, end, identity, labels


class Annotated(Construct):
    """Annotations with the pattern that they precede."""

    __slots__ = ("annotations", "body", "identified")
    holds = ("annotations", "body")

    def __init__(
        self,
        start: int,
        end: int,
        identified: Identified | None,
        annotations: tuple[Annotation, ...],
        body: Bracket | Node | Path,
    ) -> None:
        super().__init__(start, end)
        self.identified, self.annotations, self.body = identified, annotations, body

    @property
    def subject(self) -> SubjectPart:
        """All annotations, with the identity and labels after ``@@``."""
        first = self.identified
        last = self.annotations[-1] if self.annotations else first
        identity, labels = (first.identity, first.labels) if first else (None, ())
        end = last.end if last else self.start
        return SubjectPart(self.start, end, identity, labels, subject=self.pattern.value)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The annotations with a key."""
        return self.annotations

    @property
    def elements(self) -> tuple[Construct, ...]:
        """The annotated pattern."""
        return (self.body,)


class Header(Construct):
    """The record at the top of a document."""

    __slots__ = holds = ("record",)

    def __init__(self, start: int, end: int, record: Record) -> None:
        self.start, self.end, self.record = start, end, record

    @property
    def subject(self) -> SubjectPart:
        """Its record."""
        return SubjectPart(self.start, self.end, record=self.record, subject=self.pattern.value)


Element: TypeAlias = Union[Bracket, Node, Path, Reference]
Item: TypeAlias = Union[Header, Annotated, Bracket, Node, Path]
