"""The lenses onto a workflow: what it is called and for, its nodes and arrows, its rounds."""

from __future__ import annotations

from typing import Any

from gram import Pattern, Value, is_reference

from ..errors import PartError
from ..labels import WORKFLOWS, is_runnable, is_tool
from ..optics import TEXT, Codec, elements_with, identity
from ..signatures import is_path, is_typed_path
from .callable import agent_type_signature
from .vocabulary import Vocabulary


def _rounds(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise PartError(f"expected a whole number above 0, found {value!r:.60}")
    return value


def _same(value: Value) -> Value:
    return value


WORKFLOW_PARTS = Vocabulary(WORKFLOWS)

workflow_name = WORKFLOW_PARTS.word("name", identity("workflow_name", "The name of a workflow."))
workflow_description = WORKFLOW_PARTS.optional(
    "workflow_description", "description", TEXT, "What a workflow is for; None if it does not say."
)
loop_max = WORKFLOW_PARTS.optional(
    "loop_max", "max", Codec(_rounds, _rounds), "How many rounds a loop has at most."
)
loop_until = WORKFLOW_PARTS.optional(
    "loop_until",
    "until",
    Codec(_same, _same),
    "The answer that ends a loop: that of its last node, or a map by node.",
)
WORKFLOW_PARTS.word("signature", agent_type_signature)


def is_node(element: Pattern) -> bool:
    """Whether an element is an agent, a tool or a workflow, or the bare name of one."""
    return is_runnable(element) or is_tool(element) or is_reference(element)


def is_arrows(element: Pattern) -> bool:
    """Whether an element is a path of arrows between names."""
    return is_path(element) and not is_typed_path(element)


workflow_nodes = WORKFLOW_PARTS.word(
    "nodes",
    elements_with(
        "workflow_nodes",
        is_node,
        "an agent, a tool or a workflow, or the bare name of one",
        "What the nodes of a workflow use, in order: definitions, or names of shared ones.",
    ),
)
workflow_arrows = WORKFLOW_PARTS.word(
    "arrows",
    elements_with(
        "workflow_arrows",
        is_arrows,
        "a path of arrows such as (a)-->(b)",
        "The paths of arrows of a workflow, or of an agent that hands over, in order.",
    ),
)
as_workflow = WORKFLOW_PARTS.prism("as_workflow")
