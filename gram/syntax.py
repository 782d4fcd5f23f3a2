"""The syntax tree: one class for each construct of ``grammar.lark``, with its offsets.

A syntax tree says how a text spells its patterns: which arrow, which quotes, in what order. The
trees themselves (`gram.pattern`) do not; each construct that stands for a pattern holds it as
``pattern``, each value as ``value``. A node shared by two hops of a path stands once here and
twice in the tree.

Offsets are of the text that was parsed; ``end`` is exclusive. Nothing here is changed once built
(the classes are not frozen because that would double the cost of parsing).
"""

from __future__ import annotations

from typing import Literal, TypeAlias, Union

from attrs import define

from . import pattern as tree
from .values import Value as TreeValue


@define(eq=False, repr=False)
class Extent:
    """Where a construct stands, which is all its repr says: its parts would fill a screen."""

    start: int
    end: int

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.start}, {self.end})"


@define(eq=False, repr=False)
class Token(Extent):
    """A terminal: its name in the grammar and where it stands."""

    type: str


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
    """A value; ``style`` is the terminal or rule that spells it."""

    style: str
    value: TreeValue


@define(eq=False, repr=False)
class Array(Value):
    """``[…]`` in value position; ``levels`` is how deep it nests, itself included."""

    items: tuple[AnyValue, ...]
    levels: int


@define(eq=False, repr=False)
class Map(Value):
    """``{…}`` in value position; ``levels`` is how deep it nests, itself included."""

    entries: tuple[Entry, ...]
    levels: int


AnyValue: TypeAlias = Union[Value, Array, Map]


@define(eq=False, repr=False)
class Entry(Extent):
    """``key: value`` in a record or a map."""

    key: Name
    value: AnyValue


@define(eq=False, repr=False)
class Record(Extent):
    """The ``{…}`` of a subject, with every entry as written."""

    entries: tuple[Entry, ...]


@define(eq=False, repr=False)
class SubjectPart(Extent):
    """What stands in a node, arrow or bracket before the bar. An empty one has no width."""

    identity: Name | None
    labels: tuple[Label, ...]
    record: Record | None
    subject: tree.Subject


@define(eq=False, repr=False)
class Reference(Extent):
    """A bare identifier as an element."""

    name: Name
    pattern: tree.Pattern


@define(eq=False, repr=False)
class Node(Extent):
    """``(…)``."""

    subject: SubjectPart
    pattern: tree.Pattern


@define(eq=False, repr=False)
class Bracket(Extent):
    """``[…]``; ``bar`` is the offset of its ``|``, or None."""

    subject: SubjectPart
    bar: int | None
    elements: tuple[Element, ...]
    pattern: tree.Pattern


ArrowKind: TypeAlias = Literal["right", "left", "both", "undirected"]


@define(eq=False, repr=False)
class Arrow(Extent):
    """An arrow between two nodes.

    ``tail_end`` and ``head_start`` bound what stands between its halves: nothing, or the
    ``[…]`` whose inside is ``subject``.
    """

    kind: ArrowKind
    tail_end: int
    head_start: int
    subject: SubjectPart
    bracketed: bool


@define(eq=False, repr=False)
class Path(Extent):
    """Two or more nodes with the arrows between them; ``pattern`` is an edge or a walk."""

    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    pattern: tree.Pattern

    @property
    def edges(self) -> tuple[tree.Pattern, ...]:
        """The relationship of each hop, in order."""
        return (self.pattern,) if len(self.arrows) == 1 else self.pattern.elements


@define(eq=False, repr=False)
class Identified(Extent):
    """``@@name:Label`` before a pattern."""

    identity: Name | None
    labels: tuple[Label, ...]


@define(eq=False, repr=False)
class Annotation(Extent):
    """``@key(value)`` before a pattern."""

    key: Name
    value: AnyValue


@define(eq=False, repr=False)
class Annotated(Extent):
    """Annotations with the pattern they stand before."""

    identified: Identified | None
    annotations: tuple[Annotation, ...]
    body: Bracket | Node | Path
    pattern: tree.Pattern


@define(eq=False, repr=False)
class Header(Extent):
    """The record at the top of a document."""

    record: Record
    pattern: tree.Pattern


Element: TypeAlias = Union[Bracket, Node, Path, Reference]
Item: TypeAlias = Union[Header, Annotated, Bracket, Node, Path]
