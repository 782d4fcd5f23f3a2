"""Trees as a graph, and the occurrences of one identity joined."""

from .graph import (
    Graph,
    MissingExtraError,
    Shape,
    ShapeError,
    graph_of,
    shape,
    source,
    target,
    to_networkx,
)
from .reconciliation import Policy, ReconcileError, reconcile

__all__ = [
    "Graph",
    "MissingExtraError",
    "Policy",
    "ReconcileError",
    "Shape",
    "ShapeError",
    "graph_of",
    "reconcile",
    "shape",
    "source",
    "target",
    "to_networkx",
]
