"""Workflows as they are read: nodes, arrows, what waits for what; and who hands over to whom."""

from .answers import all_hold, conditions_of
from .arrows import ARROW_LABELS, HANDOFF, FlowArrow, arrows_in, edges_in, handoffs
from .reading import FlowNode, Join, Loop, Workflow, workflow_of
