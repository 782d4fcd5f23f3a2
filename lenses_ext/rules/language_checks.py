"""The table of the rules of agents and tools; what arrows and workflows add is in `flow_checks`."""

from __future__ import annotations

from typing import Final

from gram import Check

from ..language import AGENTS, TOOL_SPECS
from ..names import DEFINED_TWICE, REFERENCE_CHECKS, TYPE_CHECKS
from . import placement_rules, rules
from .rules import of_each

_SAID_OF_SIGNATURES: Final = DEFINED_TWICE | {"self-reference", "dangling-reference"}

LANGUAGE_CHECKS: Final = (
    Check("missing-name", "error", of_each("named", rules.missing_name)),
    Check("slash-in-name", "error", of_each("named", rules.slash_in_name), {"tool-name"}),
    *(
        Check(code, "error", rules.properties(rule))
        for key in dict.fromkeys((*AGENTS.properties, *TOOL_SPECS.properties))
        if key not in ("settings", "once")  # no texts: they have rules of their own
        for code, rule in (
            (f"missing-{key}", rules.missing(key)),
            (f"{key}-type", rules.not_a_text(key)),
            (f"empty-{key}", rules.empty(key)),
        )
    ),
    Check("model-name", "error", of_each("agents", rules.model_name)),
    Check("settings-type", "error", of_each("agents", rules.settings_type)),
    Check("once-type", "error", of_each("tools", rules.once_type)),
    Check("setting-value", "error", of_each("agents", rules.setting_value)),
    Check("summary-writer", "error", of_each("agents", rules.summary_writer)),
    Check("unknown-setting", "error", of_each("agents", rules.unknown_setting)),
    Check("agent-property", "warning", of_each("agents", rules.agent_property)),
    Check("duplicate-answer", "error", of_each("agents", rules.duplicate_answer)),
    Check("tool-name-collision", "error", placement_rules.tool_name_collision),
    Check("unexpected-element", "error", placement_rules.unexpected_element),
    Check("misspelt-label", "warning", placement_rules.misspelt_label, {"label-case"}),
    Check("missing-label", "warning", placement_rules.missing_label),
    Check("arrow-outside", "warning", placement_rules.arrow_outside),
    *REFERENCE_CHECKS,
    Check("tool-name", "warning", of_each("tools", rules.tool_name)),
    Check("missing-signature", "error", of_each("tools", rules.missing_signature)),
    Check("signature-property", "warning", of_each("named", rules.signature_property)),
    Check("signature", "error", rules.signature, _SAID_OF_SIGNATURES),
    TYPE_CHECKS[1],
    Check("pattern", "warning", rules.pattern),
    Check("signature", "error", rules.agent_signature, _SAID_OF_SIGNATURES),
    Check("second-signature", "error", of_each("runnables", rules.second_signature)),
    Check("answer-differs", "error", rules.answer_differs),
    Check("workflow-property", "warning", of_each("workflows", rules.workflow_property)),
)
"""The rules of the agent language, but for those of arrows and workflows."""
