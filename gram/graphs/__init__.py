"""Trees as a graph, and the occurrences of one identity joined."""

from .graph import (
    Graph,
    MissingExtraError,
    Policy,
    ReconcileError,
    graph_of,
    reconcile,
    shape,
    to_networkx,
)
