"""Trees as a graph, and the occurrences of one identity joined."""

from .graph import (
    Graph,
    MissingExtraError,
    graph_of,
    shape,
    to_networkx,
)
from .reconciliation import Policy, ReconcileError, reconcile
