"""Where a text may be broken into lines: its groups, and the joints between their parts.

A group is a construct that is written on one line, or with each part on another line: a record,
a map, an array, a bracket with elements, a path, a pattern with its annotations. A joint is what
is before a token; a token that begins no part is set tight against the one before it.
"""

from __future__ import annotations

from bisect import bisect_left
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
        end: the number of the token after its last.
        kind: how its parts are set.
        keeps_lines: it was several lines and stays so, whether or not it fits on one.
        single: it has one part.
        mode: how it is written, once that is decided; None while it may be one line.
        indent: the indentation of the line it begins on.
        inner: the indentation of what begins inside it now.
        opened_on: the number of the line that its first part begins on.
    """

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


class Layout:
    """The groups and joints of one top-level pattern.

    Args:
        text: the text that it is in.
        item: its construct.
        starts: the offsets of its tokens.

    Attributes:
        groups: for each token, the group that begins there, or None.
        joints: for each token, what is before it.
    """

    def __init__(self, text: str, item: syntax.Extent, starts: Sequence[int]) -> None:
        self.text, self.starts = text, starts
        self.groups: list[Group | None] = [None] * len(starts)
        self.joints = [TIGHT] * len(starts)
        pending = [item]
        while pending:
            part = pending.pop()
            self._add(part)
            pending += part.children
        self.joints[0] = TOP

    def _add(self, part: syntax.Extent) -> None:
        """Note the group that a construct is, and its joints."""
        match part:
            case syntax.Record(entries=members) | syntax.Map(entries=members):
                for entry in members:
                    self._join(entry.value, BLANK)
                self._list(part, members, "", keeps_lines=True)
            case syntax.Array(items=items):
                self._list(part, items, "")
            case syntax.Bracket(bar=int(bar), elements=elements):
                self.joints[self._at(bar)] = BLANK
                self._list(part, elements, " ", "bracket")
            case syntax.SubjectPart(record=syntax.Record() as record) if part.start < record.start:
                self._join(record, BLANK)
            case syntax.Path(arrows=arrows):
                joint = Joint("hop", "", self._begin(part, "path"), INDENT)
                for arrow in arrows:
                    self._join(arrow, joint)
            case syntax.Annotated(annotations=annotations, body=body):
                joint = Joint("part", " ", self._begin(part, "annotated", keeps_lines=True))
                for each in (*annotations[part.identified is None :], body):
                    self._join(each, joint)

    def _list(
        self,
        whole: syntax.Extent,
        members: Sequence[syntax.Extent],
        opening: str,
        kind: Kind = "list",
        *,
        keeps_lines: bool = False,
    ) -> None:
        """A group of members with commas between them, ``opening`` before the first."""
        if members:
            group = self._begin(whole, kind, keeps_lines=keeps_lines)
            group.single = kind == "bracket" and len(members) == 1
            between = Joint("between", " ", group, INDENT)
            for member in members:
                self._join(member, between)
            self._join(members[0], Joint("open", opening, group, INDENT))
            self.joints[group.end - 1] = Joint("close", "", group)

    def _begin(self, whole: syntax.Extent, kind: Kind, *, keeps_lines: bool = False) -> Group:
        """A group that a construct is; it keeps its lines where it has several and is told to."""
        first, end = self._at(whole.start), self._at(whole.end)
        several = "\n" in self.text[whole.start : self.starts[end - 1]]
        group = self.groups[first] = Group(end, kind, keeps_lines and several)
        return group

    def _join(self, part: syntax.Extent, joint: Joint) -> None:
        self.joints[self._at(part.start)] = joint

    def _at(self, offset: int) -> int:
        """The number of the first token from an offset on."""
        return bisect_left(self.starts, offset)
