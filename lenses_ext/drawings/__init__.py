"""Programs drawn: as Mermaid, as Graphviz and as SVG."""

from .dot import to_dot
from .drawing import Drawing, Edge, Group, Node
from .from_program import drawing_of
from .mermaid import to_mermaid
from .svg import to_svg

__all__ = ["Drawing", "Edge", "Group", "Node", "drawing_of", "to_dot", "to_mermaid", "to_svg"]
