"""Trees as a graph, and the occurrences of one identity joined."""

from .graph import (
    Graph,
    MissingExtraError,
    ShapeError,
    graph_of,
    shape,
    source,
    target,
    to_networkx,
)
from .reconciliation import Policy, ReconcileError, reconcile
