"""The constructs of a text: how it spells its patterns, with the offset of every part.

There is one class for each construct of ``grammar.lark``. A construct says which arrow, which
quotes and which order the text has; the trees (`gram.Pattern`) do not. Constructs are read when
somebody asks for them (`gram.Document.items`). Each construct of a pattern has it as ``pattern``,
each value as ``value``.

Every construct has ``children``: the constructs directly inside it, in the order of the text.
A `Construct` spells a pattern and has ``subject``, ``entries`` and ``elements`` too.

Offsets are of the text that was read; ``end`` is exclusive. A node between two hops of a path is
one construct and two elements of the tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias, Union

from attrs import define

from ..source import Span
from ..trees import Subject, pattern as tree


@define(eq=False, repr=False)
class Extent:
    """A part of a text. Its repr says where it is and no more: its parts would fill a screen."""

    start: int
    end: int

    holds: ClassVar[tuple[str, ...]] = ()
    """The attributes that hold the constructs directly inside."""

    @property
    def span(self) -> Span:
        """Its offsets."""
        return Span(self.start, self.end)

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


@define(eq=False, repr=False)
class Token(Extent):
    """A terminal: its place and its name in the grammar."""

    type: str


# --- names and values


@define(eq=False, repr=False)
class Name(Extent):
    """An identity, label name or key, bare or quoted; ``text`` is what it says."""

    text: str


@define(eq=False, repr=False)
class Label(Extent):
    """A label with the colon or double colon before it."""

    name: Name


@define(eq=False, repr=False)
class Value(Extent):
    """A value.

    Attributes:
        style: the terminal or rule that spells it.
        value: what it says.
    """

    style: str
    value: Any


@define(eq=False, repr=False)
class Array(Value):
    """``[…]`` in value position."""

    items: tuple[Value, ...]
    holds = ("items",)


@define(eq=False, repr=False)
class Map(Value):
    """``{…}`` in value position."""

    entries: tuple[Entry, ...]
    holds = ("entries",)

    @cached_property
    def by_key(self) -> Mapping[str, Entry]:
        """The entries by key; of a key that is given again the last, which counts."""
        return {entry.key.text: entry for entry in self.entries}


AnyValue: TypeAlias = Union[Value, Array, Map]


@define(eq=False, repr=False)
class Entry(Extent):
    """``key: value`` in a record or a map."""

    key: Name
    value: AnyValue
    holds = ("value",)


class Annotation(Entry):
    """``@key(value)`` before a pattern."""

    __slots__ = ()


@define(eq=False, repr=False)
class Record(Extent):
    """The ``{…}`` of a subject, with every entry as written."""

    entries: tuple[Entry, ...]
    holds = ("entries",)


# --- patterns


@define(eq=False, repr=False)
class SubjectPart(Extent):
    """The identity, labels and record of a pattern. An empty one has no width."""

    identity: Name | None = None
    labels: tuple[Label, ...] = ()
    record: Record | None = None
    subject: Subject = Subject()
    holds = ("record",)


@define(eq=False, repr=False)
class Construct(Extent):
    """A construct that spells a pattern.

    Attributes:
        pattern: the pattern.
        subject: the part that spells the identity, the labels and, but for annotations, the
            record. Of a path it is that of its only arrow; a walk has none in the text.
    """

    pattern: tree.Pattern
    subject: SubjectPart
    holds: ClassVar[tuple[str, ...]] = ("subject",)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The properties as written; of a key given twice the last counts."""
        record = self.subject.record
        return record.entries if record else ()

    @property
    def elements(self) -> tuple[Construct, ...]:
        """The constructs of the pattern's elements, in the order of the tree."""
        return ()


class Header(Construct):
    """The record at the top of a document."""

    __slots__ = ()


class Reference(Construct):
    """A bare identifier as an element."""

    __slots__ = ()


class Node(Construct):
    """``(…)``."""

    __slots__ = ()


@define(eq=False, repr=False)
class Bracket(Construct):
    """``[…]``; ``bar`` is the offset of its ``|``, or None."""

    bar: int | None
    elements: tuple[Construct, ...]
    holds = ("subject", "elements")


ArrowKind: TypeAlias = Literal["right", "left", "both", "undirected"]


@define(eq=False, repr=False)
class Arrow(Extent):
    """An arrow between two nodes.

    ``tail_end`` and ``head_start`` bound what is between its halves: nothing, or the ``[…]``
    with ``subject`` inside.
    """

    kind: ArrowKind
    tail_end: int
    head_start: int
    subject: SubjectPart
    bracketed: bool
    holds: ClassVar[tuple[str, ...]] = ("subject",)


@define(eq=False, repr=False)
class Path(Construct):
    """Two or more nodes with the arrows between them.

    With one arrow it spells an edge, with more a walk, whose elements are its `hops`.
    """

    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]

    @property
    def hops(self) -> tuple[Path, ...]:
        """Each arrow with the nodes at its ends, as a path."""
        if len(self.arrows) == 1:
            return (self,)
        hops = []
        for edge, arrow, *ends in zip(
            self.pattern.elements, self.arrows, self.nodes, self.nodes[1:], strict=False
        ):
            start, end = ends[0].start, ends[1].end
            hops.append(Path(start, end, edge, arrow.subject, tuple(ends), (arrow,)))
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


@define(eq=False, repr=False)
class Identified(Extent):
    """``@@name:Label`` before a pattern."""

    identity: Name | None
    labels: tuple[Label, ...]


@define(eq=False, repr=False)
class Annotated(Construct):
    """Annotations with the pattern that they precede."""

    identified: Identified | None
    annotations: tuple[Annotation, ...]
    body: Bracket | Node | Path
    holds = ("annotations", "body")

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The annotations with a key."""
        return self.annotations

    @property
    def elements(self) -> tuple[Construct, ...]:
        """The annotated pattern."""
        return (self.body,)


Element: TypeAlias = Union[Bracket, Node, Path, Reference]
Item: TypeAlias = Union[Header, Annotated, Bracket, Node, Path]
