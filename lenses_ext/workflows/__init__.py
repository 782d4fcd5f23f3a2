"""Workflows as they are read: nodes, arrows, what waits for what; and who hands over to whom."""

from .answers import all_hold, conditions_of, parts_of
from .arrows import (
    ARROW_LABELS as ARROW_LABELS,
    EACH as EACH,
    HANDOFF as HANDOFF,
    OTHERWISE as OTHERWISE,
    WHEN as WHEN,
    FlowArrow as FlowArrow,
    arrows_in as arrows_in,
    edges_in,
    handoffs as handoffs,
)
from .reading import FlowNode as FlowNode, Join as Join, Loop as Loop, Workflow, workflow_of
