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


@define(eq=False)
class Token:
    """A terminal: its name in the grammar and where it stands."""

    type: str
    start: int
    end: int


@define(eq=False)
class Name:
    """An identity, label name or key, bare or quoted; ``text`` is what it says."""

    start: int
    end: int
    text: str


@define(eq=False)
class Label:
    """A label with the colon or double colon before it."""

    start: int
    end: int
    name: Name


@define(eq=False)
class Value:
    """A value; ``style`` is the terminal or rule that spells it."""

    start: int
    end: int
    style: str
    value: TreeValue


@define(eq=False)
class Array(Value):
    """``[…]`` in value position; ``levels`` is how deep it nests, itself included."""

    items: tuple[AnyValue, ...]
    levels: int


@define(eq=False)
class Map(Value):
    """``{…}`` in value position; ``levels`` is how deep it nests, itself included."""

    entries: tuple[Entry, ...]
    levels: int


AnyValue: TypeAlias = Union[Value, Array, Map]


@define(eq=False)
class Entry:
    """``key: value`` in a record or a map."""

    start: int
    end: int
    key: Name
    value: AnyValue


@define(eq=False)
class Record:
    """The ``{…}`` of a subject, with every entry as written."""

    start: int
    end: int
    entries: tuple[Entry, ...]


@define(eq=False)
class SubjectPart:
    """What stands in a node, arrow or bracket before the bar. An empty one has no width."""

    start: int
    end: int
    identity: Name | None
    labels: tuple[Label, ...]
    record: Record | None
    subject: tree.Subject


@define(eq=False)
class Reference:
    """A bare identifier as an element."""

    start: int
    end: int
    name: Name
    pattern: tree.Pattern


@define(eq=False)
class Node:
    """``(…)``."""

    start: int
    end: int
    subject: SubjectPart
    pattern: tree.Pattern


@define(eq=False)
class Bracket:
    """``[…]``; ``bar`` is the offset of its ``|``, or None."""

    start: int
    end: int
    subject: SubjectPart
    bar: int | None
    elements: tuple[Element, ...]
    pattern: tree.Pattern


ArrowKind: TypeAlias = Literal["right", "left", "both", "undirected"]


@define(eq=False)
class Arrow:
    """An arrow between two nodes.

    ``tail_end`` and ``head_start`` bound what stands between its halves: nothing, or the
    ``[…]`` whose inside is ``subject``.
    """

    start: int
    end: int
    kind: ArrowKind
    tail_end: int
    head_start: int
    subject: SubjectPart
    bracketed: bool


@define(eq=False)
class Path:
    """Two or more nodes with the arrows between them; ``pattern`` is an edge or a walk."""

    start: int
    end: int
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    pattern: tree.Pattern

    @property
    def edges(self) -> tuple[tree.Pattern, ...]:
        """The relationship of each hop, in order."""
        return (self.pattern,) if len(self.arrows) == 1 else self.pattern.elements


@define(eq=False)
class Identified:
    """``@@name:Label`` before a pattern."""

    start: int
    end: int
    identity: Name | None
    labels: tuple[Label, ...]


@define(eq=False)
class Annotation:
    """``@key(value)`` before a pattern."""

    start: int
    end: int
    key: Name
    value: AnyValue


@define(eq=False)
class Annotated:
    """Annotations with the pattern they stand before."""

    start: int
    end: int
    identified: Identified | None
    annotations: tuple[Annotation, ...]
    body: Bracket | Node | Path
    pattern: tree.Pattern


@define(eq=False)
class Header:
    """The record at the top of a document."""

    start: int
    end: int
    record: Record
    pattern: tree.Pattern


Element: TypeAlias = Union[Bracket, Node, Path, Reference]
Item: TypeAlias = Union[Header, Annotated, Bracket, Node, Path]
