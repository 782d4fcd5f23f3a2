"""Finds the groups and joints of one pattern: one method for each rule of ``grammar.lark``.

The parser calls a method with the parts of the rule. A token is known by its number, and most of
what a rule makes by the number of its first token, so nothing is built of names and values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .layout import BLANK, INDENT, TIGHT, TOP, Group, Joint, Kind


class LayoutBuilder:
    """One method for each rule of the grammar, called with the numbers of the rule's parts.

    Attributes:
        groups: for each token, the group that begins there, or None.
        joints: for each token, what is before it.
    """

    def __init__(self, text: str, starts: Sequence[int], spellings: Sequence[str]) -> None:
        self.text, self.starts, self.spellings = text, starts, spellings
        self.groups: list[Group | None] = [None] * len(starts)
        self.joints = [TIGHT] * len(starts)

    def start(self, parts: list[int]) -> None:
        self.joints[0] = TOP

    # --- patterns

    def annotated(self, parts: list[int]) -> int:
        last = len(self.starts) - 1
        joint = Joint("part", " ", self._begin(parts[0], last, "annotated", keeps_lines=True))
        for part in parts[1:]:
            self.joints[part] = joint
        return parts[0]

    def bracket(self, parts: list[int]) -> int:
        for number, bar in enumerate(parts[1:3], 2):
            if self.spellings[bar] == "|":
                self.joints[bar] = BLANK
                self._list("bracket", [parts[0], *parts[number:]], " ")
        return parts[0]

    def path(self, parts: list[Any]) -> int:
        first: int = parts[0][0]
        last: int = parts[-1][1]
        if len(parts) > 1:
            joint = Joint("hop", "", self._begin(first, last, "path"), INDENT)
            for arrow in parts[1::2]:
                self.joints[arrow] = joint
        return first

    def node(self, parts: list[int]) -> tuple[int, int]:
        """The numbers of its first and last token."""
        return parts[0], parts[-1]

    def subject(self, parts: list[int]) -> int:
        if len(parts) > 1 and self.spellings[parts[-1]] == "{":
            self.joints[parts[-1]] = BLANK
        return parts[0]

    # --- records and values

    def record(self, parts: list[int]) -> int:
        return self._list("list", parts, "", may_keep_lines=True)

    map = record

    def array(self, parts: list[int]) -> int:
        return self._list("list", parts, "")

    def entry(self, parts: list[int]) -> int:
        key, _, value = parts
        self.joints[value] = BLANK
        return key

    map_entry = entry

    # --- what has no place for a line break inside

    def range(self, parts: list[int]) -> int:
        return parts[0]

    identified = annotation = labels = label = tagged = range
    right = left = both = undirected = range

    def hop(self, parts: list[int]) -> None:
        """Nothing: an arrow is known by its first half."""

    reference = symbol = quoted_name = number_name = None
    integer = hexadecimal = octal = decimal = measurement = string = None
    boolean = symbol_value = tagged_fence = fence = None

    # --- helpers

    def _list(
        self, kind: Kind, parts: list[int], opening: str, *, may_keep_lines: bool = False
    ) -> int:
        """A group of members with commas between them, ``opening`` before the first."""
        first, members, last = parts[0], parts[1:-1:2], parts[-1]
        if members:
            group = self._begin(first, last, kind, keeps_lines=may_keep_lines)
            group.single = kind == "bracket" and len(members) == 1
            between = Joint("between", " ", group, INDENT)
            for member in members:
                self.joints[member] = between
            self.joints[members[0]] = Joint("open", opening, group, INDENT)
            self.joints[last] = Joint("close", "", group)
        return first

    def _begin(self, first: int, last: int, kind: Kind, *, keeps_lines: bool = False) -> Group:
        """A group of some tokens; it keeps its lines where it has several and is told to."""
        keeps_lines = keeps_lines and "\n" in self.text[self.starts[first] : self.starts[last]]
        group = self.groups[first] = Group(last + 1, kind, keeps_lines)
        return group
