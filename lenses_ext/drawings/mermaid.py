"""Drawings as the text of Mermaid diagrams."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gram.display import visible
from gram.errors import expect

from .drawing import Drawing, EdgeKind, NodeKind, shortened

_NOT_PLAIN: Final = re.compile(
    r"(?<![^\W_])[._/-]|[._/-](?![^\W_])|[^\w ()=,…._/-]"  # at the edge of a word, or elsewhere
)
_SHAPES: Final[dict[NodeKind, tuple[str, str]]] = {
    "agent": ("([", "])"),
    "tool": ("[", "]"),
    "undefined": ("[", "]"),
    "input": ("((", "))"),
    "result": ("(((", ")))"),
}
_ARROWS: Final[dict[EdgeKind, str]] = {
    "has": "-->",
    "flow": "==>",
    "handoff": "-.->",
    "again": "-.->",
    "uses": "-.->",
}
_CLASSES: Final = {
    "ran": "stroke:#1f8a5b,stroke-width:3px",
    "failed": "stroke:#c0392b,stroke-width:3px",
    "idle": "stroke-dasharray:3 3,opacity:0.6",
    "undefined": "stroke:#c0392b,stroke-dasharray:4 3",
}


def to_mermaid(drawing: Drawing) -> str:
    """The text of a Mermaid diagram; whatever the names are, they stay in their labels.

    >>> from gram import loads_one
    >>> from lenses_ext import drawing_of
    >>> print(to_mermaid(drawing_of(loads_one('[a:Agent {model: "OpenAI/x"} | (t:Tool)]'))))
    flowchart LR
      n0(["a<br>OpenAI/x"])
      n1["t"]
      n0 --> n1
    """
    expect(drawing, Drawing, "drawing", by="to_mermaid")
    return "\n".join(
        ["flowchart LR", *_inside(drawing, None, "  "), *_edges(drawing), *_styles(drawing)]
    )


def _inside(drawing: Drawing, group: str | None, indent: str) -> Iterator[str]:
    """The nodes of a group, and the groups in it."""
    for node in drawing.nodes:
        if node.group == group:
            opening, closing = _SHAPES[node.kind]
            yield f"{indent}{node.key}{opening}{_label(*node.lines)}{closing}"
    for each in drawing.groups:
        if each.group == group:
            yield f"{indent}subgraph {each.key}[{_label(*each.lines)}]"
            yield from _inside(drawing, each.key, f"{indent}  ")
            yield f"{indent}end"


def _edges(drawing: Drawing) -> Iterator[str]:
    for edge in drawing.edges:
        label = f"|{_label(edge.words)}|" if edge.words else ""
        yield f"  {edge.source} {_ARROWS[edge.kind]}{label} {edge.target}"


def _styles(drawing: Drawing) -> Iterator[str]:
    named: dict[str, list[str]] = {}
    for node in drawing.nodes:
        if node.kind == "undefined":
            named.setdefault("undefined", []).append(node.key)
        elif node.count is not None and node.kind in ("agent", "tool"):
            style = "failed" if node.failed else "ran" if node.count else "idle"
            named.setdefault(style, []).append(node.key)
    for style, keys in named.items():
        yield f"  classDef {style} {_CLASSES[style]}"
        yield f"  class {','.join(keys)} {style}"


def _label(*lines: str) -> str:
    return '"' + ("<br>".join(_escaped(line) for line in lines if line) or " ") + '"'


def _escaped(line: str) -> str:
    """A line as Mermaid's labels have it: what means something there is written as its code.

    Within a word, a point, a hyphen and an underscore mean nothing; elsewhere they are Markdown.
    """
    return _NOT_PLAIN.sub(lambda match: f"#{ord(match[0])};", visible(shortened(line)))
