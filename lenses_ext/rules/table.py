"""The table of all that can be wrong in a program, and the words that mean something in one."""

from __future__ import annotations

from typing import Final

from gram import Check
from gram.checks import CHECKS

from ..labels import AGENT, ANSWER, DEFINITIONS, SKILL, TOOLS, WORKFLOWS
from ..language import AGENTS, SETTINGS, TOOL_SPECS, WORKFLOW_PARTS
from ..names import DEFINED_TWICE, IMPORT_CHECKS, REFERENCE_CHECKS, TYPE_CHECKS
from ..schemas import KEYWORDS
from ..signatures import RESERVED, RESERVED_KEYS
from ..workflows import ARROW_LABELS
from . import arrow_rules, flow_rules, placement_rules, rules
from .rules import of_each, of_property

_SAID_OF_SIGNATURES: Final = DEFINED_TWICE | {"self-reference", "dangling-reference"}

PROGRAM_CHECKS: Final = (
    *(row for row in CHECKS if row.code != IMPORT_CHECKS[0].code),
    Check("missing-name", "error", of_each("named", rules.missing_name)),
    Check("slash-in-name", "error", of_each("named", rules.slash_in_name), {"tool-name"}),
    *(
        Check(code, "error", of_property(key, rule))
        for key in dict.fromkeys((*AGENTS.properties, *TOOL_SPECS.properties))
        if key in ("description", "instruction", "model")  # texts; others have a rule of their own
        for code, rule in (
            (f"missing-{key}", rules.missing),
            (f"{key}-type", rules.not_a_text),
            (f"empty-{key}", rules.empty),
        )
    ),
    Check("model-name", "error", of_each("agents", rules.model_name)),
    Check("settings-type", "error", of_each("agents", rules.settings_type)),
    Check("skill-value", "error", of_each("agents", rules.skill_value)),
    Check("tool-value", "error", of_each("tools", rules.tool_value)),
    Check("setting-value", "error", of_each("agents", rules.setting_value)),
    Check("summary-writer", "error", of_each("agents", rules.summary_writer)),
    Check("unknown-setting", "error", of_each("agents", rules.unknown_setting)),
    Check("agent-property", "warning", of_each("agents", rules.agent_property)),
    Check("tool-property", "warning", of_each("tools", rules.tool_property)),
    Check("duplicate-answer", "error", of_each("agents", rules.duplicate_answer)),
    Check("tool-name-collision", "error", placement_rules.tool_name_collision),
    Check("skill-name", "error", placement_rules.skill_name),
    Check("unexpected-element", "error", placement_rules.unexpected_element),
    Check("misspelt-label", "warning", placement_rules.misspelt_label, {"label-case"}),
    Check("missing-label", "warning", placement_rules.missing_label),
    Check("arrow-outside", "warning", placement_rules.arrow_outside),
    *IMPORT_CHECKS,
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
"""All that can be wrong in a file with agents: the rules of the notation and of the language."""

WORDS: Final = frozenset(
    {
        *(AGENT, ANSWER, DEFINITIONS, SKILL, *TOOLS, *WORKFLOWS, *ARROW_LABELS, *RESERVED),
        *(key for each in (AGENTS, TOOL_SPECS, WORKFLOW_PARTS) for key in each.properties),
        *("is", "as", "at_once", "max", "until", "default"),
        *(*SETTINGS, *KEYWORDS, *RESERVED_KEYS),
    }
)
"""Every label, and every name of a property, that the language itself gives a meaning to."""
