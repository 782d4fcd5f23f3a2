"""Drawings as texts: a Mermaid diagram, and a graph of Graphviz.

Whatever the names are, they stay in their labels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from gram.display import visible
from gram.errors import expect

from ..workflows import grouped
from .drawing import Drawing, EdgeKind, Group, Node, NodeKind, shortened


def _inside(
    drawing: Drawing,
    node: Callable[[Node], str],
    opening: Callable[[Group], str],
    closing: str,
    group: str | None = None,
    indent: str = "  ",
) -> Iterator[str]:
    """The lines of the nodes in a group, and of the groups in it."""
    yield from (f"{indent}{node(each)}" for each in drawing.nodes if each.group == group)
    for each in drawing.groups:
        if each.group == group:
            yield f"{indent}{opening(each)}"
            yield from _inside(drawing, node, opening, closing, each.key, f"{indent}  ")
            yield f"{indent}{closing}"


# --- Mermaid

_NOT_PLAIN: Final = re.compile(
    r"(?<![^\W_])[._/-]|[._/-](?![^\W_])|[^\w ()=,…._/-]"  # at the edge of a word, or elsewhere
)
_FRAMES: Final[dict[NodeKind, tuple[str, str]]] = {
    "agent": ("([", "])"),
    "tool": ("[", "]"),
    "undefined": ("[", "]"),
    "input": ("((", "))"),
    "result": ("(((", ")))"),
}
_ARROWS: Final[dict[EdgeKind, str]] = {"has": "-->", "flow": "==>"}
_CLASSES: Final = {
    "ran": "stroke:#1f8a5b,stroke-width:3px",
    "failed": "stroke:#c0392b,stroke-width:3px",
    "idle": "stroke-dasharray:3 3,opacity:0.6",
    "undefined": "stroke:#c0392b,stroke-dasharray:4 3",
}


def to_mermaid(drawing: Drawing) -> str:
    """The text of a Mermaid diagram.

    >>> from gram import loads_one
    >>> from lenses_ext import drawing_of
    >>> print(to_mermaid(drawing_of(loads_one('[a:Agent {model: "OpenAI/x"} | (t:Tool)]'))))
    flowchart LR
      n0(["a<br>OpenAI/x"])
      n1["t"]
      n0 --> n1
    """
    expect(drawing, Drawing, "drawing", by="to_mermaid")

    def node(each: Node) -> str:
        return f"{each.key}{_mermaid(*each.lines).join(_FRAMES[each.kind])}"

    def opening(group: Group) -> str:
        return f"subgraph {group.key}[{_mermaid(*group.lines)}]"

    lines = ["flowchart LR", *_inside(drawing, node, opening, "end")]
    for edge in drawing.edges:
        label = f"|{_mermaid(edge.words)}|" if edge.words else ""
        lines.append(f"  {edge.source} {_ARROWS.get(edge.kind, '-.->')}{label} {edge.target}")
    styles = grouped((_class(each), each.key) for each in drawing.nodes)
    for style in (each for each in styles if each):
        lines.append(f"  classDef {style} {_CLASSES[style]}")
        lines.append(f"  class {','.join(styles[style])} {style}")
    return "\n".join(lines)


def _class(node: Node) -> str:
    """The class that a node is drawn in; "" for none."""
    if node.count is None or node.kind not in ("agent", "tool"):
        return "undefined" if node.kind == "undefined" else ""
    return "failed" if node.count and node.failed else "ran" if node.count else "idle"


def _mermaid(*lines: str) -> str:
    """A label; what means something to Mermaid is written as its code.

    Within a word, a point, a hyphen and an underscore mean nothing; elsewhere they are Markdown.
    """
    shown = (visible(shortened(line)) for line in lines if line)
    texts = (_NOT_PLAIN.sub(lambda match: f"#{ord(match[0])};", line) for line in shown)
    return f'"{"<br>".join(texts) or " "}"'


# --- Graphviz

_SHAPES: Final[dict[NodeKind, str]] = {
    "agent": 'shape=box, style="rounded,filled"',
    "tool": "shape=box, style=filled",
    "undefined": "shape=box, style=dashed, color=red",
    "input": "shape=circle, width=0.2",
    "result": "shape=doublecircle, width=0.15",
}
_LINES: Final[dict[EdgeKind, str]] = {
    "has": "",
    "flow": "penwidth=2",
    "handoff": "style=dashed",
    "again": "style=dashed, constraint=false",
    "uses": "style=dotted",
}
_COLOURS: Final = {
    "idle": ", color=gray, fontcolor=gray",
    "ran": ', color="#1f8a5b", penwidth=2',
    "failed": ', color="#c0392b", penwidth=2',
}


def to_dot(drawing: Drawing) -> str:
    """The text of a Graphviz graph.

    >>> from gram import loads_one
    >>> from lenses_ext import drawing_of
    >>> print(to_dot(drawing_of(loads_one("(a:Agent)"))).splitlines()[3])
      n0 [label="a", shape=box, style="rounded,filled"];
    """
    expect(drawing, Drawing, "drawing", by="to_dot")

    def node(each: Node) -> str:
        colour = _COLOURS.get(_class(each), "")
        return f"{each.key} [label={_dot(*each.lines)}, {_SHAPES[each.kind]}{colour}];"

    def opening(group: Group) -> str:
        return f"subgraph cluster_{group.key} {{ label={_dot(*group.lines)};"

    lines = [
        "digraph {",
        "  rankdir=LR;",
        '  node [fontname="Helvetica", fillcolor="#f4f4f0"]; edge [fontname="Helvetica"];',
        *_inside(drawing, node, opening, "}"),
    ]
    for edge in drawing.edges:
        label = edge.words and f"label={_dot(edge.words)}"
        settings = ", ".join(filter(None, (label, _LINES[edge.kind])))
        lines.append(f"  {edge.source} -> {edge.target}{f' [{settings}]' if settings else ''};")
    return "\n".join([*lines, "}"])


def _dot(*lines: str) -> str:
    """A label, where ``\\\\`` and ``&`` begin something else."""
    texts = (visible(shortened(line)) for line in lines if line)
    escaped = (it.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for it in texts)
    return '"' + "\\n".join(escaped) + '"'
