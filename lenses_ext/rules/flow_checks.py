"""The table of the rules of arrows and workflows; loaded for programs that have some."""

from __future__ import annotations

from typing import Final

from gram import Check
from gram.checks import CHECKS

from ..names import DEFINED_TWICE
from . import arrow_rules, flow_rules
from .language_checks import LANGUAGE_CHECKS

FLOW_CHECKS: Final = (
    Check("arrow-direction", "error", arrow_rules.arrow_direction),
    Check("arrow-label", "error", arrow_rules.arrow_label, {"label-case"}),
    Check("arrow-key", "error", arrow_rules.arrow_key),
    Check("arrow-end", "error", arrow_rules.arrow_end, DEFINED_TWICE | {"undefined-reference"}),
    Check("handoff", "error", arrow_rules.handoff),
    Check("handoff-name", "error", arrow_rules.handoff_names),
    Check("called-without-description", "warning", arrow_rules.called_without_description),
    Check("empty-workflow", "error", arrow_rules.empty_workflow),
    Check("unconnected-node", "error", arrow_rules.unconnected_node),
    Check("arrow-cycle", "error", arrow_rules.arrow_cycle),
    Check("duplicate-field", "error", arrow_rules.duplicate_field),
    Check("several-lists", "error", arrow_rules.several_lists),
    Check("too-many-ways", "error", arrow_rules.too_many_ways),
    Check("arrow-type", "error", flow_rules.arrow_type),
    Check("handoff-type", "error", flow_rules.handoff_type),
    Check("missing-field", "error", flow_rules.missing_field),
    Check("no-result", "error", flow_rules.no_result),
    Check("each-type", "error", flow_rules.each_type),
    Check("impossible-choice", "error", flow_rules.impossible_choice),
    Check("uncovered-choice", "error", flow_rules.uncovered_choice),
    Check("needless-otherwise", "warning", flow_rules.needless_otherwise),
    Check("loop-rounds", "error", flow_rules.loop_rounds),
    Check("loop-end", "error", flow_rules.loop_end),
)
"""The rules of arrows and workflows."""

PROGRAM_CHECKS: Final = (*CHECKS, *LANGUAGE_CHECKS, *FLOW_CHECKS)
"""All that can be wrong in a file with agents: the rules of the notation and of the language."""
