"""Workflows as they are read: nodes, arrows, what waits for what; and who hands over to whom."""

from .reading import (
    ARROW_LABELS as ARROW_LABELS,
    EACH as EACH,
    HANDOFF as HANDOFF,
    OTHERWISE as OTHERWISE,
    WHEN as WHEN,
    FlowArrow as FlowArrow,
    FlowNode as FlowNode,
    Join as Join,
    Loop as Loop,
    Workflow,
    all_hold,
    answer_key,
    arrows_in as arrows_in,
    conditions_of,
    edges_in,
    grouped as grouped,
    handoffs as handoffs,
    parts_of,
    workflow_of,
)
