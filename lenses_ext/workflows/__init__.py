"""Workflows as they are read: nodes, arrows, what waits for what; and who hands over to whom."""

from .arrows import FlowArrow, arrows_in, handoffs
from .reading import FlowNode, Join, Workflow, workflow_of
