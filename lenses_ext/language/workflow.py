"""The lenses onto a workflow: its name, what it is for, and how a Loop is repeated."""

from __future__ import annotations

from typing import Any

from gram import Value

from ..errors import PartError
from ..labels import WORKFLOWS
from ..optics import TEXT, Codec, identity
from .vocabulary import Vocabulary


def _rounds(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise PartError(f"expected a whole number above 0, found {value!r:.60}")
    return value


def _same(value: Value) -> Value:
    return value


WORKFLOW_PARTS = Vocabulary("a workflow", WORKFLOWS)

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
as_workflow = WORKFLOW_PARTS.prism("as_workflow")
