"""Drawings as data: nodes, arrows between them, and groups around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from attrs import frozen

NodeKind: TypeAlias = Literal["agent", "tool", "undefined", "input", "result"]
EdgeKind: TypeAlias = Literal["has", "flow", "handoff", "again", "uses"]


@frozen
class Node:
    """An agent, a tool, an undefined name, or where the value of a workflow comes in or out.

    Attributes:
        key: its name in the drawing.
        kind: what it is.
        name: its name in the program.
        details: lines below the name: the model, the signature.
        group: the key of the group that it is in, or None.
        count: how often a run came to it; None if no run is shown.
        failed: how often that failed.
    """

    key: str
    kind: NodeKind
    name: str = ""
    details: tuple[str, ...] = ()
    group: str | None = None
    count: int | None = None
    failed: int = 0

    @property
    def lines(self) -> list[str]:
        """What is written in it: its name, its details, how often a run came to it."""
        return [self.name, *filter(None, (*self.details, _times(self.count, self.failed)))]


@frozen
class Edge:
    """An arrow between two nodes.

    Attributes:
        source, target: their keys.
        kind: an agent *has* a tool, a value *flows*, an agent hands over, a loop goes on *again*,
            a node *uses* what is defined elsewhere.
        label: what is written at it.
        count: how often a run took it; None if no run is shown.
    """

    source: str
    target: str
    kind: EdgeKind
    label: str = ""
    count: int | None = None

    @property
    def words(self) -> str:
        """What is written at it: its label, and how often a run took it."""
        return ", ".join(filter(None, (self.label, _times(self.count))))


@frozen
class Group:
    """A workflow, drawn around its nodes.

    Attributes:
        key: its name in the drawing.
        name: its name in the program.
        details: a line below the name.
        group: the key of the group that it is in, or None.
    """

    key: str
    name: str
    details: tuple[str, ...] = ()
    group: str | None = None

    @property
    def lines(self) -> list[str]:
        """What is written in it: its name and its details."""
        return [self.name, *self.details]


@frozen
class Drawing:
    """What there is to draw of a program.

    Attributes:
        nodes, edges, groups: its parts; a group stands before what is in it.
    """

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    groups: tuple[Group, ...] = ()

    def __repr__(self) -> str:
        sizes = ((kind, len(getattr(self, kind))) for kind in ("nodes", "edges", "groups"))
        return f"<Drawing: {', '.join(f'{size} {kind}' for kind, size in sizes if size)}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), **{kind: draw(self) for kind, draw in FORMS.items()}}


FORMS: Final[dict[str, Callable[[Drawing], str]]] = {}
"""What notebooks show of a drawing, by the type of media.

The front of the room fills it, since what draws needs this module.
"""


def shortened(line: str, most: int = 60) -> str:
    """A text as one line that is not too long."""
    line = " ".join(line.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _times(count: int | None, failed: int = 0) -> str:
    """How often a run came to a node, in words; "" where no run is shown or it never did."""
    if not count:
        return ""
    times = "once" if count == 1 else f"{count} times"
    return f"{times}, {failed} failed" if failed else times
