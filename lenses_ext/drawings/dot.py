"""Drawings as the text of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gram.display import visible
from gram.errors import expect

from .drawing import Drawing, Edge, EdgeKind, Node, NodeKind, shortened

_SHAPES: Final[dict[NodeKind, str]] = {
    "agent": 'shape=box, style="rounded,filled"',
    "tool": "shape=box, style=filled",
    "undefined": "shape=box, style=dashed, color=red",
    "input": "shape=circle, width=0.2",
    "result": "shape=doublecircle, width=0.15",
}
_ARROWS: Final[dict[EdgeKind, str]] = {
    "has": "",
    "flow": "penwidth=2",
    "handoff": "style=dashed",
    "again": "style=dashed, constraint=false",
    "uses": "style=dotted",
}


def to_dot(drawing: Drawing) -> str:
    """The text of a Graphviz graph; whatever the names are, they stay in their labels.

    >>> from gram import loads_one
    >>> from lenses_ext import drawing_of
    >>> print(to_dot(drawing_of(loads_one("(a:Agent)"))).splitlines()[3])
      n0 [label="a", shape=box, style="rounded,filled"];
    """
    expect(drawing, Drawing, "drawing", by="to_dot")
    head = [
        "digraph {",
        "  rankdir=LR;",
        '  node [fontname="Helvetica", fillcolor="#f4f4f0"]; edge [fontname="Helvetica"];',
    ]
    return "\n".join([*head, *_inside(drawing, None, "  "), *map(_edge, drawing.edges), "}"])


def _inside(drawing: Drawing, group: str | None, indent: str) -> Iterator[str]:
    """The nodes of a group, and the groups in it."""
    for node in drawing.nodes:
        if node.group == group:
            yield f"{indent}{_node(node)}"
    for each in drawing.groups:
        if each.group == group:
            yield f"{indent}subgraph cluster_{each.key} {{"
            yield f"{indent}  label={_label(*each.lines)};"
            yield from _inside(drawing, each.key, f"{indent}  ")
            yield f"{indent}}}"


def _node(node: Node) -> str:
    return f"{node.key} [label={_label(*node.lines)}, {_SHAPES[node.kind]}{_colour(node)}];"


def _colour(node: Node) -> str:
    if node.count is None or node.kind not in ("agent", "tool"):
        return ""
    if not node.count:
        return ", color=gray, fontcolor=gray"
    colour = "#c0392b" if node.failed else "#1f8a5b"
    return f', color="{colour}", penwidth=2'


def _edge(edge: Edge) -> str:
    label = edge.words and f"label={_label(edge.words)}"
    settings = ", ".join(filter(None, (label, _ARROWS[edge.kind])))
    return f"  {edge.source} -> {edge.target}{f' [{settings}]' if settings else ''};"


def _label(*lines: str) -> str:
    return '"' + "\\n".join(_escaped(line) for line in lines if line) + '"'


def _escaped(line: str) -> str:
    """A line as Graphviz's labels have it, where ``\\\\`` and ``&`` begin something else."""
    shown = visible(shortened(line))
    return shown.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
