"""Where a text may be broken into lines: its groups, and the joints between their parts.

A group is a construct that is written on one line, or with each part on another line: a record,
a map, an array, a bracket with elements, a path, a pattern with its annotations. A joint is what
is before a token. `LayoutBuilder` finds which tokens begin a part; every other token is set tight
against the one before it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import define, field

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
