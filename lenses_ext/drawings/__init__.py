"""Programs drawn: as Mermaid, as Graphviz and as SVG."""

from functools import partial

from .drawing import FORMS, Drawing, Edge, Group, Node, drawing_of, to_dot, to_mermaid
from .svg import to_svg

FORMS.update({"text/html": partial(to_svg, standalone=False), "text/vnd.mermaid": to_mermaid})

__all__ = ["Drawing", "Edge", "Group", "Node", "drawing_of", "to_dot", "to_mermaid", "to_svg"]
