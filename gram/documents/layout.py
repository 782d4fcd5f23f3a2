"""Where a text may be broken into lines: its groups, and the joints between their parts.

A group is a construct that is written on one line, or with each part on another line: a record,
a map, an array, a bracket with elements, a path, a pattern with its annotations. A joint is what
is before a token. The syntax tree says which tokens begin a part; every other token is set
tight against the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from attrs import define, field

from ..reading import syntax

INDENT = 2

Kind: TypeAlias = Literal["list", "bracket", "path", "annotated"]
Mode: TypeAlias = Literal["broken", "inner"]
"""``broken``: its parts on lines of their own. ``inner``: its parts follow one another, and the
groups inside decide for themselves."""

Role: TypeAlias = Literal["tight", "open", "between", "close", "hop", "part", "top"]


@define(eq=False)
class Group:
    """A construct that may be broken into lines.

    Attributes:
        start, end: its offsets.
        kind: how its parts are set.
        keeps_lines: it was several lines and stays so, whether or not it fits on one.
        single: it has one part.
        mode: how it is written, once that is decided; None while it may be one line.
        indent: the indentation of the line it begins on.
        inner: the indentation of what begins inside it now.
        opened_on: the number of the line that its first part begins on.
    """

    start: int
    end: int
    kind: Kind
    keeps_lines: bool = False
    single: bool = False
    mode: Mode | None = field(default=None, init=False)
    indent: int = field(default=0, init=False)
    inner: int = field(default=0, init=False)
    opened_on: int = field(default=0, init=False)


@define(eq=False)
class Joint:
    """What is before a token.

    Attributes:
        role: which part of its group the token begins.
        flat: what is written there when the line is not broken.
        group: the group that may be broken here, or None.
        nest: how far the part is indented when it is.
    """

    role: Role = "tight"
    flat: str = ""
    group: Group | None = None
    nest: int = 0


TIGHT = Joint()
BLANK = Joint(flat=" ")
TOP = Joint("top")


@define(eq=False)
class Layout:
    """The groups of a text by the offset they begin at, outermost first, and its joints."""

    groups: dict[int, list[Group]] = field(factory=dict)
    joints: dict[int, Joint] = field(factory=dict)


def layout_of(text: str, items: Sequence[syntax.Item]) -> Layout:
    """Find the groups and joints of a text in its syntax."""
    layout = Layout()
    pending: list[syntax.Extent] = list(items)
    while pending:
        part = pending.pop()
        _lay_out(layout, text, part)
        pending.extend(part.children)
    for item in items:
        layout.joints[item.start] = TOP
    return layout


def _lay_out(layout: Layout, text: str, part: syntax.Extent) -> None:
    joints = layout.joints

    def begin(kind: Kind, *, keeps_lines: bool = False, single: bool = False) -> Group:
        group = Group(part.start, part.end, kind, keeps_lines, single)
        layout.groups.setdefault(part.start, []).append(group)
        return group

    def listed(group: Group, members: Sequence[syntax.Extent], opening: str) -> None:
        between = Joint("between", " ", group, INDENT)
        for member in members:
            joints[member.start] = between
        joints[members[0].start] = Joint("open", opening, group, INDENT)
        joints[part.end - 1] = Joint("close", "", group)

    spans_lines = "\n" in text[part.start : part.end]
    match part:
        case syntax.Annotated():
            group = begin("annotated", keeps_lines=spans_lines)
            for following in (*part.annotations, part.body):
                if following.start > part.start:
                    joints[following.start] = Joint("part", " ", group)
        case syntax.Bracket() if part.bar is not None:
            joints[part.bar] = BLANK
            listed(begin("bracket", single=len(part.elements) == 1), part.elements, " ")
        case syntax.Path():
            group = begin("path")
            for arrow in part.arrows:
                joints[arrow.start] = Joint("hop", "", group, INDENT)
        case syntax.SubjectPart() if part.record and part.record.start > part.start:
            joints[part.record.start] = BLANK
        case syntax.Record(entries=entries) | syntax.Map(entries=entries) if entries:
            listed(begin("list", keeps_lines=spans_lines), entries, "")
            for entry in entries:
                joints[entry.value.start] = BLANK
        case syntax.Array(items=values) if values:
            listed(begin("list"), values, "")
